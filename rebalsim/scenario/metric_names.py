"""Whether a budget's metric exists, and whether its limit is an amount of what that metric
counts. The metrics themselves are domain's.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import HEADLINES, METRICS
from rebalsim.words.nearest import nearest_metric

# a metric's unit → the kinds of amounts that fit it, and an example to write
_FITTING: dict[str, tuple[tuple[str, ...], str]] = {
    "duration": (("duration",), "<= 2s"),
    "partition-time": (("duration",), "<= 5m"),
    "count": (("count",), "<= 4"),
    "records": (("count",), "<= 5000"),
    "partitions": (("count",), "<= 12"),
    "share": (("share",), "<= 5%"),
    "per-hour": (("count", "rate"), "<= 5"),
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
    kinds, example = _FITTING[metric.unit]
    if budget.unit not in (*kinds, "factor") and not (budget.limit == 0 and budget.unit == "count"):
        return (
            f"{name} is measured in {_SAID[metric.unit]}, and '{budget.text.partition(' ')[2]}' "
            f'is not — write one such as "{example}"'
        )
    if metric.unit == "per-hour" and budget.unit == "rate":
        return replace(budget, metric=name, limit=budget.limit * 3600, unit="count")
    return budget if name == budget.metric else replace(budget, metric=name)


_SAID = {
    "duration": "time",
    "partition-time": "time",
    "count": "plain numbers",
    "records": "plain numbers",
    "partitions": "plain numbers",
    "share": "percent",
    "per-hour": "numbers an hour",
}
