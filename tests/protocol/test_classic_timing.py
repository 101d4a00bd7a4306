"""The timed courses of events of the specification, seen from the coordinator: one way takes 1
ms, the log 5 ms.
"""

from __future__ import annotations

from classic_world import World


def two_stable_members(**more):
    """M1 (leader) and M2 got their join answers at 0.001; both beat at 3.001, 6.001, …"""
    world = World(write=0.005, initial_rebalance_delay=0, **more)
    first, second = world.enter("m"), world.enter("n")
    world.at(0)
    assert (first.error, second.error) == ("NONE", "NONE")
    world.at(0.002)
    world.sync(second.id), world.sync(first.id, {first.id: "x", second.id: "y"})
    world.at(0.007)
    assert world.state == "Stable"
    return world, first.id, second.id


def test_eager_scale_out_takes_one_barrier_and_one_write():
    world, m1, m2 = two_stable_members()
    pending = world.at(10.001).join(client="x")
    assert (pending.error, world.state) == ("MEMBER_ID_REQUIRED", "Stable")
    joined = world.at(10.003).join(pending.id, client="x")
    assert (world.state, world.timer("join-g")) == ("PreparingRebalance", 310.003)
    beats = [world.at(12.002).heartbeat(m1, 1), world.heartbeat(m2, 1)]
    assert [beat.error for beat in beats] == ["REBALANCE_IN_PROGRESS"] * 2 and world.session(
        m1
    ) == 57.002
    joins = [world.at(12.004).join(m1), world.join(m2), joined]
    assert [asked.answered_at for asked in joins] == [12.004] * 3 and world.timer(
        "sync-g"
    ) == 312.004
    syncs = [world.at(12.006).sync(joined.id), world.sync(m2), world.sync(m1, {})]
    world.at(13)
    assert [asked.answered_at for asked in syncs] == [12.011] * 3 and world.session(m2) == 57.011


def test_cooperative_scale_out_waits_a_heartbeat_interval_for_its_second_round():
    world, m1, m2 = two_stable_members()
    x = world.at(10.003).enter("x").number
    world.at(12.004).join(m1), world.join(m2)
    newcomer = world.asked[x].id
    for member in (newcomer, m2, m1):
        world.at(12.006).sync(member, {m1: "1", m2: "2"})
    world.at(12.011)
    assert world.state == "Stable"
    second = [
        world.at(12.013).join(m1, offers="range:t-less"),
        world.join(m2, offers="range:t-less"),
    ]
    assert world.at(15.006).heartbeat(newcomer).error == "REBALANCE_IN_PROGRESS"
    second.append(world.at(15.008).join(newcomer, offers="range:t-none"))
    assert [asked.answered_at for asked in second] == [15.008] * 3
    syncs = [world.at(15.01).sync(member) for member in (m1, m2, newcomer)]
    world.at(16)
    assert [asked.answered_at for asked in syncs] == [15.015] * 3


def test_a_sync_that_arrives_when_the_second_round_has_begun_is_sent_back_at_once():
    world, m1, m2 = two_stable_members()
    world.at(10).join(m1), world.join(m2)
    world.at(10.002).sync(m1, {})
    world.at(10.007)
    world.at(10.008).join(m1, offers="range:less")
    late = world.at(10.009).sync(m2)
    assert (late.error, late.answered_at) == ("REBALANCE_IN_PROGRESS", 10.009)


def test_cold_starts_end_at_the_first_window_without_additions():
    for additions, start in (
        ((("a", 0.004), ("b", 0.504), ("c", 2.5)), 6.004),
        ((("a", 0.004), ("b", 0.504), ("c", 2.5), ("d", 5.9)), 9.004),
    ):
        world = World(write=0.005)
        joins = [world.at(when).enter(name) for name, when in additions]
        world.at(20)
        assert {asked.answered_at for asked in joins} == {start}


def test_a_static_restart_costs_one_write_and_nobody_else():
    world = World(write=0.005, initial_rebalance_delay=0)
    first, static = world.enter("m"), world.join(instance="s")
    world.at(0)
    world.sync(static.id, instance="s"), world.sync(first.id, {static.id: "mine"})
    world.at(9.002).heartbeat(static.id, instance="s")
    world.at(29).heartbeat(first.id)
    back = world.at(30.001).join(instance="s")
    assert back.error is None
    world.at(30.008)
    assert (back.answered_at, back.response.generation) == (30.006, 1)
    synced = world.sync(back.id, instance="s")
    assert (
        synced.answered_at,
        synced.response.assignment,
        world.state,
        world.session(back.id),
    ) == (30.008, "mine", "Stable", 75.001)


def test_a_static_restart_too_late_is_one_rebalance_at_the_expiry_and_one_at_the_return():
    world = World(write=0.005, initial_rebalance_delay=0)
    first, static = world.enter("m"), world.join(instance="s")
    world.at(0)
    world.sync(first.id, {static.id: "mine"})
    world.at(9.002).heartbeat(static.id, instance="s")
    world.at(40).heartbeat(first.id)
    world.at(54.001)
    assert world.state == "Stable"
    world.at(54.002)
    assert (world.state, world.told("MemberRemoved")) == (
        "PreparingRebalance",
        [{"member_id": static.id, "why": "session-expired", "last_heard_us": 9_002_000}],
    )


def test_a_crash_is_detected_a_session_after_the_last_heartbeat_or_commit():
    world, m1, m2 = two_stable_members()
    world.at(5).heartbeat(m2)
    world.at(7).commit(m2)
    world.at(30).heartbeat(m1)
    world.at(51).heartbeat(m1)
    world.at(51.999)
    assert world.state == "Stable"
    world.at(52)
    assert world.told("GroupStateChanged")[-1] | {"reason": ""} == {
        "before": "Stable",
        "after": "PreparingRebalance",
        "generation": 1,
        "trigger": "session-expired",
        "member_id": m2,
        "reason": "",
    }
