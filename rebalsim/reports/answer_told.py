"""The answer first: in at most four lines which variant to take and why, what all of them share,
what decides between them, and how sure that is.

Budgets decide, where there are any; else the longest pause, then partition-seconds, then
rebalances. Differences are told by what caused them, not by sums.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rebalsim.analysis.values import Cause, Pause
from rebalsim.domain.budget import Level
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.metrics import HEADLINES_OF_TASKS, METRICS
from rebalsim.domain.remedy import Remedy
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import figures
from rebalsim.reports.causes_told import CAUSES, noun_of
from rebalsim.reports.comparison import alike, nouns_of_lanes
from rebalsim.reports.names import safe
from rebalsim.reports.remedies_told import tell_patch
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.trade_told import reason_of, tell_one
from rebalsim.words.lists import listed
from rebalsim.words.times import say_duration

ORDER = ("longest_pause", "partition_seconds", "rebalances")
MOST_LINES = 4
SHARED = 0.5  # the same cause is what they share, if it is half as bad in the best of them
_COUNTS = {2: "both", 3: "all three", 4: "all four"}


@dataclass(frozen=True, slots=True)
class Choice:
    """The variants that are alike and better than the others, and what told them apart."""

    places: tuple[int, ...]
    by: str = ""  # the metric of the order, or `budgets`; empty where nothing tells them apart


def tell_answer_first(report: Report) -> list[str]:
    """The lines; none for a comparison of files, which has its own, or where nothing ran."""
    if report.is_comparison or not report.variants:
        return []
    chosen = _choose(report)
    lines = [_verdict(report, chosen), _shared(report, chosen), _decisive(report, chosen)]
    if not _is_cured(report):
        lines.append(_certainty(report, chosen))
    return [line for line in lines if line][:MOST_LINES]


def order_said(report: Report) -> str:
    """What decides between variants, in its order."""
    of_tasks = any(v.analysis.worker_groups for v in report.variants)
    first = "longest task pause, task-seconds, then as for partitions: " if of_tasks else ""
    return (
        f"Variants are chosen by budgets, then by {first}longest pause, partition-seconds and "
        "rebalances."
    )


def _is_cured(report: Report) -> bool:
    """Whether every variant breaks a budget, and a tried change keeps them all."""
    everybody = range(len(report.variants))
    return all(_broken(report, v) for v in report.variants) and bool(_cure(report, everybody))


# --------------------------------------------------------------------------------------- the choice


def _choose(report: Report) -> Choice:
    """Who breaks the fewest budgets, and leaves the fewest undecided; among these by the stated
    order.
    """
    variants = report.variants
    broken = [(len(_broken(report, v)), len(_undecided(report, v))) for v in variants]
    left = [i for i, count in enumerate(broken) if count == min(broken)]
    by = "budgets" if len(left) < len(variants) else ""
    of_tasks = any(v.analysis.worker_groups for v in variants)
    for metric in (*HEADLINES_OF_TASKS[:2], *ORDER) if of_tasks else ORDER:
        values = [variants[i].measure(metric) for i in left]
        known = [value for value in values if value is not None]
        if len(known) < len(values) or len(left) == 1:
            break
        best = [i for i, value in zip(left, known) if alike(value, min(known))]
        if len(best) < len(left):
            left, by = best, by or metric
    return Choice(tuple(left), by)


def _broken(report: Report, v: VariantReport) -> list[str]:
    """The budgets that this variant breaks, as the file says them."""
    return [
        b.text
        for b in report.budgets
        if b.outcome is Outcome.FAIL and b.level == Level.ERROR and b.variant in ("", v.name)
    ]


def _undecided(report: Report, v: VariantReport) -> list[str]:
    """The budgets that a longer horizon decides in this variant, as the file says them."""
    return [
        b.text
        for b in report.budgets
        if b.outcome is Outcome.INCONCLUSIVE
        and b.level == Level.ERROR
        and b.variant in ("", v.name)
    ]


def _open_said(texts: Sequence[str]) -> str:
    """Empty where all is decided."""
    if not texts:
        return ""
    told = listed([safe(t) for t in texts]) if len(texts) <= 2 else f"{len(texts)} budgets"
    return f"{told} {'is' if len(texts) == 1 else 'are'} undecided: a longer horizon decides."


def _verdict(report: Report, chosen: Choice) -> str:
    """Which variant, and why."""
    if len(report.variants) == 1:
        return _of_one(report)
    names = _names(report, chosen)
    if any(b.level == Level.ERROR for b in report.budgets):
        return _by_budgets(report, chosen, names)
    if not chosen.by:
        return (
            f"Which variant you take does not matter here: {_figures_of(report.variants[0])} in "
            f"{_count(report)}."
        )
    values = _values(report, chosen.by, chosen)
    return f"Take {names}: {figures.title_of(chosen.by)} {values}."


def _of_one(report: Report) -> str:
    v = report.variants[0]
    broken = _broken(report, v)
    if broken:
        cure = _cure(report, (0,))
        return f"It breaks {listed([safe(b) for b in broken])}.{cure}"
    if report.budgets and all(b.outcome is Outcome.PASS for b in report.budgets):
        kept = "The budget is kept" if len(report.budgets) == 1 else "All budgets are kept"
        return f"{kept}. {tell_one(v)}"
    return " ".join(part for part in (_open_said(_undecided(report, v)), tell_one(v)) if part)


def _by_budgets(report: Report, chosen: Choice, names: str) -> str:
    everybody = range(len(report.variants))
    of = {i: _broken(report, report.variants[i]) for i in everybody}
    best = chosen.places[0]
    if not of[best]:
        said = _unbroken(report, chosen, names, of)
        still_open = _open_said(_undecided(report, report.variants[best]))
        return f"{said} In {safe(report.variants[best].name)}, {still_open}" if still_open else said
    shared = [b for b in of[best] if all(b in wrong for wrong in of.values())]
    said = f"As it is, {_count(report)} break {listed([safe(b) for b in shared or of[best]])}."
    cure = _cure(report, tuple(everybody))
    if cure:
        return f"{said}{cure}"
    if not chosen.by:
        return f"{said} Which of them you take does not matter for that."
    values = (
        ""
        if chosen.by == "budgets"
        else f": {figures.title_of(chosen.by)} {_values(report, chosen.by, chosen)}"
    )
    return f"{said} Least is broken under {names}{values}."


def _unbroken(report: Report, chosen: Choice, names: str, broken: Mapping[int, list[str]]) -> str:
    """The chosen one keeps its budgets: why it, and not another."""
    others = [place for place, wrong in broken.items() if wrong]
    if others:
        wrongs = list(dict.fromkeys(safe(b) for i in others for b in broken[i]))
        whom = listed([safe(report.variants[i].name) for i in others])
        verb = "breaks" if len(others) == 1 else "break"
        return f"Take {names}: no budget is broken; {whom} {verb} {listed(wrongs)}."
    if not chosen.by:
        return f"Which variant you take does not matter here: {_count(report)} break no budget."
    if chosen.by == "budgets":
        return f"No variant breaks a budget. Take {names}: it leaves the fewest undecided."
    values = _values(report, chosen.by, chosen)
    return f"No variant breaks a budget. Take {names}: {figures.title_of(chosen.by)} {values}."


def _cure(report: Report, places: Sequence[int]) -> str:
    """The variant and the tried change with which all budgets are kept; empty if there is none."""
    cures = [
        (_rank(r), i, r) for i in places for r in report.variants[i].remedies if r.keeps_budgets
    ]
    if not cures:
        return ""
    _, place, remedy = min(cures, key=lambda c: c[:2])
    whom = (
        f" Take {safe(remedy.variant or report.variants[place].name)} with "
        if len(report.variants) > 1
        else " It keeps all budgets with "
    )
    seeds = len(remedy.seeds)
    kept = f", all budgets kept under each of {seeds} seeds" if len(report.variants) > 1 else ""
    return f"{whom}{tell_patch(remedy.patch)}: {_gain(remedy)}{kept}."


def _rank(remedy: Remedy) -> tuple[float, ...]:
    """By the stated order, in which what differs by little is alike; then by what is changed."""
    values = [remedy.after.get(metric, 0.0) for metric in ORDER]
    return (*(float(f"{value:.1e}") for value in values), len(remedy.patch.turns))


def _gain(remedy: Remedy) -> str:
    name = next((n for n in remedy.gains if n in METRICS), "longest_pause")
    before, after = remedy.before.get(name), remedy.after.get(name)
    return f"{figures.title_of(name)} {figures.say(name, before)} → {figures.say(name, after)}"


# -------------------------------------------------------------------------------- what they share


def _shared(report: Report, chosen: Choice) -> str:
    """The cause of the longest pause, where it is the same in all variants; and what helps."""
    longest = [_longest(v) for v in report.variants]
    pauses = [p for p in longest if p is not None]
    if len(pauses) < len(longest) or not pauses:
        return ""
    cause = pauses[0].cause
    if len({_key(p.cause) for p in pauses}) > 1 or not _is_a_thing(cause):
        return ""
    if min(p.length_us for p in pauses) < SHARED * max(p.length_us for p in pauses):
        return ""  # it is no trouble in one of them
    said = f"{noun_of(cause)} is the longest pause"
    said = said[0].upper() + said[1:] if said.startswith(("what", "the")) else said
    if len(pauses) > 1:
        said += f" in {_count(report)} ({_most_of(report, pauses)})"
    best = _best_remedy([report.variants[i] for i in chosen.places])
    if best is None or _is_cured(report):
        return f"{said}." if len(pauses) > 1 else ""
    return f"{said}; fix that first: {tell_patch(best.patch)} ({_gain(best)})."


def _most_of(report: Report, pauses: Sequence[Pause]) -> str:
    """`5 m of 6 m 2 s stuck`: what the longest of these pauses mostly was; and whose it is, where
    the others' are shorter.
    """
    longest = max(pauses, key=lambda p: p.length_us)
    phase = max(longest.phases, key=lambda phase: phase.length_us)
    of = f"{say_duration(phase.length_us)} of {say_duration(longest.length_us)}"
    if alike(min(p.length_us for p in pauses), longest.length_us):
        return f"{of} {phase.kind.value}"
    whose = report.variants[pauses.index(longest)].name
    return f"{of} {phase.kind.value} under {safe(whose)}"


def _best_remedy(variants: Sequence[VariantReport]) -> Remedy | None:
    """The one that brings the longest pause down the most."""
    found = [r for v in variants for r in v.remedies if "longest_pause" in r.gains]
    return min(found, key=lambda r: (r.after["longest_pause"], len(r.price)), default=None)


def _longest(v: VariantReport) -> Pause | None:
    return max(v.analysis.pauses, key=lambda p: p.length_us, default=None)


def _key(cause: Cause) -> tuple[str, str]:
    return (cause.consumer, cause.action)


def _is_a_thing(cause: Cause) -> bool:
    return bool(cause.action) or bool(CAUSES[cause.kind].noun)


# ------------------------------------------------------------------------------------ what decides


def _decisive(report: Report, chosen: Choice) -> str:
    """Of which disturbance the variants differ most, and in which phase."""
    if len(report.variants) < 2 or not chosen.by:
        return ""
    by_cause = [_by_cause(v) for v in report.variants]
    keys = list(dict.fromkeys(key for found in by_cause for key in found))
    if not keys:
        return ""

    def spread(key: tuple[str, str]) -> int:
        sums = [sum(found.get(key, {}).values()) for found in by_cause]
        return max(sums) - min(sums)

    key = max(keys, key=spread)
    sums = [sum(found.get(key, {}).values()) for found in by_cause]
    if alike(max(sums), min(sums)):
        return ""
    worst, least = sums.index(max(sums)), sums.index(min(sums))
    phases = by_cause[worst].get(key, {})
    phase = max(phases, key=lambda p: phases[p] - by_cause[least].get(key, {}).get(p, 0))
    what = _thing(report, key)
    why = reason_of(report.variants[worst]) if phase == "follow-up" else ""
    if why:
        return f"They differ most in {what}: {why.removeprefix(', because ')}."
    of, other = phases[phase], by_cause[least].get(key, {}).get(phase, 0)
    return (
        f"They differ most in {what}: {figures.say('partition_seconds', of)} of "
        f"{phase} under {safe(report.variants[worst].name)} (summed over {nouns_of_lanes(report)}), "
        f"{figures.say('partition_seconds', other)} under {safe(report.variants[least].name)}."
    )


def _thing(report: Report, key: tuple[str, str]) -> str:
    """The action with whom it was done to, where that was one consumer."""
    causes = [p.cause for v in report.variants for p in v.analysis.pauses]
    those = [cause for cause in causes if key[0] and cause.action == key[0]]
    nouns = dict.fromkeys(noun_of(cause) for cause in those)
    return next(iter(nouns)) if len(nouns) == 1 else key[0] or key[1]


def _by_cause(v: VariantReport) -> dict[tuple[str, str], dict[str, int]]:
    """(action, or else kind of cause) → phase → time, summed over partitions."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for p in v.analysis.pauses:
        if p.cause.kind is CauseKind.START:
            continue  # the group's birth is told by itself
        key = (p.cause.action, "" if p.cause.action else noun_of(p.cause))
        phases = found.setdefault(key, {})
        for phase in p.phases:
            phases[phase.kind.value] = phases.get(phase.kind.value, 0) + phase.length_us
    return found


# ------------------------------------------------------------------------------------- how sure it is


def _range_told(v: VariantReport, seeds: int) -> str:
    metric = HEADLINES_OF_TASKS[0] if v.analysis.worker_groups else "longest_pause"
    values = v.by_seed.values.get(metric, ())[:seeds]
    low, high = figures.say(metric, min(values)), figures.say(metric, max(values))
    said = high if low == high else f"between {low} and {high}"
    return f"Over {seeds} seeds the {figures.title_of(metric)} is {said}."


def _certainty(report: Report, chosen: Choice) -> str:
    """In how many seeds it is so."""
    seeds = min((len(v.by_seed.seeds) for v in report.variants), default=0)
    if seeds < 2:
        return ""
    if len(report.variants) == 1:
        (only,) = report.variants
        was_owned = only.analysis.lanes or only.analysis.worker_groups
        return _range_told(only, seeds) if was_owned else ""
    if not chosen.by or chosen.by == "budgets":
        return ""
    reached = [v.by_seed.values[chosen.by] for v in report.variants]
    mine = [reached[i] for i in chosen.places]
    rest = [each for i, each in enumerate(reached) if i not in chosen.places]
    won = sum(max(v[n] for v in mine) <= min(v[n] for v in rest) for n in range(seeds))
    if won == seeds:
        return f"The choice is the same under each of {seeds} seeds."
    luck = "" if won >= 0.9 * seeds else ": chance decides as much"
    return f"The choice is the same under {won} of {seeds} seeds{luck}."


# ------------------------------------------------------------------------------------ small wording


def _names(report: Report, chosen: Choice) -> str:
    names = [safe(report.variants[i].name) for i in chosen.places]
    return names[0] if len(names) == 1 else f"{' or '.join(names)} (alike here)"


def _count(report: Report) -> str:
    count = len(report.variants)
    return _COUNTS.get(count, f"all {count}")


def _values(report: Report, metric: str, chosen: Choice) -> str:
    """`28 ms, cooperative 3.02 s`: the chosen one's value, and then the others'."""
    if metric == "budgets":
        metric = ORDER[0]
    mine = figures.say(metric, report.variants[chosen.places[0]].measure(metric))
    others = [
        f"{safe(v.name)} {figures.say(metric, v.measure(metric))}"
        for i, v in enumerate(report.variants)
        if i not in chosen.places
    ]
    return f"{mine}, {', '.join(others)}"


def _figures_of(v: VariantReport) -> str:
    return f"{figures.title_of('longest_pause')} {figures.say('longest_pause', v.measure('longest_pause'))}"
