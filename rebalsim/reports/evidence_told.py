"""What spent a budget, in words: the rounds that were set off and why, the pause with its
phases, and what would have helped.
"""

from __future__ import annotations

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.judge_evidence import disturbances_behind, pauses_behind, still_at_the_peak
from rebalsim.domain.budget import Budget
from rebalsim.domain.instants import say_duration
from rebalsim.reports.hints import hint_on
from rebalsim.reports.names import listed, plural, safe
from rebalsim.reports.ruler import say_instant
from rebalsim.reports.sentences import tell, tell_trigger, together


def tell_evidence(analysis: Analysis, budget: Budget) -> tuple[str, str]:
    """Why the budget's metric came to what it did in this run, and what would have helped."""
    disturbed = disturbances_behind(analysis, budget)
    said: list[str] = []
    if disturbed and budget.metric in ("settle_time", "unsettled", "longest_rebalance"):
        d = (
            disturbed[0]
            if budget.metric != "settle_time"
            else max(disturbed, key=lambda d: d.ended_us - d.started_us)
        )
        end = (
            "and had not settled when the observation ended"
            if d.is_open
            else "until the group was stable"
        )
        said.append(
            f"It took {say_duration(d.ended_us - d.started_us)} from "
            f"{say_instant(d.started_us)}, when {tell_trigger(d.trigger, d.consumer)}, {end}."
        )
    elif disturbed:
        rounds: dict[str, tuple[int, dict[str, None]]] = {}
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
        said.append(f"{'; '.join(told[:4])}{rest}.")
    peak, still = still_at_the_peak(analysis, budget)
    if len(still) > 1:
        owners = listed(sorted({p.owner_before: None for p in still if p.owner_before}))
        said.append(
            f"At the peak, at {say_instant(peak)}, {len(still)} partitions stood still at once, "
            f"of {safe(owners)}."
        )
    groups = together(still or pauses_behind(analysis, budget))
    if not groups:
        return " ".join(said), ""
    return " ".join([*said, tell(groups[0])]), _on_list(analysis, budget) or hint_on(
        groups[0].first, analysis
    )


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
        "has in every rebalance: name cooperative-sticky alone."
    )
