"""A budget's verdict in words: the amounts, the head-room, and the sentence about the pause that spent it."""

from __future__ import annotations

from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.judge_evidence import disturbances_behind, pauses_behind
from rebalsim.domain.budget import Budget
from rebalsim.domain.instants import SECOND, say_duration
from rebalsim.domain.metrics import METRICS
from rebalsim.reports import figures
from rebalsim.reports.check_report import Checked
from rebalsim.reports.hints import hint_on
from rebalsim.reports.names import listed, plural
from rebalsim.reports.ruler import say_instant
from rebalsim.reports.sentences import tell, tell_trigger, together


def tell_evidence(analysis: Analysis, budget: Budget) -> tuple[str, str]:
    """Why the budget's metric came to what it did in this run, and what would have helped."""
    disturbed = disturbances_behind(analysis, budget)
    said: list[str] = []
    if disturbed and budget.metric in ("settle_time", "unsettled", "longest_rebalance"):
        d = disturbed[0] if budget.metric != "settle_time" else max(disturbed, key=lambda d: d.ended_us - d.started_us)
        end = "and had not settled when the observation ended" if d.is_open else "until the group was stable"
        said.append(f"It took {say_duration(d.ended_us - d.started_us)} from {say_instant(d.started_us)}, when {tell_trigger(d.trigger, d.consumer)}, {end}.")
    elif disturbed:
        rounds: dict[str, tuple[int, dict[str, None]]] = {}
        for d in disturbed:
            count, who = rounds.setdefault(d.trigger, (0, {}))
            rounds[d.trigger] = (count + max(1, len(d.rebalances)), {**who, d.consumer: None} if d.consumer else who)
        told = [f"{plural(count, 'round')} because {tell_trigger(trigger, listed(sorted(who)) if who else '')}"
                for trigger, (count, who) in sorted(rounds.items(), key=lambda item: -item[1][0])]
        rest = f", and {plural(len(told) - 4, 'more reason')}" if len(told) > 4 else ""
        said.append(f"{'; '.join(told[:4])}{rest}.")
    groups = together(pauses_behind(analysis, budget))
    if not groups:
        return " ".join(said), ""
    return " ".join([*said, tell(groups[0])]), _on_list(analysis, budget) or hint_on(groups[0].first, analysis.header)


_OF_ALL = ("partitions_touched", "pauses", "partition_seconds", "moved_partitions", "moved_over_least")


def _on_list(analysis: Analysis, budget: Budget) -> str:
    """That a list with a cooperative assignor in it runs eager, where that is why so many partitions are concerned."""
    if budget.metric not in _OF_ALL:
        return ""
    found = next((a for a in analysis.answers if a.question == "cooperative-in-use"), None)
    if found is None or found.is_yes is not False or not found.consumers:
        return ""
    return (f"{plural(len(found.consumers), 'member')} offer cooperative-sticky, but another assignor of the list was chosen, so each gives up all that it "
            "has in every rebalance: name cooperative-sticky alone.")


def say_amount(metric: str, value: float | None, beside: float | None = None) -> str:
    """A value in words; with all its digits where it would read the same as the one beside it, and is not."""
    said = figures.say(metric, value)
    if value is None or beside is None or value == beside or figures.say(metric, beside) != said:
        return said
    if METRICS[metric].unit in ("duration", "partition-time"):
        return f"{value / SECOND:.6f} s"
    return f"{100 * value:.6g} %" if METRICS[metric].unit == "share" else f"{value:.9g}"


def say_headroom(checked: Checked) -> str:
    """`12 % left`, `76 % over`; empty where there is no limit to take a share of."""
    if checked.headroom is None or checked.op in ("", "=="):
        return ""
    share = abs(checked.headroom)
    said = f"{100 * share:,.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"
    if checked.op in (">=", ">"):
        return f"{said} above" if checked.headroom >= 0 else f"{said} short"
    return f"{said} left" if checked.headroom >= 0 else f"{said} over"


def say_against(checked: Checked) -> str:
    """What was observed, and what the limit came to where the file gives it relative to something."""
    return f"{checked.said} against {checked.limit_said}" if checked.limit_said else checked.said


def say_runs(checked: Checked) -> str:
    """`in 3 of 20 seeds, worst with seed 7`."""
    if checked.runs <= 1:
        return ""
    if checked.outcome == "fail":
        return f"broken with {checked.broken} of {checked.runs} seeds; shown is seed {checked.seed}"
    return f"over {checked.runs} seeds" + (f", {checked.broken} of them beyond it" if checked.broken else "")


def tell_failure(checked: Checked) -> str:
    """Everything there is to say of a budget that is not kept, over several lines."""
    state = "is undecided" if checked.outcome == "inconclusive" else "is broken" if checked.metric else "does not hold"
    head = f"{checked.place}: {checked.name} {state} ({checked.variant})"
    if checked.metric:
        left = say_headroom(checked)
        head += f": observed {say_against(checked)}" + (f", {left}" if left and checked.outcome == "fail" else "")
    lines = [head, "" if checked.metric else checked.said, checked.because]
    if checked.outcome == "inconclusive":
        lines.append("Something was still open when the observation ended, and could still break it: a longer horizon decides.")
    lines += [f"→ {checked.hint}" if checked.hint else "", say_runs(checked), f"again: {checked.again}"]
    return "\n  ".join(line for line in lines if line)
