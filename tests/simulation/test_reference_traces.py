"""The six reference traces of the classic protocol's specification, to the millisecond."""

from __future__ import annotations

import pytest
from simulated_groups import Told, member, play_group, settled

from rebalsim.trace import events as ev

M1, M2, X = member("M1"), member("M2"), member("X")


def test_t1_eager_scale_out() -> None:
    told = play_group((M1, M2), settled(M1, M2), 20.0, later=((X, 10.0),))
    assert told.times(ev.GroupStateChanged, after="PreparingRebalance")[-1] == 10.003
    for old in ("M1", "M2"):
        assert told.after(1, ev.RebalanceNoticed, consumer=old) == 12.003
        assert [c[:2] for c in told.callbacks(old, since=1)] == [
            (12.003, "revoked"),
            (12.012, "assigned"),
        ]
    assert told.barriers(since=1) == [(12.004, 2)]
    assert told.times(ev.GenerationJoined, generation=2) == [12.005] * 3
    assert told.after(1, ev.AssignmentStored) == 12.011
    for name in ("M1", "M2", "X"):
        assert told.first_records(name, 12.0) == 12.018


def test_t1_with_a_drifted_member() -> None:
    """M2 beats at 11.500: it revokes then, and its partitions stand still from 11.502 on."""
    slow = member("M2", heartbeat_interval_us=11_499_000)
    told = play_group((M1, slow), settled(M1, slow), 20.0, later=((X, 10.0),))
    assert told.callbacks("M2", since=1)[0][:2] == (11.502, "revoked")
    assert told.first_records("M2", 11.0) == 12.018


def test_t2_cooperative_scale_out() -> None:
    coop = {"partition_assignment_strategy": ("cooperative-sticky",)}
    m1, m2, x = member("M1", **coop), member("M2", **coop), member("X", **coop)
    told = play_group((m1, m2), settled(m1, m2), 20.0, later=((x, 10.0),))
    assert told.times(ev.GroupStateChanged, after="PreparingRebalance")[1:] == [10.003, 12.013]
    for old in ("M1", "M2"):
        assert [
            (at, what, len(ps.split(","))) for at, what, ps in told.callbacks(old, since=1)
        ] == [(12.012, "revoked", 1)]
    assert told.barriers(since=1) == [(12.004, 2), (15.008, 3)]
    assert told.after(13, ev.RebalanceNoticed, consumer="X") == 15.007
    assert [(at, what, len(ps.split(","))) for at, what, ps in told.callbacks("X")] == [
        (15.016, "assigned", 2)
    ]
    assert told.first_records("X", 10.0) == 15.022


def crash(*later: tuple[object, float]) -> Told:
    m2 = member("M2", heartbeat_interval_us=3_100_000)
    return play_group((M1, m2), settled(M1, m2), 70.0, deeds=((9.5, "kill", "M2", 0),), later=later)  # type: ignore[arg-type]


def test_t3_eager_crash_with_early_replacement() -> None:
    told = crash((X, 20.0))
    assert told.times(ev.GroupStateChanged, after="PreparingRebalance")[-1] == 20.003
    assert told.callbacks("M1", since=1)[0][:2] == (21.003, "revoked")
    removed = next(told.of(ev.MemberRemoved, why="session-expired"))
    assert (removed.consumer, removed.at_us, removed.last_heard_us) == (
        "M2",
        64_302_000,
        19_302_000,
    )
    assert told.barriers(since=1) == [(54.302, 2)]
    assert told.first_records("M1", 21.1) == told.first_records("X", 20.0) == 54.316


def test_t3_without_the_replacement() -> None:
    told = crash()
    assert told.times(ev.MemberRemoved, why="session-expired") == [54.302]
    assert told.callbacks("M1", since=1)[0][:2] == (57.003, "revoked")
    assert told.first_records("M1", 57.0) == 57.018


def test_t4_cold_start() -> None:
    members = tuple(member(f"c{i}") for i in range(4))
    joins = {
        "c0": 0.001,
        "c1": 0.501,
        "c2": 2.497,
    }  # added with their second JoinGroups, 3 ms later
    told = play_group(members[:3], joins, 10.0)
    assert told.times(ev.InitialDelayExtended) == [3.004]
    assert told.barriers() == [(6.004, 1)]
    told = play_group(members, {**joins, "c3": 5.897}, 12.0)
    assert told.times(ev.InitialDelayExtended) == [3.004, 6.004]
    assert told.barriers() == [(9.004, 1)]


STATIC = tuple(member(f"c{i}", group_instance_id=f"i{i}") for i in (1, 2))


def test_t5_static_restart_inside_the_session() -> None:
    told = play_group(
        STATIC,
        {"c1": -6.001, "c2": -5.5},
        40.0,
        deeds=((9.5, "kill", "c2", 0),),
        later=((STATIC[1], 30.0),),
    )
    assert told.barriers(since=1) == []
    assert told.after(30, ev.MemberAdded, consumer="c2", how="replacement") == 30.001
    assert told.after(30, ev.GenerationJoined, consumer="c2") == 30.007
    assert told.callbacks("c2", since=20) == [(30.009, "assigned", "3,4,5")]
    assert told.first_records("c2", 30.0) == 30.015
    assert told.callbacks("c1", since=1) == []


def test_t5_static_restart_beyond_the_session() -> None:
    told = play_group(
        STATIC,
        {"c1": -6.001, "c2": -5.5},
        70.0,
        deeds=((9.5, "kill", "c2", 0),),
        later=((STATIC[1], 60.0),),
    )
    assert told.times(ev.MemberRemoved, why="session-expired") == [54.002]
    assert [at for at, _ in told.barriers(since=1)] == [57.004, 60.008]


@pytest.mark.slow
def test_t6_max_poll_exceeded() -> None:
    told = play_group((M1, M2), settled(M1, M2), 340.0, deeds=((0.1, "hang", "M2", 330_000_000),))
    left = told.after(1, ev.LeaveSent, consumer="M2")
    assert told.times(ev.PollExpired, consumer="M2") == [left]
    (expired,) = told.of(ev.PollExpired, consumer="M2")
    assert 300_000_000 <= expired.at_us - expired.last_poll_us <= 300_101_000  # its next look
    notice = told.after(left, ev.RebalanceNoticed, consumer="M1")
    assert left < notice <= left + 3.002
    assert told.callbacks("M2", since=1)[0][1] == "lost"
    assert 330.0 <= told.callbacks("M2", since=1)[0][0] <= 330.2
    assert len(told.barriers(since=1)) == 2  # without M2, and with it again
    assert [e.how for e in told.of(ev.MemberAdded, consumer="M2")] == [
        "pending",
        "new",
        "pending",
        "new",
    ]
