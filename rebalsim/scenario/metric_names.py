"""Whether a budget's metric exists, and whether its limit is an amount of what that metric
counts. The metrics themselves are domain's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import HEADLINES, METRICS
from rebalsim.domain.unit import Amount, Unit
from rebalsim.words.nearest import nearest_metric


class Fitting(NamedTuple):
    """What a limit on a metric of some unit is written as."""

    amounts: tuple[Amount, ...]
    words: str
    example: str


_FITTING: dict[Unit, Fitting] = {
    Unit.DURATION: Fitting((Amount.DURATION,), "time", "<= 2s"),
    Unit.PARTITION_TIME: Fitting((Amount.DURATION,), "time", "<= 5m"),
    Unit.COUNT: Fitting((Amount.COUNT,), "plain numbers", "<= 4"),
    Unit.RECORDS: Fitting((Amount.COUNT,), "plain numbers", "<= 5000"),
    Unit.PARTITIONS: Fitting((Amount.COUNT,), "plain numbers", "<= 12"),
    Unit.SHARE: Fitting((Amount.SHARE,), "percent", "<= 5%"),
    Unit.PER_HOUR: Fitting((Amount.COUNT, Amount.RATE), "numbers an hour", "<= 5"),
}


def registered_name(metric: str) -> str:
    """The registry's spelling: dashes and dots of Kafka's own metric names become underscores, and
    what tables head their rows with is as good.
    """
    from rebalsim.words.synonyms import LABELS

    name = metric.replace("-", "_").replace(".", "_")
    return LABELS.get(name, name)


def fitted(budget: Budget) -> Budget | str:
    """The budget under its metric's registered name, its limit in that metric's unit; or what is
    wrong with it.
    """
    name = registered_name(budget.metric)
    metric = METRICS.get(name)
    if metric is None:
        near = nearest_metric(budget.metric)
        others = f"there are {', '.join(HEADLINES[:6])} and {len(METRICS) - 6} more"
        return f"There is no metric '{budget.metric}' — " + (
            f"did you mean '{near}'?" if near else others
        )
    fitting = _FITTING[metric.unit]
    is_zero = budget.limit == 0 and budget.unit == Amount.COUNT
    if budget.unit not in (*fitting.amounts, Amount.FACTOR) and not is_zero:
        return (
            f"{name} is measured in {fitting.words}, and '{budget.text.partition(' ')[2]}' "
            f'is not — write one such as "{fitting.example}"'
        )
    if metric.unit == Unit.PER_HOUR and budget.unit == Amount.RATE:
        return replace(budget, metric=name, limit=budget.limit * 3600, unit=Amount.COUNT)
    return budget if name == budget.metric else replace(budget, metric=name)
