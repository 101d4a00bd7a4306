"""What surprises people about the consumer protocol is said at the place where it happened, and
nowhere else.
"""

from __future__ import annotations

import pytest

from rebalsim.domain.ids import Partition
from rebalsim.reports.surprises_told import tell_surprises
from rebalsim.trace import events as ev
from rebalsim.trace.trace import ConsumerFacts, Trace, TraceHeader

SECOND = 1_000_000
P = Partition("t", 0)
REMOVED = ev.MemberRemoved(50 * SECOND, "g", "c0", "m", "session-expired", 5 * SECOND)
AWAITED = ev.ReleaseAwaited(60 * SECOND, "g", "c1", (P,), ("c0",))


def trace(*events: ev.TraceEvent, protocol: str = "consumer") -> Trace:
    facts = ConsumerFacts(
        "g", protocol=protocol, session_timeout_us=45 * SECOND, heartbeat_interval_us=5 * SECOND
    )
    return Trace(TraceHeader(consumers={"c0": facts, "c1": facts}), list(events))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (REMOVED, ("c0 was missed at 50.000 s", "45 s", "group.consumer.session.timeout.ms")),
        (
            AWAITED,
            (
                "c1 had to wait at 1:00.000",
                "c0 still held",
                "its own next heartbeat",
                "up to 5 s later",
            ),
        ),
        (
            ev.IntervalWaited(SECOND, "g", 3, 2 * SECOND),
            ("could not be worked out before 2.000 s", "assignment.interval"),
        ),
        (
            ev.ConsumerExited(9 * SECOND, "c0", 2, "fatal", "UnreleasedInstanceIdException"),
            ("c0 came back at 9.000 s and was refused", "that was killed"),
        ),
        (
            ev.ConsumerExited(9 * SECOND, "c0", 1, "fatal", "UnreleasedInstanceIdException"),
            ("c0 came at 9.000 s and was refused", "the one that has it"),
        ),
    ],
)
def test_each_is_told_with_its_instant_and_who_it_was(
    event: ev.TraceEvent, words: tuple[str, ...]
) -> None:
    told = tell_surprises(trace(event))
    assert len(told) == 1
    assert all(word in told[0] for word in words)


def test_a_member_does_not_wait_for_itself_but_for_what_it_was_before() -> None:
    """c1 was killed and started again: the coordinator has two members of that name, and one of
    them is dead.
    """
    (told,) = tell_surprises(trace(ev.ReleaseAwaited(60 * SECOND, "g", "c1", (P,), ("c0", "c1"))))
    assert "for partitions that c0 and the member that it was before still held" in told
    (told,) = tell_surprises(trace(ev.ReleaseAwaited(60 * SECOND, "g", "c1", (P,), ("c1",))))
    assert "for partitions that the member that it was before still held" in told


def test_each_kind_is_told_once() -> None:
    later = ev.ReleaseAwaited(70 * SECOND, "g", "c0", (P,), ("c1",))
    assert len(tell_surprises(trace(AWAITED, later))) == 1


def test_what_the_script_brought_about_is_told_rather_than_the_start() -> None:
    early = ev.ReleaseAwaited(5 * SECOND, "g", "c0", (P,), ("c1",))
    acted = ev.ScriptActed(55 * SECOND, "scale-1", "scale to 3", "Scale", ())
    assert tell_surprises(trace(early, acted, AWAITED))[0].startswith("c1 had to wait at 1:00.000")
    assert tell_surprises(trace(early, acted))[0].startswith("c0 had to wait at 5.000 s")


def test_the_classic_protocol_has_none_of_these() -> None:
    assert tell_surprises(trace(REMOVED, AWAITED, protocol="eager")) == ()
