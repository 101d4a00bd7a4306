"""After OffsetFetch, a position is validated at once, unless the wake-up by the answer is spent:
then retry.backoff.ms later.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from simulated_groups import IDLE, member, play_group, settled

from rebalsim.domain.consumer import Cost, Listener
from rebalsim.domain.draws import constantly
from rebalsim.domain.instants import MS
from rebalsim.trace import events as ev


def validated_after(callback_ms: float, poll_timeout_ms: int) -> float:
    """From M2's OffsetFetch to its OffsetsForLeaderEpoch, when its assigned callback takes so
    long. It begins 7 ms after the JoinGroup's answer.
    """
    handler = replace(IDLE, poll_timeout_us=poll_timeout_ms * MS)
    members = tuple(
        replace(
            member(name, handler=handler),
            listener=Listener(assigned=Cost(constantly(callback_ms * MS))),
        )
        for name in ("M1", "M2")
    )
    told = play_group(
        members, settled(*members), 20.0, later=((replace(members[0], name="X"), 10.0),), wire=True
    )
    joined = told.after(10.5, ev.GenerationJoined, consumer="M2")
    asked = told.after(joined, ev.RequestSent, consumer="M2", api="OffsetFetch")
    assert asked == pytest.approx(joined + 0.007 + callback_ms / 1000)
    return round(
        told.after(asked, ev.RequestSent, consumer="M2", api="OffsetsForLeaderEpoch") - asked, 3
    )


def test_at_once_where_poll_has_time_left() -> None:
    assert validated_after(250, 1000) == 0.002


def test_late_where_poll_has_no_time_left() -> None:
    assert validated_after(250, 200) == 0.102


def test_late_where_the_heartbeat_thread_looks_between_request_and_answer() -> None:
    """It looks each 100 ms from the JoinGroup's answer on: 299 ms after it the request leaves,
    301 ms after it the answer is there.
    """
    assert validated_after(292, 1000) == 0.102
    assert validated_after(290, 1000) == validated_after(294, 1000) == 0.002
