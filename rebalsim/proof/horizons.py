"""Whether a longer horizon ever turns kept into broken, unless the story itself goes on there: over
every metric, every comparison and every kind of fact, of whole runs and parts of them.

A trace up to an instant tells nearly what a story with that horizon would have told, so one playing
serves many horizons. Nearly: at its own horizon the simulation marks how far everybody has come, in
the middle of batches, too. So stories can be played anew for each of their horizons.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.judge import (
    BASELINE,
    judge_fact,
    judge_run,
    measure_budget,
    measure_fact,
    reference_of,
)
from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.verdict import Measured, Outcome
from rebalsim.proof.random_stories import random_story
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

FORMS = {
    "runs": "budgets of whole runs",
    "parts": "budgets of members, topics, actions and windows",
    "facts": "facts, as under expect:",
    "relative": "budgets relative to another variant, or to a baseline",
    "anew": "budgets of whole runs, each horizon played anew",
}
LATER_US = (1_000, 1_000_000, 10_000_000, 60_000_000)
FAR_US = 600_000_000
# What is held: the value itself, and limits further from it, each with its room.
FACTORS = {
    "<=": (1.0, 1.001, 1.02, 1.1, 1.3, 2.0),
    "<": (1.001, 1.1),
    "==": (1.0,),
    ">": (0.999, 0.9),
    ">=": (1.0, 0.999, 0.98, 0.9, 0.7, 0.5),
}
FACTS = (
    "owned-by",
    "unowned",  # these two are of a topic, which Connect's stories have not
    "no-rebalance",
    "fenced",
    "not-fenced",
    "removed",
    "not-removed",
    "stable",
    "empty",
    "gone",
)
OF_NOBODY = ("stable", "empty", "no-rebalance")
A_CUT_S_FACTS = 60
# what the script, faults and rates do: the story goes on where one of these follows
GOES_ON = (
    ev.ScriptActed,
    ev.LinkCut,
    ev.LinkHealed,
    ev.TopicChanged,
    ev.BrokerChanged,
    ev.ConsumerStarted,
    ev.ConsumerFroze,
    ev.ConsumerThawed,
    ev.StopAsked,
)
Observe = Callable[[int], Analysis]


@dataclass(frozen=True, slots=True)
class Overturned:
    """What was kept at one horizon and broken at a later one."""

    what: Budget | Expectation
    cut_us: int
    later_us: int


@dataclass(slots=True)
class Tally:
    """How often was asked, how often what was kept was asked again later, what was overturned."""

    asked: int = 0
    kept: int = 0
    overturned: list[Overturned] = field(default_factory=list)

    def hold(
        self, what: Budget | Expectation, cut_us: int, later: Sequence[tuple[int, Outcome]]
    ) -> None:
        """Something that was kept, and what became of it."""
        self.kept += len(later)
        broken = [at for at, outcome in later if outcome == Outcome.FAIL]
        self.overturned += [Overturned(what, cut_us, at) for at in broken]


def try_seed(seed: int, form: str, cuts: int, tally: Tally) -> None:
    """The random story of this seed."""
    text, chance = random_story(seed), Random(seed)
    if form != "relative":
        story = story_of(text.encode(), f"story {seed}").check()
        for variant in story.variants:
            try_scenario(story.scenario(variant), form, chance, cuts, tally)
        return
    text = text.replace("replay: as-written", "replay: [eager, cooperative]")
    try:
        story = story_of(text.encode(), f"story {seed}").check()
    except ProblemsError:
        return  # a client that knows no cooperative assignor
    try_relative(story.scenario("eager"), story.scenario("cooperative"), chance, cuts, tally)


def try_stock(name: str, form: str, seed: int, cuts: int, tally: Tally) -> None:
    """A stock story, played with this seed."""
    story = load_scenario(name).with_overrides([("seed", seed)])
    chance = Random(f"{name} {seed}")
    scenarios = [story.scenario(variant) for variant in story.variants]
    if form != "relative":
        for scenario in scenarios:
            try_scenario(scenario, form, chance, cuts, tally)
    elif len(scenarios) > 1:
        try_relative(scenarios[0], scenarios[1], chance, cuts, tally)


def try_scenario(scenario: Scenario, form: str, chance: Random, cuts: int, tally: Tally) -> None:
    """One variant, in any form but `relative`."""
    trace = play(scenario)

    def observed(until_us: int) -> Analysis:
        if form == "anew":
            return analyse(play(replace(scenario, horizon_us=until_us)))
        return analyse(trace, until_us)

    for cut, ats in cuts_of(instants_of(trace), scenario.horizon_us, chance, cuts):
        at_first, later = observed(cut), [observed(at) for at in ats]
        if form == "facts":
            facts = [fact_of(trace, cut, chance) for _ in range(A_CUT_S_FACTS)]
            try_facts(at_first, later, facts, tally)
        elif form == "parts":
            for part in parts_of(trace, cut, chance):
                try_budgets(at_first, later, part, tally)
        else:
            try_budgets(at_first, later, Budget("", "", 0.0, ""), tally)


def instants_of(trace: Trace) -> list[int]:
    """When the story itself goes on."""
    acted = {e.at_us for e in trace.events if type(e) in GOES_ON}
    steps = {at for facts in trace.header.topics.values() for at, _, _ in facts.rates or ()}
    return sorted(acted | steps)


def cuts_of(
    goes_on: Sequence[int], horizon_us: int, chance: Random, count: int
) -> Iterator[tuple[int, list[int]]]:
    """Horizons anywhere, and shortly after what the story does; each with later ones up to where it
    goes on.
    """
    wanted = [chance.randrange(1, horizon_us) for _ in range(count)]
    wanted += [at + chance.choice(LATER_US) for at in chance.sample(goes_on, min(2, len(goes_on)))]
    for cut in wanted:
        place = bisect_left(goes_on, cut)
        end = goes_on[place] if place < len(goes_on) else horizon_us
        later = [at for back in (*LATER_US, FAR_US) if (at := cut + back) < end]
        if later and cut > 0:  # a group that begins settled has a past
            yield cut, later


# ------------------------------------------------------------------------------------ what is asked


def limits_of(value: float, op: str) -> list[float]:
    """The value itself, and limits that leave it more and more room."""
    one = {"<=": value + 1, ">=": value - 1}.get(op, value)
    return sorted({*(round(value * factor, 6) for factor in FACTORS[op]), round(one, 6)})


def try_budgets(at_first: Analysis, later: Sequence[Analysis], part: Budget, tally: Tally) -> None:
    """Every metric of that part of a run, by every comparison, to several limits."""
    for metric in METRICS:
        for op in FACTORS:
            asked = replace(part, metric=metric, op=op, text=f"{metric} {op} …")
            value = measure_budget(at_first, asked).value
            if value is None:
                break  # for any comparison: there is no such figure of this run
            limits = [replace(asked, limit=limit) for limit in limits_of(value, op)]
            tally.asked += len(limits) * len(later)
            kept = [b for b in limits if _is_kept(b, measure_budget(at_first, b))]
            after = [measure_budget(a, asked) for a in later] if kept else []
            for budget in kept:
                found = [judge_run(budget, m).outcome for m in after]
                tally.hold(budget, at_first.horizon_us, _dated(later, found))


def try_facts(
    at_first: Analysis, later: Sequence[Analysis], facts: Sequence[Expectation], tally: Tally
) -> None:
    """Each of these facts, where it holds."""
    for fact in facts:
        tally.asked += len(later)
        if judge_fact(measure_fact(at_first, fact)).outcome == Outcome.PASS:
            found = [judge_fact(measure_fact(a, fact)).outcome for a in later]
            tally.hold(fact, at_first.horizon_us, _dated(later, found))


def try_relative(one: Scenario, other: Scenario, chance: Random, cuts: int, tally: Tally) -> None:
    """Every metric of one variant against another's, and against a baseline."""
    traces = play(one), play(other)
    goes_on = sorted({at for trace in traces for at in instants_of(trace)})
    horizon_us = min(trace.header.horizon_us for trace in traces)
    for cut, ats in cuts_of(goes_on, horizon_us, chance, cuts):
        seen = {at: [analyse(trace, at) for trace in traces] for at in (cut, *ats)}
        for metric in METRICS:
            for op, factors in FACTORS.items():
                asked = Budget(metric, op, 1.0, f"{metric} {op} …", other.variant)
                _try_against(asked, factors, cut, seen, tally)
                value = measure_budget(seen[cut][0], asked).value
                if value is not None:
                    asked = replace(asked, relative_to=BASELINE)
                    _try_against(asked, factors, cut, seen, tally, value)


def _try_against(
    asked: Budget,
    factors: Sequence[float],
    cut: int,
    seen: dict[int, list[Analysis]],
    tally: Tally,
    baseline: float | None = None,
) -> None:
    """One relative budget, with limits that leave it more and more room."""

    def measured(at: int) -> tuple[Measured, Measured | float | None]:
        one, other = seen[at]
        against = measure_budget(other, reference_of(asked)) if baseline is None else baseline
        return measure_budget(one, asked), against

    value, reference = measured(cut)
    base = reference.value if isinstance(reference, Measured) else reference
    if value.value is None or not base:
        return
    later = [at for at in seen if at != cut]
    for factor in factors:
        budget = replace(asked, limit=round(value.value / base * factor, 9))
        tally.asked += len(later)
        if judge_run(budget, value, reference).outcome == Outcome.PASS:
            found = [(at, judge_run(budget, *measured(at)).outcome) for at in later]
            tally.hold(budget, cut, found)


def _is_kept(budget: Budget, measured: Measured) -> bool:
    return judge_run(budget, measured).outcome == Outcome.PASS


def _dated(later: Sequence[Analysis], outcomes: Sequence[Outcome]) -> list[tuple[int, Outcome]]:
    return [(a.horizon_us, outcome) for a, outcome in zip(later, outcomes, strict=True)]


# --------------------------------------------------------------------------------- parts and facts


def parts_of(trace: Trace, cut: int, chance: Random) -> list[Budget]:
    """Three selections: a member, a topic, an action, a window, in any mix."""
    actions = sorted(
        {e.action for e in trace.events if type(e) is ev.ScriptActed and e.at_us <= cut} - {""}
    )
    return [_part_of(trace, actions, cut, chance) for _ in range(3)]


def _part_of(trace: Trace, actions: Sequence[str], cut: int, chance: Random) -> Budget:
    until_us = chance.randrange(1, cut + 1)
    made = Budget("", "", 0.0, "", until_us=until_us)
    if chance.random() < 0.4:
        made = replace(made, from_us=chance.randrange(0, until_us))
    if chance.random() < 0.4:
        made = replace(made, members=(chance.choice(sorted(trace.header.consumers)),))
    if chance.random() < 0.4 and trace.header.topics:
        made = replace(made, topics=(chance.choice(sorted(trace.header.topics)),))
    if actions and chance.random() < 0.3:
        made = replace(made, action=chance.choice(actions))
    if chance.random() < 0.25:
        made = replace(made, until_us=None)
    return made


def fact_of(trace: Trace, cut: int, chance: Random) -> Expectation:
    """A fact of any kind, of the end, a moment or a window."""
    kind = chance.choice(FACTS if trace.header.topics else FACTS[2:])
    member = chance.choice(sorted(trace.header.consumers))
    from_us, until_us = _window_before(cut, chance)
    if kind in ("owned-by", "unowned"):
        topic = chance.choice(sorted(trace.header.topics))
        number = chance.randrange(max(1, trace.header.topics[topic].partitions))
        owner = member if kind == "owned-by" else ""
        return Expectation(kind, f"{topic}-{number}", owner, "", from_us, until_us)
    subject = "" if kind in OF_NOBODY else member
    return Expectation(kind, subject, "", "", from_us, until_us)


def _window_before(cut: int, chance: Random) -> tuple[int | None, int | None]:
    """From one moment to another, or only one of them, or neither."""
    first, last = sorted(chance.randrange(0, cut + 1) for _ in range(2))
    which = chance.random()
    if which < 0.2:
        return None, None
    return (None if which < 0.4 else first), (None if which > 0.8 else last)
