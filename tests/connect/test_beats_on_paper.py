"""A worker's heartbeat thread alone, against a port made of paper: a clock that the test turns, a
coordinator that answers as the test says, and a herder that comes and goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from rebalsim.connect.beats import Beats
from rebalsim.domain.connect import WorkerConfig
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.protocol.classic_member import ClassicMember, MemberState
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.trace.events import MemberReset, RebalanceNoticed

SECOND = 1_000_000
SETTINGS = WorkerConfig()
INTERVAL_US = SETTINGS.heartbeat_interval_us


@dataclass
class PaperPort:
    """What a worker sees of the world, as far as its heartbeats ask for it."""

    name: str = "worker"
    settings: WorkerConfig = SETTINGS
    beat_late: Draw = NOTHING
    now: int = 0
    is_led: bool = True
    answers: Callable[[int], Error | None] = lambda at: Error.NONE
    alarms: list[tuple[int, Callable[[Any], None]]] = field(default_factory=list)
    beats: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    recorded: list[Any] = field(default_factory=list)

    def at(self, at_us: int, then: Callable[[Any], None]) -> None:
        self.alarms.append((at_us, then))

    def draw(self, purpose: str, what: Draw) -> int:
        return 0

    def jitter(self) -> float:
        return 1.0

    def record(self, event: Any) -> None:
        self.recorded.append(event)

    def has_coordinator(self) -> bool:
        return self.is_led

    def lose_coordinator(self, why: str) -> None:
        self.lost.append(self.now)
        self.is_led = False

    def send(self, api: str, request: Any, then: Callable[[Any, Any], None], reason: str) -> None:
        self.beats.append(self.now)
        error = self.answers(self.now)
        if error is not None:
            call = SimpleNamespace(sent_generation=request.generation, sent_member_id="m")
            then(call, SimpleNamespace(error=error))

    def go_on(self, until_us: int) -> None:
        """Time passes, and what is due happens."""
        while due := [alarm for alarm in self.alarms if alarm[0] <= until_us]:
            first = min(due, key=lambda alarm: alarm[0])
            self.alarms.remove(first)
            self.now = max(self.now, first[0])
            first[1](None)
        self.now = until_us


@dataclass
class PaperMembership:
    """Whose heartbeat it is."""

    member: ClassicMember
    left_us: list[int]
    port: PaperPort
    woken: int = 0

    @property
    def thread(self) -> Any:
        return SimpleNamespace(wake=self._wake)

    def _wake(self) -> None:
        self.woken += 1

    def left_for_poll(self) -> None:
        self.left_us.append(self.port.now)


@pytest.fixture
def port() -> PaperPort:
    return PaperPort()


@pytest.fixture
def membership(port: PaperPort) -> PaperMembership:
    member = ClassicMember(None, True)
    member.member_id, member.generation = "m", 1
    member.state, member.needs_rejoin = MemberState.STABLE, False
    return PaperMembership(member, [], port)


@pytest.fixture
def beats(port: PaperPort, membership: PaperMembership) -> Beats:
    thread = Beats(port, membership)  # type: ignore[arg-type]
    thread.enters_poll()
    thread.start()
    return thread


def test_it_beats_at_its_interval_from_the_joins_answer_on(port: PaperPort, beats: Beats) -> None:
    port.go_on(4 * INTERVAL_US)
    assert port.beats == [INTERVAL_US, 2 * INTERVAL_US, 3 * INTERVAL_US, 4 * INTERVAL_US]


def test_it_goes_on_while_the_herder_is_elsewhere_and_leaves_when_that_takes_too_long(
    port: PaperPort, membership: PaperMembership, beats: Beats
) -> None:
    port.go_on(INTERVAL_US)
    beats.leaves_poll()
    port.go_on(INTERVAL_US + SETTINGS.rebalance_timeout_us)
    assert len(port.beats) > SETTINGS.rebalance_timeout_us // INTERVAL_US - 1
    assert membership.left_us[0] == INTERVAL_US + SETTINGS.rebalance_timeout_us


def test_a_herder_that_comes_back_in_time_stays(
    port: PaperPort, membership: PaperMembership, beats: Beats
) -> None:
    beats.leaves_poll()
    port.go_on(SETTINGS.rebalance_timeout_us - SECOND)
    beats.enters_poll()
    port.go_on(3 * SETTINGS.rebalance_timeout_us)
    assert membership.left_us == []


def test_who_hears_of_a_rebalance_wakes_the_herder_and_notes_it_once(
    port: PaperPort, membership: PaperMembership, beats: Beats
) -> None:
    port.answers = lambda at: Error.REBALANCE_IN_PROGRESS
    port.go_on(3 * INTERVAL_US)
    assert membership.member.needs_rejoin and membership.woken == 3
    assert [e.at_us for e in port.recorded if type(e) is RebalanceNoticed] == [INTERVAL_US]
    assert port.beats == [INTERVAL_US, 2 * INTERVAL_US, 3 * INTERVAL_US], "its session goes on"


def test_without_an_answer_the_coordinator_is_given_up_when_the_session_is_over(
    port: PaperPort, beats: Beats
) -> None:
    port.answers = lambda at: None
    port.go_on(3 * SETTINGS.session_timeout_us)
    (lost_us,) = port.lost
    assert SETTINGS.session_timeout_us <= lost_us < SETTINGS.session_timeout_us + INTERVAL_US
    assert max(port.beats) < lost_us, "nobody is left to beat to"


def test_a_member_that_the_coordinator_does_not_know_any_more_falls_silent(
    port: PaperPort, membership: PaperMembership, beats: Beats
) -> None:
    port.answers = lambda at: Error.UNKNOWN_MEMBER_ID
    port.go_on(5 * INTERVAL_US)
    assert port.beats == [INTERVAL_US] and membership.woken == 1
    assert any(type(e) is MemberReset for e in port.recorded)


def test_what_was_stopped_rings_no_more(port: PaperPort, beats: Beats) -> None:
    port.go_on(INTERVAL_US)
    beats.stop()
    port.go_on(10 * INTERVAL_US)
    assert port.beats == [INTERVAL_US]
