"""Facts of a story's script and its random faults that several rules ask for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import Draw
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario, Topic
from rebalsim.domain.script import Action, AddPartitions, Crash, CreateTopic, Cut, Freeze, Hang
from rebalsim.lint.facts import (
    alike,
    heartbeat_us,
    is_classic,
    is_static,
    named,
    round_up,
    say_setting,
    session_us,
    topic_named,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Place

D = TypeVar("D", bound=Deed)


def deeds_of(scenario: Scenario, kind: type[D]) -> Iterator[tuple[Action, D]]:
    """Every action of the script that does this."""
    for action in scenario.script:
        if isinstance(action.deed, kind):
            yield action, action.deed


@dataclass(frozen=True, slots=True)
class Strike:
    """Something that befalls consumers for a while, by the script or at random."""

    consumers: tuple[str, ...]
    for_: Draw
    place: Place
    deed: Deed | None  # None: at random


def strikes_of(scenario: Scenario, kind: type[Freeze | Hang | Cut]) -> Iterator[Strike]:
    """Every blow of this kind: those of the script, then the random ones of the same name."""
    for action, deed in deeds_of(scenario, kind):
        yield Strike(deed.consumers, deed.for_, place_of(action), deed)
    for fault in scenario.random_faults:
        if fault.kind == kind.__name__.lower():
            yield Strike(fault.consumers, fault.for_, Place("story", key="random_faults"), None)


def expelled_by(
    scenario: Scenario, strike: Strike
) -> Iterator[tuple[list[Consumer], float, int, str]]:
    """Members that miss so many heartbeats that their session is over: alike ones together, how
    long the strike lasts at worst, their session, and the session that would be enough.
    """
    lasts = high(strike.for_)

    def figures(c: Consumer) -> tuple[int, int, bool]:
        return session_us(scenario, c), heartbeat_us(scenario, c), is_classic(c)

    for (session, beat, _), who in alike(named(scenario, strike.consumers), figures):
        if lasts > session - beat:
            yield who, lasts, session, say_setting(round_up(1.1 * lasts + beat, 5 * SECOND))


def place_of(action: Action) -> Place:
    return Place("action", action.id, line=action.line)


def of_action(action: Action, key: str) -> str:
    """What a fix calls a key of the script: by the action's line, since actions may have no id."""
    return f"script.{action.line}.{key}"


def restart_us(consumer: Consumer, down_high: float) -> float:
    """How long a restarted process is away at worst, until its first poll."""
    return down_high + high(consumer.life.start)


def strangers(scenario: Scenario, names: Iterable[str]) -> list[Consumer]:
    """The consumers among these that come back as strangers while their old membership stays, a
    ghost, for a session: dynamic members of classic groups.
    """
    return [c for c in named(scenario, names) if not is_static(c) and is_classic(c)]


def crashes_with_return(scenario: Scenario) -> Iterator[tuple[Action, Draw, list[Consumer]]]:
    """Each crash whose process is started again: the action, how long it is away, and who comes
    back as a stranger.
    """
    for action, deed in deeds_of(scenario, Crash):
        if deed.restart_after is not None:
            yield action, deed.restart_after, strangers(scenario, deed.consumers)


def grown_topics(scenario: Scenario) -> Iterator[tuple[Action, Topic, int, int]]:
    """Each action that adds partitions or creates a topic: the topic, how many it had before,
    and how many it has then.
    """
    for action in scenario.script:
        deed = action.deed
        if not isinstance(deed, (AddPartitions, CreateTopic)):
            continue
        topic = topic_named(scenario, deed.topic)
        if topic is None:
            continue
        if isinstance(deed, CreateTopic):
            yield action, topic, 0, topic.partitions
        elif deed.to > topic.partitions:
            yield action, topic, topic.partitions, deed.to
