"""Other groups beside a Streams application: each is played in a world of its own, for groups see
nothing of each other while their brokers are well, and what happened is told as one trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rebalsim.domain.deed import Deed
from rebalsim.domain.scenario import Group, Scenario
from rebalsim.domain.script import Action, BrokerBusy, BrokerRestart
from rebalsim.domain.script_groups import groups_of
from rebalsim.simulation.streams.brokers import home_of
from rebalsim.trace.events import BrokerChanged, ScriptActed, TopicChanged
from rebalsim.trace.trace import Trace

Play = Callable[[Scenario], Trace]
_OF_ALL = (ScriptActed, BrokerChanged, TopicChanged)


def apart(scenario: Scenario) -> tuple[list[Scenario], Scenario]:
    """Each application with its part of the script, and all other groups with theirs; actions keep
    the names that they have in the whole. What is done to topics and brokers is everybody's.
    """
    named = tuple(
        replace(action, id=_named(action, number), deed=_placed(action.deed, scenario))
        for number, action in enumerate(scenario.script, 1)
    )
    apps = [group for group in scenario.groups if group.streams is not None]
    others = [group for group in scenario.groups if group.streams is None]
    return [_part(scenario, named, [app]) for app in apps], _part(scenario, named, others)


def _placed(deed: Deed, scenario: Scenario) -> Deed:
    """A group's coordinator is a broker that others may hang on as well."""
    if isinstance(deed, BrokerRestart | BrokerBusy) and deed.broker is None:
        return replace(deed, broker=home_of(scenario, deed.group), group="")
    return deed


def _named(action: Action, number: int) -> str:
    kind = type(action.deed).__name__
    dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind)[1:]
    return action.id or f"{dashed}-{number}"


def _part(scenario: Scenario, script: tuple[Action, ...], groups: list[Group]) -> Scenario:
    names = {group.name for group in groups}
    members = {spec.name for group in groups for spec in group.consumers}
    mine = []
    for action in script:
        concerns = groups_of(action, scenario.groups)
        if not concerns or concerns & names:
            mine.append(action)
            members |= set(_newcomers(action)) if concerns else set()
    faults = tuple(
        replace(fault, consumers=tuple(c for c in fault.consumers if c in members))
        for fault in scenario.random_faults
    )
    faults = tuple(fault for fault in faults if fault.consumers)
    is_app = any(group.streams is not None for group in groups)
    start = "cold" if not is_app else scenario.start
    return replace(
        scenario, groups=tuple(groups), script=tuple(mine), random_faults=faults, start=start
    )


def _newcomers(action: Action) -> list[str]:
    specs = (*getattr(action.deed, "joiners", ()), *getattr(action.deed, "consumers", ()))
    return [spec if isinstance(spec, str) else spec.name for spec in specs]


def together(traces: Sequence[Trace]) -> Trace:
    """One trace of all, in order of time; an earlier one's first where several say the same. What
    happened to the cluster is told once.
    """
    header = traces[0].header
    for trace in traces[1:]:
        header = replace(
            header,
            topics={**trace.header.topics, **header.topics},
            consumers={**header.consumers, **trace.header.consumers},
        )
    said: set[str] = set()
    events = []
    for trace in traces:
        mine = [e for e in trace.events if type(e) not in _OF_ALL or repr(e) not in said]
        said.update(repr(e) for e in mine if type(e) in _OF_ALL)
        events += mine
    return Trace(header, sorted(events, key=lambda event: event.at_us))
