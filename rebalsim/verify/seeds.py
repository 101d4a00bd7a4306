"""Random stories held against what must be true of any: safe with faults on, settled once they are off, and the same with no tick skipped."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis import analyse
from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.errors import RebalsimError
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev
from rebalsim.trace.jsonl import lines_for
from rebalsim.trace.trace import Trace
from rebalsim.verify.random_stories import random_story


@dataclass(frozen=True, slots=True)
class Broken:
    """A story that broke a promise."""

    seed: int
    why: str
    story: str


def check_seed(seed: int, *, dense: bool = False) -> Broken | None:
    """Play the story of this seed; what is wrong with it, if anything. `dense`: play it tick by tick too, and compare."""
    text = random_story(seed)
    try:
        scenario = story_of(text.encode(), f"story {seed}").check().scenario()
        trace = play(scenario)
        why = _first_wrong(trace, scenario)
        if not why and dense:
            why = difference(trace, play(scenario, dense=True))
    except RebalsimError as e:
        why = f"{type(e).__name__}: {e}"
    except Exception as e:                       # whatever it is, its seed must be told
        import traceback

        why = f"{type(e).__name__}: {e}\n{''.join(traceback.format_tb(e.__traceback__)[-4:])}"
    return Broken(seed, why, text) if why else None


def _first_wrong(trace: Trace, scenario: Scenario) -> str:
    analysis = analyse(trace)
    for broken in analysis.violations:
        return f"{broken.rule} at {broken.at_us / 1e6:.6f} s: {broken.text}"
    for group in scenario.groups:
        if why := unsettled(analysis, group.name):
            return f"not settled at the horizon: {why}"
    return ""


def unsettled(analysis: Analysis, group: str) -> str:
    """Why the group is not settled at the end: its state, members that live outside it, partitions that nobody or two hold."""
    alive = _alive(analysis, group)
    spans = analysis.group_states.get(group, [])
    state = spans[-1].state if spans else "Empty"
    if not alive:
        return "" if state in ("Empty", "Dead") or _only_statics(analysis, group) else f"{group} is {state} though nobody lives"
    if state != "Stable":
        return f"{group} is {state}"
    # the group's own last word: a coordinator that took over may have gone back to an older generation, the last that was written
    last = [e.generation for e in analysis.trace.events if type(e) is ev.GroupStateChanged and e.group == group][-1]
    for consumer in alive:
        joined = [e.generation for n in analysis.index.by_consumer[consumer] if type(e := analysis.trace.events[n]) is ev.GenerationJoined]
        if not joined or joined[-1] != last:
            return f"{consumer} lives, and is not in generation {last} of {group}"
    for (holder_of, partition), holdings in analysis.holdings.items():
        now = [h.consumer for h in holdings if h.ended_us >= analysis.horizon_us]
        if holder_of == group and len(now) > 1:
            return f"{partition} is held by {' and '.join(now)}"
    return ""


def _alive(analysis: Analysis, group: str) -> dict[str, None]:
    alive: dict[str, None] = {}
    for event in analysis.trace.events:
        kind = type(event)
        if kind is ev.ConsumerStarted and analysis.header.consumers[event.consumer].group == group:
            alive[event.consumer] = None
        elif kind is ev.ConsumerExited:
            alive.pop(event.consumer, None)
    return alive


def _only_statics(analysis: Analysis, group: str) -> bool:
    """Static members outlive their processes for a session; with the horizon set far behind the last of them this is not needed."""
    return any(facts.group == group and facts.instance_id is not None for facts in analysis.header.consumers.values())


def difference(lazy: Trace, dense: Trace) -> str:
    """The first line in which two traces of one story differ, empty if none."""
    for number, (one, other) in enumerate(zip(lines_for(lazy), lines_for(dense))):
        if one != other and number:                    # the header counts the events, and would only say that something differs
            return f"dense and lazy differ in line {number + 1}:\n  lazy:  {one[:300]}\n  dense: {other[:300]}"
    if len(lazy.events) != len(dense.events) or lazy.header != dense.header:
        return f"dense and lazy differ: {len(lazy.events)} and {len(dense.events)} events"
    return ""
