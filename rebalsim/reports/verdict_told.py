"""A budget's verdict in words: the amounts, the head-room, over how many seeds. Why it came to
that is told by `evidence_told`.
"""

from __future__ import annotations

from rebalsim.domain.instants import SECOND
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.unit import Unit
from rebalsim.domain.verdict import Measured, Outcome
from rebalsim.reports import figures
from rebalsim.reports.check_report import Checked
from rebalsim.reports.names import safe
from rebalsim.reports.open_ends_told import tell_open_end


def say_amount(metric: str, value: float | None, beside: float | None = None) -> str:
    """A value in words; with all its digits where it would read the same as the one beside it,
    and is not.
    """
    said = figures.say(metric, value)
    if value is None or beside is None or value == beside or figures.say(metric, beside) != said:
        return said
    if METRICS[metric].unit.is_time:
        return f"{value / SECOND:,.6f}".rstrip("0").rstrip(".") + " s"
    return f"{100 * value:.6g} %" if METRICS[metric].unit == Unit.SHARE else f"{value:.9g}"


def say_headroom(checked: Checked) -> str:
    """`12 % left`, `76 % over`; empty where there is no limit to take a share of. What is undecided
    has nothing left for certain: it is told how far it is so far.
    """
    if checked.headroom is None or checked.op in ("", "=="):
        return ""
    if checked.outcome is Outcome.INCONCLUSIVE:
        return "so far"
    share = abs(checked.headroom)
    said = f"{100 * share:,.0f} %" if share >= 0.095 or share == 0 else f"{100 * share:.1f} %"
    if checked.op in (">=", ">"):
        return f"{said} above" if checked.headroom >= 0 else f"{said} short"
    return f"{said} left" if checked.headroom >= 0 else f"{said} over"


def say_against(checked: Checked) -> str:
    """What was observed, and what the limit came to where the file gives it relative to
    something.
    """
    return f"{checked.said} against {checked.limit_said}" if checked.limit_said else checked.said


def say_runs(checked: Checked) -> str:
    """`in 3 of 20 seeds, worst with seed 7`."""
    if checked.runs <= 1:
        return ""
    if checked.outcome is Outcome.FAIL:
        return f"broken with {checked.broken} of {checked.runs} seeds; shown is seed {checked.seed}"
    return f"over {checked.runs} seeds" + (
        f", {checked.broken} of them beyond it" if checked.broken else ""
    )


_CLAUSES = 3


def say_openness(measured: Measured) -> str:
    """Why nothing was measured, or what was still under way when the observation ended: what
    stands beside every verdict that is not certain.
    """
    if measured.unowned:
        later = " A longer horizon decides." if measured.pending else ""
        return f"Nothing was measured: {tell_open_end(measured.unowned)}.{later}"
    if not measured.pending:
        return ""
    clauses = [tell_open_end(end) for end in measured.pending[:_CLAUSES]]
    if more := len(measured.pending) - _CLAUSES:
        clauses += [f"{more} more of the kind"] if more > 0 else []
    return f"Undecided: when the observation ended, {'; '.join(clauses)}. A longer horizon decides."


def tell_failure(checked: Checked) -> str:
    """Everything there is to say of a budget that is not kept, over several lines."""
    state = (
        "is undecided"
        if checked.outcome is Outcome.INCONCLUSIVE
        else "is broken"
        if checked.metric
        else "does not hold"
    )
    head = f"{checked.place}: {checked.name} {state} ({checked.variant})"
    if checked.metric:
        left = say_headroom(checked)
        head += f": observed {say_against(checked)}" + (
            f", {left}" if left and checked.outcome is Outcome.FAIL else ""
        )
    lines = [head, "" if checked.metric else checked.said, checked.because]
    lines += [
        f"→ {checked.hint}" if checked.hint else "",
        say_runs(checked),
        f"{checked.spread}." if checked.spread else "",
        f"again: {checked.again}",
    ]
    return "\n  ".join(safe(line) for line in lines if line)
