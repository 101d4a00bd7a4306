"""Online upgrade and downgrade: classic members in a consumer group, and groups that change
their kind.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from consumer_talk import MS, Error, topic_id

from rebalsim.domain.ids import Partition
from rebalsim.domain.server_target import ServerMember, Targets
from rebalsim.protocol import either_group
from rebalsim.protocol.classic.group import ClassicGroup
from rebalsim.protocol.classic.rules import CoordinatorRules
from rebalsim.protocol.consumer.classic_members import Said
from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_messages import ConsumerGroupHeartbeatRequest
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Reply, SetTimer
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    JoinGroupRequest,
    LeaveGroupRequest,
    LeavingMember,
    OffsetCommitRequest,
    OffsetFetchRequest,
    SyncGroupRequest,
)

A = topic_id("a")
P = [Partition("a", i) for i in range(4)]


class Words:
    """Metadata is (topics, owned); an assignment is a tuple of partitions; "custom" is one of a
    custom assignor.
    """

    def subscription(self, metadata: Any) -> Said:
        return Said(metadata[0], metadata[1])

    def assigned(self, assignment: Any) -> tuple[Partition, ...]:
        if assignment == "custom":
            raise ValueError("user data")
        return assignment or ()

    def assignment(self, partitions: tuple[Partition, ...]) -> Any:
        return partitions


class World:
    """One group id at its coordinator, whose assignor deals partitions out in the order of
    member ids.
    """

    def __init__(self, policy: str = "bidirectional", **settings: Any) -> None:
        def deal(topics: dict[str, int], members: Any, homogeneous: bool | None = None) -> Targets:
            ids = sorted(m.member_id for m in members)
            share = {
                m: tuple(p for p in range(topics[A]) if p % len(ids) == i)
                for i, m in enumerate(ids)
            }
            return {
                m.member_id: {A: share[m.member_id]}
                if share[m.member_id] and isinstance(m, ServerMember)
                else {}
                for m in members
            }

        self.made = 0
        self.either = either_group.EitherGroup(
            "g",
            CoordinatorRules(initial_rebalance_delay_us=0),
            ConsumerGroupSettings({"uniform": deal}, assignment_interval_us=0, **settings),
            Words(),
            self._new_id,
            policy,
            TopicsImage({"a": Topic(A, 4)}, 1),
        )
        self.now_us = 0
        self.number = 0
        self.timers: dict[str, int] = {}
        self.answers: dict[int, Any] = {}

    def _new_id(self, prefix: str) -> str:
        self.made += 1
        return f"{prefix}-{self.made}"

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.timers[effect.key] = effect.due_us
            elif isinstance(effect, CancelTimer):
                self.timers.pop(effect.key, None)
            elif isinstance(effect, Reply):
                self.answers[effect.request] = effect.response
            elif isinstance(effect, Append):
                self._do(either_group.written(self.either, effect.number, None, self.now_us))

    def at(self, ms: int) -> None:
        while self.timers:
            key = min(self.timers, key=lambda k: self.timers[k])
            if self.timers[key] > ms * MS:
                break
            self.now_us = self.timers.pop(key)
            self._do(either_group.fired(self.either, key, self.now_us))
        self.now_us = ms * MS

    def send(self, request: Any) -> Any:
        self.number += 1
        self._do(either_group.step(self.either, self.number, request, self.now_us))
        self.at(self.now_us // MS)
        return self.answers.get(self.number)

    def join(
        self,
        member: str,
        owned: tuple[Partition, ...] = (),
        instance: str | None = None,
        names: str = "range",
    ) -> Any:
        return self.send(
            JoinGroupRequest(
                member,
                instance,
                "c",
                10_000 * MS,
                20_000 * MS,
                tuple((name, (("a",), owned)) for name in names.split()),
            )
        )

    def sync(self, member: str, generation: int, **shares: Any) -> Any:
        return self.send(SyncGroupRequest(member, None, generation, "consumer", None, shares))

    def beat(self, member: str, generation: int) -> Any:
        return self.send(HeartbeatRequest(member, None, generation)).error

    def new_kind(
        self,
        member: str,
        epoch: int = 0,
        owned: dict[str, Any] | None = None,
        instance: str | None = None,
    ) -> Any:
        if epoch == 0:
            return self.send(
                ConsumerGroupHeartbeatRequest(
                    member, 0, instance, None, 30_000 * MS, ["a"], owned={}
                )
            )
        return self.send(ConsumerGroupHeartbeatRequest(member, epoch, instance, owned=owned))

    @property
    def consumer(self) -> ConsumerGroup:
        assert isinstance(self.either.group, ConsumerGroup)
        return self.either.group

    @property
    def classic(self) -> ClassicGroup:
        assert isinstance(self.either.group, ClassicGroup)
        return self.either.group


def one_classic(policy: str = "bidirectional", **settings: Any) -> tuple[World, str]:
    """A stable classic group: one member has all of topic a, in generation 1."""
    world = World(policy, **settings)
    member = world.join("").member_id
    assert world.join(member).generation == 1
    world.sync(member, 1, **{member: tuple(P)})
    assert world.classic.state.value == "Stable"
    return world, member


def mixed(**settings: Any) -> tuple[World, str]:
    """That group after z, a member of the new kind, has joined; the classic one has a0 and a2 in
    its target.
    """
    world, old = one_classic(**settings)
    answer = world.new_kind("z")
    assert (answer.error, answer.epoch, answer.assignment) == (Error.NONE, 2, {})
    return world, old


def test_a_group_becomes_what_its_first_joiner_speaks() -> None:
    assert World().new_kind("z").error is Error.NONE
    world, _ = one_classic()
    assert world.classic


def test_an_empty_classic_group_becomes_a_new_consumer_group() -> None:
    world, old = one_classic()
    world.send(LeaveGroupRequest([LeavingMember(old)]))
    assert world.classic.state.value == "Empty"
    assert world.new_kind("z").epoch == 2 and world.consumer.epoch == 2


def test_an_empty_consumer_group_becomes_a_new_classic_group() -> None:
    world = World()
    world.new_kind("z")
    world.new_kind("z", -1)
    world.join("")
    assert world.classic.generation == 0


def test_a_heartbeat_that_does_not_join_finds_no_consumer_group() -> None:
    world, _ = one_classic()
    assert world.new_kind("z", 3).error is Error.GROUP_ID_NOT_FOUND and world.classic


def test_an_upgrade_keeps_generation_and_assignment_and_the_joiner_bumps_the_epoch() -> None:
    world, old = mixed()
    member = world.consumer.members[old]
    assert (member.epoch, member.assigned) == (1, {A: dict.fromkeys(range(4), 1)})
    assert (world.consumer.epoch, world.consumer.assignment_epoch) == (2, 2)
    assert f"session:{old}" in world.timers and not [
        key for key in world.timers if key.startswith("heartbeat-")
    ]


@pytest.mark.parametrize("policy", ["downgrade", "disabled"])
def test_an_upgrade_that_the_policy_forbids_is_refused(policy: str) -> None:
    world, _ = one_classic(policy)
    answer = world.new_kind("z")
    assert answer.error is Error.GROUP_ID_NOT_FOUND and "online upgrade is disabled" in answer.text
    assert world.classic.state.value == "Stable"


def test_an_upgrade_is_refused_where_a_custom_assignors_user_data_would_be_lost() -> None:
    world, old = one_classic()
    world.classic.members[old].assignment = "custom"
    assert "custom assignor" in world.new_kind("z").text and world.classic


def test_an_upgrade_is_refused_where_the_group_is_too_large() -> None:
    world, _ = one_classic(max_size=0)
    assert "maximum size" in world.new_kind("z").text


def test_who_waits_at_the_barrier_is_told_to_join_again() -> None:
    world, old = one_classic()
    second = world.join("").member_id
    assert world.join(second) is None
    waiting = world.number
    world.new_kind("z")
    assert world.answers[waiting].error is Error.REBALANCE_IN_PROGRESS
    assert sorted(world.consumer.members) == sorted([old, second, "z"])


def test_a_classic_member_is_told_by_its_heartbeat_and_gives_up_in_two_joins() -> None:
    world, old = mixed()
    assert world.beat(old, 1) is Error.REBALANCE_IN_PROGRESS
    assert world.timers[f"join:{old}"] == 20_000 * MS
    answer = world.join(old, tuple(P))
    assert (answer.generation, answer.leader, answer.members, answer.protocol) == (
        1,
        "",
        (),
        "range",
    )
    assert f"join:{old}" not in world.timers and f"sync:{old}" in world.timers
    assert world.sync(old, 1).assignment == (P[0], P[2])
    assert world.beat(old, 1) is Error.REBALANCE_IN_PROGRESS, "it owes a revocation"
    assert world.join(old, (P[0], P[2])).generation == 2
    assert world.sync(old, 2).assignment == (P[0], P[2]) and f"sync:{old}" not in world.timers
    assert world.beat(old, 2) is Error.NONE
    assert world.new_kind("z", 2, {}).assignment == {A: (1, 3)}


def test_a_classic_member_that_waits_for_a_release_is_told_only_when_all_it_waits_for_is_free() -> (
    None
):
    world = World()
    world.new_kind("z")
    first = world.join("").member_id
    answer = world.join(first)
    assert answer.generation == 3 and world.sync(first, 3).assignment == ()
    assert world.beat(first, 3) is Error.NONE, "z still has it all"
    world.new_kind("z", 2)
    assert world.beat(first, 3) is Error.NONE
    world.new_kind("z", 2, {A: [1, 3]})
    assert world.beat(first, 3) is Error.REBALANCE_IN_PROGRESS
    assert world.sync(first, world.join(first).generation).assignment == (P[0], P[2])


def test_a_classic_members_heartbeat_computes_nothing() -> None:
    world, old = mixed()
    either_group.metadata_changed(world.either, TopicsImage({"a": Topic(A, 6)}, 2), world.now_us)
    world.beat(old, 1)
    assert world.consumer.epoch == 2


@pytest.mark.parametrize("follows_target", [True, False])
def test_up_to_4_2_a_classic_member_is_told_as_soon_as_the_group_epoch_is_ahead_and_since_4_3_once_the_target_is(
    follows_target: bool,
) -> None:
    world, old = mixed(classic_members_follow_target=follows_target)
    world.new_kind("y")
    for owned in ((P[0],), (P[0],)):
        world.sync(old, world.join(old, owned).generation)
    assert world.beat(old, 3) is Error.NONE
    world.new_kind("y", -1)
    assert (
        world.consumer.epoch,
        world.consumer.assignment_epoch,
        world.consumer.members[old].epoch,
    ) == (4, 3, 3)
    told = Error.NONE if follows_target else Error.REBALANCE_IN_PROGRESS
    assert world.beat(old, 3) is told and world.sync(old, 3).error is told
    world.new_kind("z", world.consumer.members["z"].epoch)  # its beat has the target computed
    assert world.beat(old, 3) is Error.REBALANCE_IN_PROGRESS


def test_a_classic_member_that_does_not_join_again_in_time_is_removed() -> None:
    world, old = mixed()
    world.beat(old, 1)
    for ms in (9_000, 18_000):
        world.at(ms)
        world.beat(old, 1)
    world.at(20_001)
    assert old not in world.consumer.members


def test_a_classic_member_that_does_not_sync_in_time_is_removed() -> None:
    world, old = mixed()
    world.join(old, tuple(P))
    for ms in (9_000, 18_000):
        world.at(ms)
        world.beat(old, 1)
    world.at(20_001)
    assert old not in world.consumer.members


def test_a_classic_members_session_is_its_own() -> None:
    world, old = mixed()
    world.at(9_999)
    assert old in world.consumer.members
    world.at(10_001)
    assert old not in world.consumer.members


def test_a_sync_behind_the_target_is_told_to_join_again() -> None:
    world, old = mixed()
    assert world.sync(old, 1).error is Error.REBALANCE_IN_PROGRESS and f"join:{old}" in world.timers


@pytest.mark.parametrize(
    "names, error",
    [("range", Error.MEMBER_ID_REQUIRED), ("sticky", Error.INCONSISTENT_GROUP_PROTOCOL)],
)
def test_a_classic_joiner_must_share_a_protocol_with_all_classic_members(
    names: str, error: Error
) -> None:
    world, _ = mixed()
    assert world.join("", names=names).error is error


def test_the_policy_disabled_keeps_classic_joiners_out() -> None:
    world = World("disabled")
    world.new_kind("z")
    assert world.join("").error is Error.INCONSISTENT_GROUP_PROTOCOL


def test_members_of_the_new_kind_are_unknown_to_classic_requests_and_a_wrong_generation_is_illegal() -> (
    None
):
    world, old = mixed()
    assert (
        world.beat("z", 2) is Error.UNKNOWN_MEMBER_ID
        and world.beat("nobody", 1) is Error.UNKNOWN_MEMBER_ID
    )
    assert (
        world.beat(old, 7) is Error.ILLEGAL_GENERATION
        and world.sync(old, 7).error is Error.ILLEGAL_GENERATION
    )


def test_a_static_member_may_change_sides_without_waiting_for_its_old_self() -> None:
    world = World()
    world.new_kind("z", instance="i1")
    world.new_kind("y")
    answer = world.join("", instance="i1")
    assert answer.error is Error.NONE and "z" not in world.consumer.members
    assert world.consumer.statics["i1"] == answer.member_id


def test_when_the_last_of_the_new_kind_leaves_the_group_is_classic_again_with_its_targets_and_rebalances() -> (
    None
):
    world, old = mixed()
    world.new_kind("z", -1)
    assert (world.classic.generation, world.classic.state.value, list(world.classic.members)) == (
        2,
        "PreparingRebalance",
        [old],
    )
    assert world.classic.members[old].assignment == (P[0], P[2])
    assert not [key for key in world.timers if key.startswith(("session:", "rebalance:"))]
    assert world.beat(old, 2) is Error.REBALANCE_IN_PROGRESS
    assert world.join(old).generation == 3


def test_when_the_last_of_the_new_kind_expires_the_group_is_classic_again() -> None:
    world, old = mixed()
    for ms in range(5_000, 50_000, 5_000):
        world.at(ms)
        if isinstance(world.either.group, ConsumerGroup):
            world.join(old, tuple(P))
            world.sync(old, world.consumer.members[old].epoch)
    assert world.classic.generation == 2


def test_a_downgrade_that_the_policy_forbids_leaves_a_consumer_group_of_classic_members() -> None:
    world, old = one_classic("upgrade")
    world.new_kind("z")
    world.new_kind("z", -1)
    assert list(world.consumer.members) == [old] and world.consumer.epoch == 3


def test_the_last_of_the_new_kind_may_be_replaced_by_its_classic_self_without_a_rebalance() -> None:
    world = World()
    world.new_kind("z", instance="i1")
    answer = world.join("", instance="i1")
    assert (answer.error, answer.generation) == (Error.NONE, 2)
    assert world.classic.state.value == "Stable" and world.classic.members[
        answer.member_id
    ].assignment == tuple(P)
    assert world.send(SyncGroupRequest(answer.member_id, "i1", 2)).assignment == tuple(P)


def test_several_members_that_leave_in_one_request_bump_the_epoch_once() -> None:
    world, old = mixed()
    second = world.join("").member_id
    world.join(second)
    epoch = world.consumer.epoch
    answer = world.send(
        LeaveGroupRequest([LeavingMember(old), LeavingMember("nobody"), LeavingMember(second)])
    )
    assert [m.error for m in answer.members] == [Error.NONE, Error.UNKNOWN_MEMBER_ID, Error.NONE]
    assert world.consumer.epoch == epoch + 1 and list(world.consumer.members) == ["z"]


def test_offsets_survive_every_change_of_kind() -> None:
    world, old = one_classic()
    world.send(OffsetCommitRequest(old, None, 1, {P[0]: 5}))
    world.new_kind("z")
    assert world.send(OffsetFetchRequest(P)).offsets == {P[0]: 5}
    assert world.send(OffsetCommitRequest(old, None, 1, {P[1]: 6})).error is Error.NONE
    assert (
        world.send(OffsetCommitRequest(old, None, 0, {P[1]: 7})).error is Error.ILLEGAL_GENERATION
    )
    assert (
        world.send(OffsetCommitRequest("z", None, 1, {P[1]: 7})).error is Error.STALE_MEMBER_EPOCH
    )
    world.new_kind("z", -1)
    assert world.send(OffsetFetchRequest(P)).offsets == {P[0]: 5, P[1]: 6}


def test_a_sync_timer_survives_a_downgrade_and_removes_its_member_if_the_group_was_upgraded_again_meanwhile() -> (
    None
):
    world, old = mixed()
    world.join(old, tuple(P))
    world.at(9_000)
    world.beat(old, 1)
    world.new_kind("z", -1)
    world.at(18_000)
    world.new_kind("y")
    world.at(20_001)
    assert list(world.consumer.members) == ["y"]


def test_timers_of_the_former_kind_do_nothing() -> None:
    world, _ = mixed()
    for key in ("join-g", "sync-g", "heartbeat-g-x"):
        assert either_group.fired(world.either, key, world.now_us) == []
    classic, _ = one_classic()
    for key in ("session:x", "rebalance:x", "join:x", "sync:x", "regexes"):
        assert either_group.fired(classic.either, key, classic.now_us) == []


def test_an_upgrade_while_a_newcomer_with_other_protocols_waits_breaks_as_in_kafka() -> None:
    world, old = one_classic()
    second = world.join("", names="range sticky").member_id
    world.join(second, names="range sticky")
    world.classic.members[second].protocols = (("sticky", (("a",), ())),)
    assert world.new_kind("z").error is Error.UNKNOWN_SERVER_ERROR and world.classic.members[old]


def test_an_upgrade_takes_over_a_group_whose_only_member_left_before_it_was_complete() -> None:
    world = World()
    world.either.rules = replace(world.either.rules, initial_rebalance_delay_us=3_000 * MS)
    world.new_kind("y")
    world.new_kind("y", -1)  # so that the classic group is made anew, by these rules
    pending = world.join("").member_id
    world.join(pending)
    world.send(LeaveGroupRequest((LeavingMember(pending, None, None),)))
    answer = world.new_kind("z")
    assert (answer.error, answer.epoch) == (Error.NONE, world.consumer.epoch)


def test_a_classic_member_is_not_told_of_partitions_of_a_topic_that_has_been_deleted() -> None:
    world, old = mixed()
    world.join(old, tuple(P))
    world._do(either_group.metadata_changed(world.either, TopicsImage({}, 2), world.now_us))
    assert world.sync(old, world.consumer.members[old].epoch).assignment == ()


def test_a_static_member_that_gives_up_its_expression_with_its_protocol_leaves_a_rebalance_behind() -> (
    None
):
    world = World()
    world.send(
        ConsumerGroupHeartbeatRequest("z", 0, "i1", None, 30_000 * MS, ["a"], regex="a.*", owned={})
    )
    world.at(1_000)
    world.new_kind("z", world.consumer.members["z"].epoch, instance="i1")
    world.join("", instance="i1")
    assert world.classic.state.value != "Stable"


def test_the_timers_of_a_classic_member_that_turned_to_the_new_protocol_go_with_it() -> None:
    world, old = mixed()
    assert world.sync(old, 1).error is Error.REBALANCE_IN_PROGRESS and f"join:{old}" in world.timers
    world.new_kind(old)
    world.new_kind(old, -1)
    assert not [key for key in world.timers if key.endswith(f":{old}")]
