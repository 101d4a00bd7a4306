"""The answer first: in at most four lines of 80 columns which variant to take and why, what all of
them share and what helps, what decides between them, and how sure that is.

Each part is written in several lengths, and told as fully as the four lines allow; what decides is
told in full below the picture. Differences are told by what caused them, not by sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rebalsim.analysis.values import Cause, Pause
from rebalsim.domain.budget import Level
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.metrics import HEADLINES_OF_TASKS, METRICS
from rebalsim.domain.remedy import Patch, Remedy
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import figures
from rebalsim.reports.answer_choice import (
    BUDGETS,
    Choice,
    Step,
    best_remedy,
    broken_by,
    choose,
    cure_of,
    seeds_alike,
    undecided_in,
)
from rebalsim.reports.causes_told import CAUSES, noun_of
from rebalsim.reports.comparison import alike, nouns_of_lanes
from rebalsim.reports.fitting import Forms, fitting
from rebalsim.reports.names import clip, safe
from rebalsim.reports.remedies_told import tell_patch, tell_price
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.sentences import tell_none
from rebalsim.reports.trade_told import reason_of, tell_tasks
from rebalsim.words.lists import listed, one_of, plural
from rebalsim.words.times import say_duration

WIDTH = 80
MOST_LINES = 4
MOST_NAME = 28
MOST_NAMED = 3  # variants or budgets that are named in one breath
KEPT = " No budget is broken."
SHARED = 0.5  # the same cause is what they share, if it is half as bad in the best of them
_COUNTS = {2: "both", 3: "all three", 4: "all four"}


def tell_answer_first(report: Report) -> list[str]:
    """The sentences; none for a comparison of files, which has its own, or where nothing ran; an
    incident brings its own, too, for what was observed and its replay are no variants to choose from.
    """
    if report.first or report.is_comparison or not report.variants:
        return list(report.first)
    if len(report.variants) == 1:
        parts = _of_one(report, report.variants[0])
    elif cure_of(report) is not None:
        parts = _of_cured(report)
    else:
        chosen = choose(report)
        parts = [_verdict(report, chosen), _shared(report, chosen), _decisive(report, chosen)]
    return fitting([forms for forms in parts if forms], WIDTH, MOST_LINES)


def tell_decisive(report: Report) -> str:
    """What decides between the variants, in full, where the answer had no room for that."""
    if report.first or report.is_comparison or len(report.variants) < 2:
        return ""
    full = next(iter(_decisive(report, choose(report))), "")
    return "" if full in tell_answer_first(report) else full


# ------------------------------------------------------------------------------ one variant alone


def _of_one(report: Report, v: VariantReport) -> list[Forms]:
    best = best_remedy([v])
    helps = () if best is None else _fix_first("What helps: ", best)
    return [_budgets_of_one(report, v), _stands_still(v), _how_much(v), helps]


def _budgets_of_one(report: Report, v: VariantReport) -> Forms:
    if broken := broken_by(report, v):
        said = f"It breaks {_some(broken)}."
        cure = cure_of(report)
        return [said] if cure is None else [f"{said} It keeps all budgets with {_brings(cure)}."]
    if still_open := _open_said(undecided_in(report, v)):
        return [still_open]
    if report.budgets and all(b.outcome is Outcome.PASS for b in report.budgets):
        return ["The budget is kept." if len(report.budgets) == 1 else "All budgets are kept."]
    return ()


def _stands_still(v: VariantReport) -> Forms:
    """The longest pause with its cause, and how far it sways over seeds."""
    metric = HEADLINES_OF_TASKS[0] if v.analysis.worker_groups else "longest_pause"
    value = v.measure(metric)
    if not value:
        return [tell_tasks(v) or tell_none([v.analysis])]
    said = figures.title_of(metric).capitalize() + f" {figures.say(metric, value)}"
    longest = _longest(v, bool(v.analysis.worker_groups))
    why = (
        f": {noun_of(longest.cause)}" if longest is not None and _is_a_thing(longest.cause) else ""
    )
    sways = _range_told(v, metric)
    return [f"{said}{sways}{why}.", f"{said}{why}.", f"{said}."]


def _range_told(v: VariantReport, metric: str) -> str:
    values, seeds = v.by_seed.values.get(metric, ()), len(v.by_seed.seeds)
    if seeds < 2 or not values:
        return ""
    low, high = figures.say(metric, min(values)), figures.say(metric, max(values))
    if low == high:
        return f" under each of {seeds} seeds"
    return f" ({low} to {high} over {seeds} seeds)"


def _how_much(v: VariantReport) -> Forms:
    """How many stood still, and over how many rebalances; of Connect's tasks, where there are any."""
    a = v.analysis
    if a.worker_groups:
        touched, total, sum_of = v.measure("tasks_touched"), _tasks(v), "task_seconds"
        things, rounds = "task", plural(round(v.measure("worker_rebalances") or 0), "round")
    else:
        touched, total, sum_of = (
            v.measure("partitions_touched"),
            len(a.partition_keys),
            "partition_seconds",
        )
        things, rounds = "partition", plural(round(v.measure("rebalances") or 0), "rebalance")
    if not touched:
        return ()
    said = f"{touched:.0f} of {plural(total, things)} stood still"
    summed = figures.say(sum_of, v.measure(sum_of)).removesuffix(" s")
    return [f"{said}, {summed} {things}-seconds in all, over {rounds}.", f"{said}, over {rounds}."]


def _tasks(v: VariantReport) -> int:
    return len(v.analysis.partitions) - len(v.analysis.partition_keys)


# ------------------------------------------------------- all break a budget, and a change keeps them


def _of_cured(report: Report) -> list[Forms]:
    """What to take with which change; what helps the others; what is wrong as it is."""
    cure = cure_of(report)
    assert cure is not None  # or else this is not told
    seeds = len(cure.seeds)
    first = f"Take {_name(cure.variant)} with {_brings(cure)}"
    kept = f"all budgets kept under each of {seeds} seeds"
    return [
        [f"{first}, {kept}{_at_price(cure)}.", f"{first}, {kept}.", f"{first}; all budgets kept."],
        _others_helped(report, cure),
        _wrong_as_it_is(report),
    ]


def _wrong_as_it_is(report: Report) -> Forms:
    broken = _broken_by_all(report)
    said = f"As it is, {_count(report)} break {_some(broken)}"
    longest = [_longest(v) for v in report.variants]
    pauses = [p for p in longest if p is not None]
    if not _is_shared(report, pauses):
        return [f"{said}.", ""]
    of, cause = _most_of(report, pauses), pauses[0].cause
    nouns = [f"{noun_of(cause)}, {of}", noun_of(cause), noun_of(cause, is_short=True)]
    return [*(f"{said}: {noun}." for noun in nouns), f"{said}.", ""]


def _others_helped(report: Report, cure: Remedy) -> Forms:
    """What the other variants come to with the same change, or with what else helps there."""
    told: dict[str, list[str]] = {}
    for v in report.variants:
        mine = [r for r in v.remedies if "longest_pause" in r.gains and not r.breaks]
        if v.name == cure.variant or not mine:
            continue
        best = min(
            mine,
            key=lambda r: (not r.keeps_budgets, r.patch != cure.patch, r.after["longest_pause"]),
        )
        came_to = figures.say("longest_pause", best.after["longest_pause"])
        told.setdefault(_beside(best.patch, cure.patch), []).append(f"{_name(v.name)} {came_to}")
    said = "; ".join(f"with {how}: {', '.join(whom)}" for how, whom in told.items())
    return [f"The others' longest pause {said}.", f"Others, {said}.", ""] if told else ()


def _beside(patch: Patch, cure: Patch) -> str:
    """A change as it differs from the one that was told just before."""
    if patch.turns == cure.turns:
        return "the same change"
    more = tuple(turn for turn in patch.turns if turn not in cure.turns)
    if len(more) == len(patch.turns) - len(cure.turns):
        return f"{tell_patch(replace(patch, turns=more))} too"
    return tell_patch(patch)


# ----------------------------------------------------------------------------------- the verdict


def _verdict(report: Report, chosen: Choice) -> Forms:
    """Which variant, why, and how sure."""
    which, sure = _which(report, chosen), _certainty(report, chosen)
    budgets = _kept_by_all(report)
    whole = f"{which}{budgets}{sure}"
    return [whole, f"{which}{sure}"] if budgets == KEPT else [whole]


def _which(report: Report, chosen: Choice) -> str:
    broken = broken_by(report, report.variants[chosen.places[0]])
    if not chosen.steps:
        either = "Which variant you take does not matter here"
        if broken:
            return f"{either}: {_count(report)} break {_some(broken)}."
        value = figures.say("longest_pause", report.variants[0].measure("longest_pause"))
        return f"{either}: longest pause {value} in {_count(report)}."
    names = one_of(_name(report.variants[i].name) for i in chosen.places)
    why = "; ".join(_why(report, chosen, step) for step in chosen.steps)
    if not broken:
        return f"Take {names}: {why}."
    shared = _broken_by_all(report)
    said = (
        f"As it is, {_count(report)} break {_some(shared)}"
        if shared == broken
        else "Every variant breaks a budget"
    )
    return f"{said}. Least under {names}: {why}."


def _why(report: Report, chosen: Choice, step: Step) -> str:
    """`longest pause 714 ms (cooperative 3.02 s)`: the chosen one's, and of those left behind."""
    best = report.variants[chosen.places[0]]
    behind = [report.variants[i] for i in step.behind]
    if step.by == BUDGETS:
        return _why_by_budgets(report, best, behind)
    others = [f"{_name(v.name)} {figures.say(step.by, v.measure(step.by))}" for v in behind]
    if len(others) > MOST_NAMED:
        others = [*others[: MOST_NAMED - 1], f"{len(others) - MOST_NAMED + 1} others more"]
    mine = figures.say(step.by, best.measure(step.by))
    return f"{figures.title_of(step.by)} {mine} ({', '.join(others)})"


def _why_by_budgets(report: Report, best: VariantReport, behind: Sequence[VariantReport]) -> str:
    if broken_by(report, best):
        return f"it breaks {_some(broken_by(report, best))} alone"
    wrongs = list(dict.fromkeys(b for v in behind for b in broken_by(report, v)))
    if not wrongs:
        return "it leaves the fewest budgets undecided"
    whom = [v for v in behind if broken_by(report, v)]
    verb = "breaks" if len(whom) == 1 else "break"
    names = listed([_name(v.name) for v in whom], MOST_NAMED)
    return f"no budget is broken; {names} {verb} {_some(wrongs)}"


def _kept_by_all(report: Report) -> str:
    """That budgets are no matter between them; which of the first one's are undecided."""
    if not any(b.level == Level.ERROR for b in report.budgets):
        return ""
    if any(broken_by(report, v) for v in report.variants):
        return ""
    still_open = [_open_said(undecided_in(report, v)) for v in report.variants]
    if any(still_open):
        told = next(filter(None, still_open))
        return f" {told}"
    return KEPT


def _open_said(texts: Sequence[str]) -> str:
    """Empty where all is decided."""
    if not texts:
        return ""
    told = _some(texts) if len(texts) <= 2 else f"{len(texts)} budgets"
    return f"{told} {'is' if len(texts) == 1 else 'are'} undecided: a longer horizon decides."


def _certainty(report: Report, chosen: Choice) -> str:
    """Under how many seeds it would be the same; over how many the budgets were judged, where these
    alone decided.
    """
    if chosen.steps and all(step.by == BUDGETS for step in chosen.steps):
        judged = min((b.runs for b in report.budgets if b.level == Level.ERROR), default=1)
        return f" Judged over {judged} seeds." if judged > 1 else ""
    same, seeds = seeds_alike(report, chosen)
    if seeds < 2:
        return ""
    if same == seeds:
        return f" The same under each of {seeds} seeds."
    luck = "" if same >= 0.9 * seeds else ": chance decides as much"
    return f" The same under {same} of {seeds} seeds{luck}."


# -------------------------------------------------------------------------------- what they share


def _shared(report: Report, chosen: Choice) -> Forms:
    """The cause of the longest pause, where it is the same in all variants; and what helps."""
    pauses = [p for v in report.variants if (p := _longest(v)) is not None]
    if not _is_shared(report, pauses):
        return ()
    noun, of = noun_of(pauses[0].cause), _most_of(report, pauses)
    count = _count(report).capitalize()
    best = best_remedy([report.variants[i] for i in chosen.places])
    if best is None:
        return [f"{count} share {noun}: {of}.", f"{count} share {noun}."]
    fixes = _fix_first("Fix that first: ", best)
    return [f"{count} share {noun}: {of}. {fixes[0]}"] + [
        f"{count} share {noun}. {fix}" for fix in fixes
    ]


def _is_shared(report: Report, pauses: Sequence[Pause]) -> bool:
    if len(pauses) < len(report.variants) or not pauses or not _is_a_thing(pauses[0].cause):
        return False
    if len({(p.cause.consumer, p.cause.action) for p in pauses}) > 1:
        return False
    lengths = [p.length_us for p in pauses]
    return min(lengths) >= SHARED * max(lengths)  # else it is no trouble in one of them


def _most_of(report: Report, pauses: Sequence[Pause]) -> str:
    """`5 m of 6 m 2 s stuck`: what the longest of these pauses mostly was; and whose it is, where
    the others' are shorter.
    """
    longest = max(pauses, key=lambda p: p.length_us)
    phase = max(longest.phases, key=lambda phase: phase.length_us)
    of = f"{say_duration(phase.length_us)} of {say_duration(longest.length_us)} {phase.kind.value}"
    if alike(min(p.length_us for p in pauses), longest.length_us):
        return of
    return f"{of} under {_name(report.variants[pauses.index(longest)].name)}"


def _fix_first(head: str, remedy: Remedy) -> Forms:
    said = f"{head}{_brings(remedy)}"
    if not remedy.price:
        return [f"{said}."]
    return [f"{said}{_at_price(remedy)}.", f"{said}, at a price."]


def _brings(remedy: Remedy) -> str:
    """`max.poll.interval.ms 5m → 10s: longest pause 6 m → 42 s`."""
    name = next((n for n in remedy.gains if n in METRICS), "longest_pause")
    told = figures.say_change(name, remedy.before.get(name), remedy.after.get(name))
    return f"{tell_patch(remedy.patch)}: {figures.title_of(name)} {told}"


def _at_price(remedy: Remedy) -> str:
    return f"; its price: {tell_price(remedy)}" if remedy.price else ""


def _longest(v: VariantReport, of_tasks: bool = False) -> Pause | None:
    pauses: Iterator[Pause] = (
        p for p in v.analysis.pauses if not of_tasks or p.group in v.analysis.worker_groups
    )
    return max(pauses, key=lambda p: p.length_us, default=None)


def _is_a_thing(cause: Cause) -> bool:
    return bool(cause.action) or bool(CAUSES[cause.kind].noun)


# ------------------------------------------------------------------------------------ what decides


def _decisive(report: Report, chosen: Choice) -> Forms:
    """Of which disturbance the variants differ most, and in which phase."""
    if not chosen.steps:
        return ()
    by_cause = [_by_cause(v) for v in report.variants]
    keys = list(dict.fromkeys(key for found in by_cause for key in found))
    if not keys:
        return ()

    def sums_of(key: tuple[str, str]) -> list[int]:
        return [sum(found.get(key, {}).values()) for found in by_cause]

    key = max(keys, key=lambda k: max(sums_of(k)) - min(sums_of(k)))
    sums = sums_of(key)
    if alike(max(sums), min(sums)):
        return ()
    worst, least = sums.index(max(sums)), sums.index(min(sums))
    phases, others = by_cause[worst].get(key, {}), by_cause[least].get(key, {})
    phase = max(phases, key=lambda p: phases[p] - others.get(p, 0))
    said = f"They differ most in {_thing(report, key)}:"
    of, other = (figures.say("partition_seconds", each.get(phase, 0)) for each in (phases, others))
    bad, good = (_name(report.variants[place].name) for place in (worst, least))
    told = [
        f"{said} {of} of {phase} under {bad} (summed over {nouns_of_lanes(report)}), {other} "
        f"under {good}.",
        f"{said} {of} of {phase} in sum under {bad}, {other} under {good}.",
        "",
    ]
    why = reason_of(report.variants[worst]) if phase == "follow-up" else ""
    if not why:
        return told
    why = why.removeprefix(", because ")
    return [f"{said} {why}.", f"{said} {why.partition(', of which')[0]}.", *told[1:]]


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


# ------------------------------------------------------------------------------------ small wording


def _broken_by_all(report: Report) -> list[str]:
    """The budgets that every variant breaks; where there is none, those of the first."""
    first, *others = (broken_by(report, v) for v in report.variants)
    return [b for b in first if all(b in wrong for wrong in others)] or first


def _name(name: str) -> str:
    return clip(safe(name), MOST_NAME)


def _some(texts: Sequence[str]) -> str:
    return listed([safe(text) for text in texts], MOST_NAMED)


def _count(report: Report) -> str:
    count = len(report.variants)
    return _COUNTS.get(count, f"all {count}")
