"""Budgets against runs: a limit, what was observed, and whether it is kept. Pure; where runs come
from is not known here.

Each run is judged by itself, a limit relative to another variant against that variant's run with
the same seed. Over several seeds a budget must hold in every one of them, or in as many as its
percentile says; the run at that rank decides, so what is shown is always a real run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rebalsim.analysis.judge_facts import holds
from rebalsim.analysis.judge_selection import (
    in_this_run,
    open_ends,
    selection_of,
    why_not_judged,
)
from rebalsim.analysis.measure import measure
from rebalsim.analysis.openness import sway_of, under_way, why_open
from rebalsim.analysis.unowned import find_unowned
from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.metrics import EVERYTHING, METRICS
from rebalsim.domain.open_end import OpenEnd, OpenEndKind
from rebalsim.domain.percentiles import percentile
from rebalsim.domain.verdict import GRAVITY, Measured, Outcome, RunVerdict, Verdict

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis

BASELINE = "baseline"
_OTHER_WAY = {"<=": ">=", "<": ">", ">=": "<=", ">": "<"}
_DECIDED = ("fenced", "removed")  # once it happened, it has
_NEVER = ("no-rebalance", "not-fenced", "not-removed")
_OF_HANDOVERS = ("duplicates", "duplicates_per_rebalance", "skipped")


def measure_budget(analysis: Analysis, budget: Budget) -> Measured:
    """What the budget's metric came to within its selection."""
    problem = why_not_judged(analysis, budget)
    if problem:
        return Measured(None, problem=problem)
    selection = selection_of(analysis, budget)
    unowned = find_unowned(analysis, budget.metric, selection)
    if unowned is not None:
        may_come = (unowned.end,) if unowned.may_come else ()
        return Measured(None, pending=may_come, unowned=unowned.end)
    value = measure(analysis, budget.metric, selection)
    if value is None and budget.metric in _OF_HANDOVERS and analysis.header.is_simulated:
        value = 0  # the simulation tells every position: nobody took over from anybody
    if value is None:
        return Measured(None, problem=_unknown(analysis, budget))
    pauses, is_unsettled = open_ends(analysis, budget.metric, selection)
    room = None if budget.relative_to else value - budget.limit
    pending = why_open(analysis, budget.metric, budget.op, selection, room)
    sway = sway_of(analysis, budget.metric, selection) if budget.relative_to else 0.0
    return Measured(float(value), pauses, is_unsettled, pending=pending, sway=sway)


def _unknown(analysis: Analysis, budget: Budget) -> str:
    metric = METRICS[budget.metric]
    has_epochs = any(r.is_of_epochs for rounds in analysis.rounds_by_group.values() for r in rounds)
    if not metric.is_known_to_consumer_protocol and has_epochs:
        return (
            f"{budget.metric} is not counted under the consumer protocol, which has epochs — "
            "budget rebalances, or name a variant with the classic protocol"
        )
    why = (
        "no records arrive here (give the topic a rate; of Kafka Streams none are told)"
        if metric.name.startswith(("lag", "record", "time_to_catch"))
        else "nothing of the kind happened"
    )
    return (
        f"{budget.metric} cannot be told of this run: {why} — a budget on it would never fail; "
        "take it out, or another metric"
    )


def reference_of(budget: Budget) -> Budget:
    """What must be asked of the run that a relative limit is relative to: whether its value could
    still move the other way, and take the limit with it.
    """
    return replace(budget, op=_OTHER_WAY.get(budget.op, budget.op))


def judge_run(
    budget: Budget, measured: Measured, reference: Measured | float | None = None
) -> RunVerdict:
    """One run's verdict. `reference` is what a relative limit is relative to: what was measured of
    the other variant with this seed, or the baseline's value.
    """
    sway = measured.sway
    if isinstance(reference, Measured):
        sway += budget.limit * reference.sway
        measured, reference = _against(budget, measured, reference)
    limit = budget.limit
    if measured.unowned:
        outcome: Outcome = Outcome.INCONCLUSIVE if measured.pending else Outcome.FAIL
        return RunVerdict(outcome, None, None if budget.relative_to else limit, measured=measured)
    if budget.relative_to:
        if reference is None or measured.value is None:
            return RunVerdict(Outcome.INCONCLUSIVE, measured.value, None, measured=measured)
        # without a float's excess, so that `<= 1.0 × eager` holds of equals
        limit = round(budget.limit * reference, 6)
    if measured.value is None:
        return RunVerdict(Outcome.INCONCLUSIVE, None, limit, measured=measured)
    value = round(measured.value, 6)
    excess = (
        value - limit
        if budget.op in ("<=", "<")
        else limit - value
        if budget.op in (">=", ">")
        else abs(value - limit)
    )
    is_kept = excess < 0 if budget.op in ("<", ">") else excess <= 0
    if is_kept and not measured.pending and 0 < sway >= abs(excess):
        measured = replace(measured, pending=(OpenEnd(OpenEndKind.LAG_SWAYS),))
    could_break = bool(measured.pending)
    return RunVerdict(
        Outcome.FAIL if not is_kept else Outcome.INCONCLUSIVE if could_break else Outcome.PASS,
        value,
        limit,
        excess,
        measured,
    )


def _against(
    budget: Budget, measured: Measured, reference: Measured
) -> tuple[Measured, float | None]:
    """What was measured, as open as what it is held against; and that one's value."""
    if measured.unowned or not (reference.pending or reference.unowned):
        return measured, reference.value
    pending = measured.pending
    if reference.pending:
        pending = (*pending, OpenEnd(OpenEndKind.REFERENCE_OPEN, budget.relative_to))
    return replace(measured, pending=pending, unowned=reference.unowned), reference.value


def judge_fact(measured: Measured) -> RunVerdict:
    """A fact holds or it does not; one that goes on to the end may yet cease to hold."""
    if measured.value is None:
        return RunVerdict(Outcome.INCONCLUSIVE, None, None, measured=measured)
    outcome: Outcome = (
        Outcome.INCONCLUSIVE
        if measured.pending
        else Outcome.PASS
        if measured.value
        else Outcome.FAIL
    )
    return RunVerdict(outcome, measured.value, None, 1 - measured.value, measured)


def measure_fact(analysis: Analysis, fact: Expectation) -> Measured:
    """Whether the fact holds in this run, and what was the case instead."""
    measured = holds(analysis, fact)
    until_us = in_this_run(analysis, fact.until_us)
    from_us = in_this_run(analysis, fact.from_us)
    if measured.value and from_us is not None and from_us > analysis.horizon_us:
        # a seed plays the script later, and the window with it: it has yet to begin
        return replace(measured, pending=(OpenEnd(OpenEndKind.TIME_MOVES_IT),))
    is_over = until_us is not None and until_us <= analysis.horizon_us
    if not measured.value or is_over or fact.fact in _DECIDED:
        return measured
    if fact.fact in _NEVER:
        unowned = find_unowned(analysis, "rebalances", EVERYTHING)
        if unowned is not None:
            may_come = (unowned.end,) if unowned.may_come else ()
            said = "nothing could happen"
            return replace(measured, value=0.0, said=said, pending=may_come, unowned=unowned.end)
    return replace(measured, pending=under_way(analysis))


def over_seeds(verdicts: Sequence[tuple[int, RunVerdict]], percent: float | None = None) -> Verdict:
    """Several seeds' verdicts as one: all of them must hold, or `percent` % by nearest rank. The
    first of equals decides.
    """
    seeded = [replace(v, seed=seed) for seed, v in verdicts]
    problem = next((v.measured.problem for v in seeded if v.measured.problem), "")
    ordered = sorted(
        range(len(seeded)), key=lambda i: (GRAVITY.index(seeded[i].outcome), seeded[i].excess, -i)
    )
    place = percentile(list(range(len(ordered))), 100.0 if percent is None else percent)
    assert place is not None, "a verdict needs a run"
    counts = [v.outcome for v in seeded]
    return Verdict(
        seeded[ordered[place]],
        len(seeded),
        counts.count(Outcome.FAIL),
        counts.count(Outcome.INCONCLUSIVE),
        problem,
    )


def judge_variant(
    budgets: Iterable[Budget],
    variant: str,
    analyses: Mapping[str, Analysis],
    baseline: Mapping[Budget, float] | None = None,
) -> list[tuple[Budget, RunVerdict]]:
    """A variant's budgets in one seed's runs, `analyses` by variant: what a sweep asks at each
    of its points.
    """
    found = []
    for budget in budgets:
        if budget.variant and budget.variant != variant:
            continue
        reference: Measured | float | None = None
        if budget.relative_to == BASELINE:
            reference = (baseline or {}).get(budget)
        elif budget.relative_to in analyses:
            reference = measure_budget(analyses[budget.relative_to], reference_of(budget))
        measured = measure_budget(analyses[variant], budget)
        found.append((budget, judge_run(budget, measured, reference)))
    return found
