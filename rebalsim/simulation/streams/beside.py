"""Other groups beside a Streams application: each is played in a world of its own, for groups see
nothing of each other while their brokers are well, and what happened is told as one trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Action
from rebalsim.domain.script_groups import groups_of
from rebalsim.trace.trace import Trace

Play = Callable[[Scenario], Trace]


def apart(scenario: Scenario) -> tuple[Scenario, Scenario]:
    """The application with its part of the script, and all other groups with theirs; actions keep
    the names that they have in the whole.
    """
    named = tuple(
        replace(action, id=_named(action, number))
        for number, action in enumerate(scenario.script, 1)
    )
    return _part(scenario, named, True), _part(scenario, named, False)


def _named(action: Action, number: int) -> str:
    kind = type(action.deed).__name__
    dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind)[1:]
    return action.id or f"{dashed}-{number}"


def _part(scenario: Scenario, script: tuple[Action, ...], is_app: bool) -> Scenario:
    groups = tuple(g for g in scenario.groups if (g.streams is not None) == is_app)
    names = {group.name for group in groups}
    members = {spec.name for group in groups for spec in group.consumers}
    mine = tuple(a for a in script if groups_of(a, scenario.groups) & names)
    members |= {name for a in mine for name in _newcomers(a)}
    faults = tuple(
        replace(fault, consumers=tuple(c for c in fault.consumers if c in members))
        for fault in scenario.random_faults
    )
    faults = tuple(fault for fault in faults if fault.consumers)
    start = scenario.start if is_app else "cold"
    return replace(scenario, groups=groups, script=mine, random_faults=faults, start=start)


def _newcomers(action: Action) -> list[str]:
    specs = (*getattr(action.deed, "joiners", ()), *getattr(action.deed, "consumers", ()))
    return [spec if isinstance(spec, str) else spec.name for spec in specs]


def together(app: Trace, others: Trace) -> Trace:
    """One trace of both, in order of time; the application's first where both say the same."""
    header = replace(
        app.header,
        topics={**others.header.topics, **app.header.topics},
        consumers={**app.header.consumers, **others.header.consumers},
    )
    events = sorted([*app.events, *others.events], key=lambda event: event.at_us)
    return Trace(header, events)
