"""What spent a budget, in words: of what its metric counts, the rounds that were set off and why,
the pause with its phases, or the records that were handled twice.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.judge_evidence import (
    disturbances_behind,
    pauses_behind,
    redeliveries_behind,
    still_at_the_peak,
)
from rebalsim.analysis.values import Disturbance
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.position_from import PositionFrom
from rebalsim.domain.trigger import Trigger
from rebalsim.domain.unit import Population
from rebalsim.reports.causes_told import tell_trigger
from rebalsim.reports.names import safe
from rebalsim.reports.sentences import tell, together
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration, say_instant


def tell_evidence(analysis: Analysis, budget: Budget) -> str:
    """Why the budget's metric came to what it did in this run."""
    disturbed = disturbances_behind(analysis, budget)
    said: list[str] = []
    if disturbed and budget.metric in ("settle_time", "unsettled", "longest_rebalance"):
        said.append(_longest(disturbed) if budget.metric == "settle_time" else _took(disturbed[0]))
    elif disturbed:
        said.append(_rounds_of(disturbed))
    peak, still = still_at_the_peak(analysis, budget)
    if len(still) > 1:
        owners = listed(sorted({p.owner_before: None for p in still if p.owner_before}))
        said.append(
            f"At the peak, at {say_instant(peak)}, {len(still)} partitions stood still at once, "
            f"of {safe(owners)}."
        )
    said += _twice(analysis, budget)
    if still or METRICS[budget.metric].population in _OF_PAUSES or not said:
        groups = together(still or pauses_behind(analysis, budget))
        said += [tell(groups[0])] if groups and _is_of_pauses(budget) else []
    said += filter(None, [_on_list(analysis, budget)])
    return " ".join(said)


def _longest(disturbed: Sequence[Disturbance]) -> str:
    return _took(max(disturbed, key=lambda d: d.ended_us - d.started_us))


def _took(d: Disturbance) -> str:
    unended = "and had not settled when the observation ended"
    return (
        f"It took {say_duration(d.ended_us - d.started_us)} from {say_instant(d.started_us)}, when "
        f"{tell_trigger(d.trigger, d.consumer)}, "
        f"{unended if d.is_open else 'until the group was stable'}."
    )


def _rounds_of(disturbed: Sequence[Disturbance]) -> str:
    """How many rounds there were, by what set them off."""
    rounds: dict[Trigger, tuple[int, dict[str, None]]] = {}
    for d in disturbed:
        count, who = rounds.setdefault(d.trigger, (0, {}))
        rounds[d.trigger] = (
            count + max(1, len(d.rebalances)),
            {**who, d.consumer: None} if d.consumer else who,
        )
    told = [
        f"{plural(count, 'round')} because "
        f"{tell_trigger(trigger, listed(sorted(who)) if who else '')}"
        for trigger, (count, who) in sorted(rounds.items(), key=lambda item: -item[1][0])
    ]
    rest = f", and {plural(len(told) - 4, 'more reason')}" if len(told) > 4 else ""
    return f"{'; '.join(told[:4])}{rest}."


_OF_PAUSES = (Population.PAUSES, Population.PARTITIONS)


def _is_of_pauses(budget: Budget) -> bool:
    """Whether a pause is what spends it: records that are handled twice come from no pause."""
    return budget.metric not in _OF_RECORDS


_OF_RECORDS = {"duplicates": "handled twice", "duplicates_per_rebalance": "handled twice"}
_OF_RECORDS["skipped"] = "skipped"


_BEGAN = {
    PositionFrom.BESIDE: "while its last owner went on beside it",
    PositionFrom.COMMITTED: "when {} began at what had been committed",
    PositionFrom.EARLIEST: "when {} began at the earliest record",
    PositionFrom.LATEST: "when {} began at the latest record",
}


def _twice(analysis: Analysis, budget: Budget) -> list[str]:
    """Which records were handled twice, or skipped, and when."""
    if budget.metric not in _OF_RECORDS:
        return []
    found = redeliveries_behind(analysis, budget)
    if not found:
        return []
    r = found[0]
    rest = f", and {plural(len(found) - 1, 'time')} more" if len(found) > 1 else ""
    how = _BEGAN.get(r.how, "when {} took over").format(safe(r.consumer))
    return [
        f"{plural(r.records, 'record')} of {safe(str(r.partition))} {'was' if r.records == 1 else 'were'} "
        f"{_OF_RECORDS[budget.metric]} at {say_instant(r.at_us)}, {how}{rest}."
    ]


_OF_ALL = (
    "partitions_touched",
    "pauses",
    "partition_seconds",
    "moved_partitions",
    "moved_over_least",
)


def _on_list(analysis: Analysis, budget: Budget) -> str:
    """That a list with a cooperative assignor in it runs eager, where that is why so many
    partitions are concerned.
    """
    if budget.metric not in _OF_ALL:
        return ""
    found = next((a for a in analysis.answers if a.question == "cooperative-in-use"), None)
    if found is None or found.is_yes is not False or not found.consumers:
        return ""
    return (
        f"{plural(len(found.consumers), 'member')} offer cooperative-sticky, but another "
        "assignor of the list was chosen, so each gives up all that it "
        "has in every rebalance."
    )
