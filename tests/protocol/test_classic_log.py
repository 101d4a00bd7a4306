"""Log writes: who waits for them, what happens when they fail, what is left of a group when its
coordinator moves.
"""

from __future__ import annotations

import pytest
from classic_world import World

from rebalsim.domain.errors import BugError
from rebalsim.protocol.classic_group import CoordinatorRules, fired, refusal, while_loading, written
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)


def stable(*names, **settings):
    world = World(initial_rebalance_delay=0, **settings)
    ids = world.stable(*names)
    world.write = None  # from now on the log takes what it takes when the test says so
    return world, ids


def completing(*names, **settings):
    world, ids = stable(*names, **settings)
    for member in ids:
        world.join(member, instance="s" if member.startswith("s-") else None)
    assert world.state == "CompletingRebalance"
    return world, ids


# ------------------------------------------------------------------------------------------ waiting


def test_heartbeats_leaves_and_offset_look_ups_wait_for_the_writes_under_way():
    world, (leader, other, third) = stable("a", "b", "c")
    committed = world.commit(leader, offsets={"t-0": 1})
    waiting = [world.heartbeat(other), world.leave(third), world.fetch("t-0")]
    assert [asked.error for asked in (committed, *waiting)] == [None] * 4
    world.log()
    assert [asked.error for asked in (committed, *waiting)] == ["NONE"] * 4
    assert waiting[2].response.offsets == {"t-0": 1}


def test_errors_joins_and_answers_from_stable_do_not_wait_for_the_log():
    world, (leader, other) = stable("a", "b")
    world.commit(leader)
    assert world.heartbeat("nobody-1").error == "UNKNOWN_MEMBER_ID"
    assert world.heartbeat(other, generation=7).error == "ILLEGAL_GENERATION"
    assert world.commit(other, generation=7).error == "ILLEGAL_GENERATION"
    assert world.join(other).error == "NONE"
    assert world.sync(other).error == "NONE"
    world.join(leader)
    assert world.join(other).error == "NONE"


def test_a_leave_that_empties_the_group_waits_for_the_record_of_that():
    world, (member,) = stable("a")
    left = world.leave(member)
    assert (left.error, world.state, world.appended[-1].record.members) == (None, "Empty", ())
    world.log()
    assert left.error == "NONE"


def test_all_parked_syncs_are_answered_when_the_assignment_is_in_the_log():
    world, (leader, other) = completing("a", "b")
    syncs = [world.sync(other), world.sync(leader, {other: "x"})]
    world.at(5)
    assert [asked.error for asked in syncs] == [None, None] and world.state == "CompletingRebalance"
    world.log()
    assert [asked.error for asked in syncs] == ["NONE", "NONE"]
    assert (world.state, world.session(leader), len(world.told("AssignmentStored"))) == (
        "Stable",
        50,
        2,
    )


def test_an_assignment_that_a_new_rebalance_overtook_is_dropped():
    world, (leader, other) = completing("a", "b")
    syncs = [world.sync(other), world.sync(leader, {other: "x"})]
    world.enter("c")
    assert [asked.error for asked in syncs] == ["REBALANCE_IN_PROGRESS"] * 2
    world.log()
    assert world.state == "PreparingRebalance" and world.group.members[other].assignment is None


# ------------------------------------------------------------------------------------------ failing


@pytest.mark.parametrize(
    ("failure", "answer"),
    [
        (Error.REQUEST_TIMED_OUT, "COORDINATOR_NOT_AVAILABLE"),
        (Error.NOT_ENOUGH_REPLICAS, "COORDINATOR_NOT_AVAILABLE"),
        (Error.NOT_LEADER_OR_FOLLOWER, "NOT_COORDINATOR"),
        (Error.MESSAGE_TOO_LARGE, "UNKNOWN_SERVER_ERROR"),
    ],
)
def test_an_assignment_that_cannot_be_written_fails_every_sync_and_rebalances(failure, answer):
    world, (leader, other) = completing("a", "b")
    syncs = [world.sync(other), world.sync(leader, {other: "x"})]
    world.at(3).log(failure)
    assert [asked.error for asked in syncs] == [answer, answer]
    assert (world.state, world.group.generation, world.session(other), world.timer("join-g")) == (
        "PreparingRebalance",
        2,
        48,
        303,
    )
    assert world.told("GroupStateChanged")[-1]["trigger"] == "write-failed"


def test_a_group_record_over_the_brokers_limit_fails_the_sync_on_the_spot():
    sizes = {
        "max_record_bytes": 2_000,
        "metadata_bytes": lambda metadata: 100,
        "assignment_bytes": len,
    }
    world, (leader, other) = completing("a", "b", **sizes)
    waiting = world.sync(other)
    appended = len(world.appended)
    failed = world.sync(leader, {leader: "x" * 1_500, other: "y" * 200})
    assert (waiting.error, failed.error) == ("UNKNOWN_SERVER_ERROR",) * 2
    assert (world.state, len(world.appended)) == ("PreparingRebalance", appended)


def test_the_size_of_a_group_record_is_counted_field_by_field():
    sizes = {"metadata_bytes": lambda metadata: 1_000, "assignment_bytes": len}
    world, (leader, other) = completing("a", "b", **sizes)
    world.sync(leader, {leader: "x" * 100})
    small = world.appended[-1].size
    world.sync(leader, {leader: "x" * 100, other: "y" * 50})
    assert world.appended[-1].size == small + 50 and 2_100 < small < 2_400


def test_a_replacement_that_cannot_be_written_brings_the_old_member_back():
    world, (leader, static) = stable("a", "i:s")
    back = world.at(5).join(instance="s", session=20, rebalance=10, offers="range:u")
    assert back.error is None and static not in world.group.members
    world.at(6).log(Error.REQUEST_TIMED_OUT)
    assert (back.error, back.id) == ("COORDINATOR_NOT_AVAILABLE", "")
    old = world.group.members[static]
    assert (old.protocols, old.session_timeout_us, old.rebalance_timeout_us) == (
        (("range", "t"),),
        45_000_000,
        300_000_000,
    )
    assert (world.state, world.session(static), world.heartbeat(static, instance="s").error) == (
        "Stable",
        51,
        "NONE",
    )
    assert (
        world.group.all_joined() is False
        and world.group.awaiting_join == 0
        and world.group.supported == {"range": 2}
    )
    assert sorted(world.group.members) == sorted([leader, static])


def test_a_replacement_that_left_before_its_write_failed_is_counted_wrongly_from_then_on_as_kafka_does():
    world, _ = stable("i:s")
    world.join(instance="s", offers="range:t sticky:t")
    world.leave(("", "s"))
    world.log(Error.NOT_ENOUGH_REPLICAS)
    assert world.group.supported == {"range": 0, "sticky": -1}


def test_a_join_repeated_before_the_replacement_is_written_is_the_one_that_is_answered():
    world, _ = stable("a", "i:s")
    first = world.join(instance="s")
    world.enter("b")
    second = world.join(world.group.static_members["s"], instance="s")
    world.log()
    assert (first.error, second.error) == (None, "NONE")


def test_a_join_displaced_before_the_replacement_failed_hears_of_that():
    world, _ = stable("a", "i:s")
    first = world.join(instance="s")
    world.enter("b")
    second = world.join(world.group.static_members["s"], instance="s")
    world.log(Error.NOT_LEADER_OR_FOLLOWER)
    assert (first.error, second.error) == ("NOT_COORDINATOR", None)


def test_a_commit_that_is_too_large_is_told_so_only_by_the_coordinator_in_scala():
    for rules, answer in (
        ({}, "UNKNOWN_SERVER_ERROR"),
        ({"says_commit_is_too_large": True}, "INVALID_COMMIT_OFFSET_SIZE"),
    ):
        world, (member,) = stable("a", **rules)
        failed = world.commit(member, offsets={"t-0": 1})
        world.log(Error.MESSAGE_TOO_LARGE)
        assert failed.error == answer


def test_leadership_survives_a_failed_replacement():
    world, (static,) = stable("i:s")
    world.join(instance="s")
    world.log(Error.NOT_ENOUGH_REPLICAS)
    assert world.group.leader_id == static


def test_a_replacement_replaced_before_its_write_is_fenced():
    world, _ = stable("a", "i:s")
    first, second = world.join(instance="s"), world.join(instance="s")
    assert first.error == "FENCED_INSTANCE_ID"
    world.log()
    assert (second.error, sorted(world.group.members)) == ("NONE", sorted(["a-1", second.id]))


def test_a_replaced_followers_answer_comes_from_the_log_even_when_a_rebalance_began_meanwhile():
    world, _ = stable("a", "i:s")
    back = world.join(instance="s")
    world.enter("b")
    world.log()
    assert (back.error, back.response.generation, world.group.awaiting_join) == ("NONE", 1, 1)


def test_a_replaced_leader_stays_parked_when_a_rebalance_began_meanwhile():
    world, _ = stable("i:s", "a")
    back = world.join(instance="s")
    new = world.enter("b")
    world.log()
    assert (back.error, world.group.awaiting_join) == (None, 2)
    world.join("a-1")
    assert (back.error, new.error, back.response.generation) == ("NONE", "NONE", 2)


def test_a_group_whose_creation_cannot_be_written_never_was():
    world = World(write=None)
    joined = world.join(instance="s")
    assert (joined.error, world.appended[0].record.members) == (None, ())
    world.log(Error.NOT_LEADER_OR_FOLLOWER)
    assert (joined.error, world.group.exists, world.group.members, world.armed) == (
        "NOT_COORDINATOR",
        False,
        {},
        {},
    )
    assert world.commit("x", generation=0).error == "GROUP_ID_NOT_FOUND"
    assert world.join(instance="s").error is None and world.timer("join-g") == 3


def test_a_commit_that_cannot_be_written_is_not_seen_afterwards():
    world, (member,) = stable("a")
    world.commit(member, offsets={"t-0": 1})
    world.log()
    failed = world.commit(member, offsets={"t-0": 2, "t-1": 3})
    world.log(Error.NOT_ENOUGH_REPLICAS)
    assert failed.error == "COORDINATOR_NOT_AVAILABLE"
    assert world.fetch("t-0", "t-1").response.offsets == {"t-0": 1}


# ------------------------------------------------------------------------------------------- moving


def test_a_moved_group_is_stable_with_every_session_in_full():
    world, (leader, static) = stable("a", "i:s")
    world.at(40).move()
    assert (world.state, world.group.generation, world.group.leader_id, world.group.protocol) == (
        "Stable",
        1,
        leader,
        "range",
    )
    assert (world.session(leader), world.session(static)) == (85, 85)
    assert (
        world.heartbeat(static, 1, "s").error == "NONE"
        and world.sync(static, None, 1, "s").response.assignment == f"for {static}"
    )


def test_a_rebalance_under_way_is_lost_and_its_parked_joins_are_sent_to_the_new_coordinator():
    world, (leader, other) = stable("a", "b")
    parked = world.join(leader)
    world.move()
    assert (parked.error, world.state, world.group.generation) == ("NOT_COORDINATOR", "Stable", 1)
    assert sorted(world.group.members) == [leader, other]


def test_an_assignment_that_was_not_persisted_is_rolled_back_with_its_generation():
    world, (leader, other) = completing("a", "b")
    syncs = [world.sync(other), world.sync(leader, {other: "x"})]
    world.move()
    assert [asked.error for asked in syncs] == ["NOT_COORDINATOR"] * 2
    assert (world.state, world.group.generation) == ("Stable", 1)
    assert world.heartbeat(other, generation=2).error == "ILLEGAL_GENERATION"


def test_pending_ids_are_forgotten_by_a_move():
    world, _ = stable("a")
    pending = world.join(client="p")
    world.move()
    assert world.join(pending.id, client="p").error == "UNKNOWN_MEMBER_ID"


def test_a_loaded_follower_has_only_the_selected_protocol_and_so_rebalances_when_it_offers_more():
    world = World(initial_rebalance_delay=0)
    _, follower = world.stable("a", "b", offers="range:t sticky:t")
    world.move()
    assert world.group.members[follower].protocols == (("sticky", "t"),) or world.group.members[
        follower
    ].protocols == (("range", "t"),)
    world.join(follower, offers="range:t sticky:t")
    assert world.state == "PreparingRebalance"


def test_a_move_keeps_written_positions_and_loses_the_others():
    world, (member,) = stable("a")
    world.commit(member, offsets={"t-0": 1})
    world.log()
    lost = world.commit(member, offsets={"t-0": 2})
    world.move()
    assert lost.error == "NOT_COORDINATOR" and world.fetch("t-0").response.offsets == {"t-0": 1}


def test_a_group_that_was_empty_is_loaded_empty_in_its_generation():
    world = World(initial_rebalance_delay=0)
    (member,) = world.stable("a")
    world.leave(member)
    world.move()
    assert (world.state, world.group.generation, world.group.exists, world.armed) == (
        "Empty",
        2,
        True,
        {},
    )


def test_a_group_nobody_wrote_is_not_there_after_a_move():
    world = World(write=None)
    world.join(client="p")
    world.move()
    assert world.group.exists is False


def test_everybody_who_waits_in_a_group_nobody_wrote_is_sent_to_the_new_coordinator():
    world = World(write=None)
    joins = [world.join(instance="s"), world.join(instance="t")]
    world.move()
    assert [(asked.error, asked.id) for asked in joins] == [
        ("NOT_COORDINATOR", ""),
        ("NOT_COORDINATOR", "t-1"),
    ]


def test_a_loaded_group_over_capacity_is_rebalanced():
    world, _ = stable("a", "b")
    world.rules = CoordinatorRules(max_size=1)
    world.move()
    assert (world.state, world.timer("join-g")) == ("PreparingRebalance", 300)


def test_replies_of_brokers_that_do_not_have_the_group():
    requests = [
        JoinGroupRequest("", None, "c", 1, 1, ()),
        SyncGroupRequest("m", None, 1),
        HeartbeatRequest("m", None, 1),
        LeaveGroupRequest([]),
        OffsetCommitRequest("m", None, 1),
        OffsetFetchRequest([]),
    ]
    assert {refusal(request, Error.NOT_COORDINATOR).error for request in requests} == {
        Error.NOT_COORDINATOR
    }
    assert [type(refusal(request, Error.NOT_COORDINATOR)).__name__ for request in requests] == [
        type(request).__name__.replace("Request", "Response") for request in requests
    ]
    loading = [while_loading(request, CoordinatorRules()).error.name for request in requests]
    assert loading == [
        *["COORDINATOR_LOAD_IN_PROGRESS"] * 2,
        "NONE",
        *["COORDINATOR_LOAD_IN_PROGRESS"] * 3,
    ]
    assert (
        while_loading(requests[1], CoordinatorRules().of_scala_coordinator()).error
        is Error.REBALANCE_IN_PROGRESS
    )


def test_a_timer_that_no_group_set_is_a_bug():
    with pytest.raises(BugError, match="heartbeat-other"):
        fired(World().group, "heartbeat-other-a", 0)


# ------------------------------------------------------------------------- the coordinator in Scala


def test_the_old_coordinator_extends_the_initial_delay_before_the_first_generation_only():
    world = World(scala=True)
    first = world.enter("a")
    world.at(1).enter("b")
    world.at(6)
    assert first.answered_at == 6
    world.leave(*list(world.group.members))
    again = world.at(10).enter("a")
    world.at(11).enter("b")
    world.at(20)
    assert again.answered_at == 13


def test_the_old_coordinator_removes_the_members_of_a_batch_one_by_one():
    world = World(scala=True, initial_rebalance_delay=0)
    _, second, third = world.stable("a", "b", "c")
    rejoined = world.join("a-1")
    world.leave(second, third)
    assert rejoined.error == "NONE" and world.group.generation == 2
    _ = world.settle(), world.enter("d"), world.join("a-1"), world.settle()
    world.leave("a-1", "d-1")
    assert [
        note["trigger"] for note in world.told("GroupStateChanged")[-3:] if "trigger" in note
    ] == ["left"]


def test_the_old_coordinator_renews_the_session_at_a_sync_in_stable():
    world = World(scala=True, initial_rebalance_delay=0)
    (member,) = world.stable("a")
    world.at(10).sync(member)
    assert world.session(member) == 55


def test_the_old_coordinator_waits_out_the_initial_delay_when_everybody_expired():
    world = World(scala=True, initial_rebalance_delay=400)
    world.enter("a", rebalance=900)
    world.at(300)
    assert (world.state, world.group.members) == ("PreparingRebalance", {})


def test_the_old_coordinator_keeps_a_replaced_newcomer_new():
    for scala, is_new in ((True, True), (False, False)):
        world = World(scala=scala)
        world.join(instance="s")
        back = world.join(instance="s")
        assert back.error is None and world.group.members["s-2"].is_new is is_new


def test_a_commit_that_took_too_long_is_refused_and_in_the_log_all_the_same_by_and_by():
    world, (leader,) = stable("a")
    late = world.commit(leader, offsets={"t-0": 7})
    (number,) = world.group.writing
    world.log(Error.REQUEST_TIMED_OUT)
    assert (
        late.error == "COORDINATOR_NOT_AVAILABLE"
        and world.fetch("t-0").response.offsets == {"t-0": 7}
        and world.group.persisted_offsets == {}
    )
    assert written(
        world.group, number, None, 6_000_000
    ) == [] and world.group.persisted_offsets == {"t-0": 7}


def test_an_assignment_that_took_too_long_is_what_the_next_coordinator_finds_by_and_by():
    world, (leader, other) = completing("a", "b")
    world.sync(leader, {leader: "x", other: "y"})
    (number,) = world.group.writing
    before = world.group.persisted
    world.log(Error.REQUEST_TIMED_OUT)
    assert world.state == "PreparingRebalance" and world.group.persisted is before
    assert written(world.group, number, None, 6_000_000) == []
    assert {m.member_id: m.assignment for m in world.group.persisted.members} == {
        leader: "x",
        other: "y",
    }


def test_a_group_whose_creation_took_too_long_is_there_and_only_who_waits_is_told():
    world = World(write=None)
    joined = world.join(instance="s")
    world.log(Error.REQUEST_TIMED_OUT)
    assert (
        joined.error == "COORDINATOR_NOT_AVAILABLE"
        and len(world.group.members) == 1 == world.group.awaiting_join
    )
    world.at(3)
    assert world.state == "CompletingRebalance"
