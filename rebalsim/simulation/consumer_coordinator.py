"""The coordinator of a group whose members may speak the consumer protocol: the same log, timers
and queue, other rules.

The group itself is the protocol's `EitherGroup`: it becomes a consumer group with the first
member that speaks so, and turns back when none is left. Nothing is ever sent unasked; what
changes, members learn with their own next heartbeat.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rebalsim.assignors.registry import server_assignor
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.scenario import Cluster
from rebalsim.protocol import either_group
from rebalsim.protocol.classic_group import while_loading
from rebalsim.protocol.classic_member import Subscription
from rebalsim.protocol.consumer.classic_members import Said
from rebalsim.protocol.consumer.group import ConsumerGroup, ConsumerGroupSettings
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.consumer_group import load as load_consumer_group
from rebalsim.protocol.consumer_group import unload as unload_consumer_group
from rebalsim.protocol.consumer_messages import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from rebalsim.protocol.effects import Append, Effect, Note, Reply
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import OffsetCommitRequest, OffsetCommitResponse
from rebalsim.simulation.coordinator import RESTLESS, Coordinator, rules_of
from rebalsim.simulation.engine import LOG, NEVER
from rebalsim.simulation.network import Call
from rebalsim.simulation.randomness import Stream

if TYPE_CHECKING:
    from rebalsim.simulation.group_coordinator import GroupCoordinator
    from rebalsim.simulation.ports import World


class Words:
    """Classic metadata and assignments as the simulation's classic consumers write them."""

    def subscription(self, metadata: Subscription) -> Said:
        return Said(metadata.topics, metadata.owned, metadata.rack or None)

    def assigned(self, assignment: Any) -> tuple[Partition, ...]:
        return tuple(assignment) if assignment is not None else ()

    def assignment(self, partitions: tuple[Partition, ...]) -> Any:
        return partitions


def settings_of(cluster: Cluster) -> ConsumerGroupSettings:
    """The brokers' settings for consumer groups, and what these know."""
    config, habits = cluster.config, cluster.habits
    names = config.group_consumer_assignors
    return ConsumerGroupSettings(
        assignors={name: server_assignor(name).assign for name in names},
        session_timeout_us=config.group_consumer_session_timeout_us,
        heartbeat_interval_us=config.group_consumer_heartbeat_interval_us,
        max_size=config.group_consumer_max_size,
        assignment_interval_us=config.group_consumer_assignment_interval_us
        if habits.has_assignment_interval
        else 0,
        first_epoch=habits.first_epoch,
        known_members_may_join_again=habits.known_members_may_join_again,
        commits_by_partition=habits.commits_by_partition,
        classic_members_follow_target=habits.classic_members_follow_target,
    )


class ConsumerCoordinator(Coordinator):
    """One group's coordinator, for members of either protocol."""

    def __init__(
        self,
        world: World,
        name: str,
        broker: int,
        queue: GroupCoordinator,
        append: Stream,
        member_ids: Any,
    ) -> None:
        cluster: Cluster = world.scenario.cluster
        self.either = either_group.EitherGroup(
            name,
            rules_of(cluster),
            settings_of(cluster),
            Words(),
            self._new_member_id,
            cluster.config.group_consumer_migration_policy,
            image_of(world, 0),
        )
        self._images = 0
        super().__init__(world, name, broker, queue, append, member_ids)

    @property
    def group(self) -> Any:
        """What the group is at present."""
        return self.either.group

    @group.setter
    def group(self, value: Any) -> None:
        self.either.group = value

    def _offsets(self) -> dict[Any, int]:
        return self.either.offsets if isinstance(self.group, ConsumerGroup) else super()._offsets()

    # ------------------------------------------------------------------------------------ the rules

    @property
    def is_stable(self) -> bool:
        return bool(self.group.state.value == KafkaGroupState.STABLE)

    @property
    def calm_now(self) -> int:
        """In a consumer group it is the epoch whose target stands: whoever has reached it is not
        concerned with how far the others are.
        """
        group = self.group
        if not isinstance(group, ConsumerGroup):
            return super().calm_now
        stands = group.members and group.epoch == group.assignment_epoch
        return int(group.epoch) if stands else RESTLESS

    def has_reached_target(self, member_id: str, epoch: int) -> bool:
        """Has this member of a consumer group all that it is to have, and is no target due?"""
        group = self.group
        if epoch != self.calm or not isinstance(group, ConsumerGroup):
            return False
        member = group.members.get(member_id)
        return member is not None and member.is_reconciled_to(epoch)

    @property
    def session_prefix(self) -> str:
        group = self.group
        return "session:" if isinstance(group, ConsumerGroup) else group.session_prefix

    def has_settled(self, member: Any) -> bool:
        """Classic members of a consumer group beat on: any beat may tell them to join again."""
        return not isinstance(self.group, ConsumerGroup) and super().has_settled(member)

    @property
    def is_watching(self) -> bool:
        """Would the next heartbeat of anybody look at the topics?"""
        group = self.group
        return isinstance(group, ConsumerGroup) and self.engine.now >= group.refresh_due_us

    def may_refuse_after(self, request: Any) -> bool:
        """In a consumer group each member's commits go by its own epoch, and nobody takes another's
        instance id from it.
        """
        is_beat = type(request) is ConsumerGroupHeartbeatRequest
        if is_beat and isinstance(self.group, ConsumerGroup):
            return False
        return super().may_refuse_after(request)

    def _step(self, call: Call, now: int) -> list[Effect]:
        if type(call.request) is ConsumerGroupHeartbeatRequest:
            self.consumers[call.request.member_id] = call.consumer
        effects = either_group.step(self.either, call.number, call.request, now)
        if type(call.request) is OffsetCommitRequest and isinstance(self.group, ConsumerGroup):
            answer = effects[-1]
            if isinstance(answer, Reply) and answer.response.error is Error.NONE:
                effects.insert(0, Append(0, "offsets"))
        return effects

    def _fire(self, key: str, now: int) -> list[Effect]:
        return either_group.fired(self.either, key, now)

    def _log_has(self, number: int, now: int) -> list[Effect]:
        return either_group.written(self.either, number, None, now)

    def _log_is_late(self, number: int, now: int) -> list[Effect]:
        return either_group.written(self.either, number, Error.REQUEST_TIMED_OUT, now)

    def _too_late(self, request: Any) -> Any:
        is_beat = type(request) is ConsumerGroupHeartbeatRequest
        return (
            ConsumerGroupHeartbeatResponse(Error.COORDINATOR_NOT_AVAILABLE)
            if is_beat
            else super()._too_late(request)
        )

    def receive_late(self, call: Call) -> None:
        """A usual commit of a consumer group is answered at once if it is a periodic one, else
        when the log has it.
        """
        now = self.engine.now
        if not isinstance(self.group, ConsumerGroup):
            super().receive_late(call)
            return
        self.make_up(call, now)
        if call.is_quiet or call.api != KafkaApi.OFFSET_COMMIT:
            self._send(call, now)
            return
        done = self.leaves_us(now)
        self._is_written_us = max(self._is_written_us, done)
        self.engine.at(done, LOG, self.answer, call)

    def make_up(self, call: Call, at_us: int) -> None:
        """A beat or commit that came while it could change nothing but its session, and its
        offsets.
        """
        group, settings, request = self.group, self.either.settings, call.request
        if type(request) is ConsumerGroupHeartbeatRequest:
            call.response = ConsumerGroupHeartbeatResponse(
                Error.NONE, request.member_id, request.epoch, settings.heartbeat_interval_us
            )
            if isinstance(group, ConsumerGroup) and request.member_id in group.members:
                key = self.session_prefix + request.member_id
                due = at_us + settings.session_timeout_us
                timer = self.timers.get(key)
                if timer is None or timer.due_us == NEVER or timer.due_us < due:
                    self._set(key, due)
        elif isinstance(group, ConsumerGroup) and type(request) is OffsetCommitRequest:
            self.either.offsets.update(request.offsets)
            call.response = OffsetCommitResponse(Error.NONE)
        else:
            super().make_up(call, at_us)

    def _write(self, effect: Append, now: int, is_quiet: bool) -> None:
        """What the group itself writes holds up every answer, beats' too: nobody sleeps meanwhile."""
        super()._write(effect, now, is_quiet)
        if effect.number and not is_quiet:
            self.wake_sleepers()

    def topics_changed(self) -> None:
        """The brokers' topics are others now: the next heartbeat of anybody sees it."""
        self._images += 1
        self.wake_sleepers()
        self._carry_out(
            either_group.metadata_changed(
                self.either, image_of(self.world, self._images), self.engine.now
            )
        )

    # ------------------------------------------------------------------------------- another broker

    def _refusal(self, request: Any) -> Any:
        is_beat = type(request) is ConsumerGroupHeartbeatRequest
        return (
            ConsumerGroupHeartbeatResponse(Error.NOT_COORDINATOR)
            if is_beat
            else super()._refusal(request)
        )

    def _while_loading(self, request: Any) -> Any:
        if type(request) is ConsumerGroupHeartbeatRequest:
            return ConsumerGroupHeartbeatResponse(Error.COORDINATOR_LOAD_IN_PROGRESS)
        return while_loading(request, self.either.rules)

    def _let_go(self, now: int) -> None:
        group = self.group
        if not isinstance(group, ConsumerGroup):
            super()._let_go(now)
        elif self.is_up:
            self._carry_out(unload_consumer_group(group))

    def _load(self, now: int) -> list[Effect]:
        group = self.group
        if not isinstance(group, ConsumerGroup):
            return super()._load(now)
        cluster = self.world.scenario.cluster
        self.either.settings = group.settings = settings_of(
            replace(cluster, habits=self.world.brokers.habits[self.broker])
        )
        return load_consumer_group(group, now)

    # --------------------------------------------------------------------------------- what is told

    def _tell(self, note: Note, now: int) -> None:
        owners = note.facts.get("owners")
        if owners is not None:
            names = self.consumers
            named = tuple(
                [names[member_id].name if member_id in names else member_id for member_id in owners]
            )
            note = Note(note.kind, {**note.facts, "owners": named})
        super()._tell(note, now)


def image_of(world: World, version: int) -> TopicsImage:
    """The topics that exist, as the brokers know them."""
    racks = world.replica_racks() or {}
    topics = {
        name: Topic(world.topic_id(name), count, racks.get(name, ()))
        for name, count in world.partitions.items()
        if count
    }
    return TopicsImage(topics, version)
