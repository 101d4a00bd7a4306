"""A stream thread's consumer in a streams group (KIP-1071): heartbeats that bring tasks, taken over
when the thread next comes by in its poll, and acknowledged at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.protocol.classic_member import exception_name
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.streams_messages import (
    INCORRECTLY_PARTITIONED_TOPICS,
    JOINS,
    LEAVES,
    MISSING_INTERNAL_TOPICS,
    MISSING_SOURCE_TOPICS,
    NO_TASKS,
    NOT_READY,
    Roles,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from rebalsim.simulation.streams.application import ThreadSettings
from rebalsim.simulation.streams.caller import Caller
from rebalsim.simulation.streams.hosts import WITHOUT_COORDINATOR, StreamsHost
from rebalsim.simulation.streams.port import NEVER, Port, Steps
from rebalsim.simulation.streams.resting import Beats

if TYPE_CHECKING:
    from rebalsim.simulation.streams.stream_thread import StreamThread

__all__ = [
    "INCORRECTLY_PARTITIONED_TOPICS",
    "MISSING_INTERNAL_TOPICS",
    "MISSING_SOURCE_TOPICS",
    "StreamsMember",
]


class StreamsMember:
    """The member; its id is its own. Its network thread beats on; what it brought is acted on when
    the application's thread next enters poll(), save for the answer to its join.
    """

    def __init__(
        self,
        port: Port,
        host: StreamsHost,
        thread: StreamThread,
        client_id: str,
        settings: ThreadSettings,
        member_id: str,
    ) -> None:
        self._port, self._host, self._thread = port, host, thread
        self._client_id, self._settings = client_id, settings
        self.member_id = member_id
        self.generation = 0  # the epoch
        self.is_rebalancing = False
        self.is_ready = False  # as the thread knows it
        self._told_ready = False  # as the last answer had it
        self._target = NO_TASKS
        self._reconciled = NO_TASKS
        self._said: Roles | None = None  # owned tasks as last sent
        self._to_take_over = False
        self._takes_over = False
        self._lost = False
        self._joins = True
        self._fresh = True  # no answer came since it joined
        self.acts_at_once = True  # until the first answer was taken over
        self._in_flight = False
        self._beat_due = NEVER
        self._rest: Beats | None = None  # beats that are left out
        self._interval_us = host.group.settings.heartbeat_interval_us
        self._sent_us = 0
        self._frozen = False
        self._gone = False
        self._attempt = 0
        self._caller = Caller(port, host, thread, self._found_coordinator)
        self._missing_since: int | None = None
        self._polled_us = 0
        self._held: list[tuple[Callable[..., None], tuple[object, ...]]] = []

    # ------------------------------------------------------------------------ what the thread asks

    def begin(self) -> None:
        self._beat()

    def polled(self) -> None:
        self._polled_us = self._port.now
        may_join = not self._in_flight and self._caller.coordinator is not None
        if self._joins and may_join and not self._gone and self.generation == 0:
            self._beat()

    def has_work(self) -> bool:
        return (self._lost or self._to_take_over) and not self._gone

    def pass_of_poll(self) -> Steps:
        if self._lost:
            self._lost = False
            yield from self._thread.lose()
        while self._to_take_over and not self._gone:
            self._to_take_over = False
            self._takes_over = True
            target = self._target
            self.is_ready = self._told_ready
            gone = sorted(self._reconciled.active - target.active)
            if gone:
                yield from self._thread.revoke(gone)
            yield from self._thread.assign(
                self.generation, sorted(target.active), sorted(target.standby)
            )
            self._takes_over = False
            self.acts_at_once = False
            self._reconciled = target
            if not self._in_flight and self._caller.coordinator is not None:
                self._beat()

    def request_rejoin(self, why: str) -> None:
        """Nothing: the broker decides when."""

    def close(self, leave: bool) -> None:
        """Every close leaves, whatever it was told."""
        self.end_rest()
        self._thread.heard("LeaveSent", reason="the consumer is being closed")
        request = StreamsGroupHeartbeatRequest(self.member_id, LEAVES, client_id=self._client_id)
        self._caller.tell(request)
        self.vanish()

    def commit(self) -> None:
        """Offsets are committed with the member's epoch; the session does not hang on it."""

    def topics_changed(self, *, is_gone: bool) -> None:
        """The broker minds the topics."""

    def vanish(self) -> None:
        self.end_rest()
        self._gone = True
        self._attempt += 1

    def healed(self) -> None:
        self._caller.healed()

    def freeze(self) -> None:
        self.end_rest()
        self._frozen = True

    def thaw(self) -> None:
        self._frozen = False
        held, self._held = self._held, []
        for then, arguments in held:
            then(*arguments)
        if self._beat_due <= self._port.now and not self._gone:
            self._rang(self._beat_due)

    # ------------------------------------------------------------------------------------ heartbeats

    def _beat(self, left_us: int | None = None) -> None:
        joins = self._joins
        owned: Roles | None = None
        if joins:
            owned = NO_TASKS
        elif self._said != self._reconciled:
            owned = self._reconciled
        self._said = owned if owned is not None else self._said
        request = StreamsGroupHeartbeatRequest(
            self.member_id,
            JOINS if joins else self.generation,
            rebalance_timeout_us=self._settings.max_poll_us if joins else -1,
            topology=self._host.topology if joins else None,
            active=None if owned is None else owned.active,
            standby=None if owned is None else owned.standby,
            warmup=None if owned is None else owned.warmup,
            process=self._thread.process if joins else None,
            client_id=self._client_id,
        )
        self._in_flight = True
        attempt = self._attempt
        if joins:
            self._thread.heard("RejoinRequested", reason="joins")
            self._thread.told_rebalance("joins")
        self._sent_us = self._port.now if left_us is None else left_us
        self._plan_beat(self._sent_us + self._interval_us)
        self._caller.ask(
            request, lambda answer: self._unless_frozen(attempt, answer), left_us=left_us
        )

    def _unless_frozen(self, attempt: int, answer: StreamsGroupHeartbeatResponse) -> None:
        if self._frozen:
            self._held.append((self._answered, (attempt, answer)))
        else:
            self._answered(attempt, answer)

    def _plan_beat(self, at_us: int) -> None:
        self._beat_due = at_us
        self._port.call(at_us, self._rang, at_us, self._thread.beat_rank)

    def _rang(self, due_us: int) -> None:
        if (
            due_us != self._beat_due
            or self._gone
            or self._frozen
            or self._caller.coordinator is None
        ):
            return
        if self._is_overdue:
            self._leave_for_stuck()
        elif not self._in_flight and (self.generation > 0 or self._joins):
            self._beat()
        else:
            self._plan_beat(self._port.now + self._interval_us)

    @property
    def _is_overdue(self) -> bool:
        too_long = self._port.now - self._polled_us > self._settings.max_poll_us
        return too_long and self._thread.is_stuck and self.generation > 0

    def held_up(self) -> None:
        """The thread comes to no poll() for a while: the background thread watches its timer."""
        due_us = self._polled_us + self._settings.max_poll_us + 1
        self._port.call(max(due_us, self._port.now), self._look_at_poll)

    def _look_at_poll(self, _: object) -> None:
        knows_whom = self._caller.coordinator is not None
        if knows_whom and self._is_overdue and not (self._gone or self._frozen):
            self._leave_for_stuck()

    def _leave_for_stuck(self) -> None:
        """The poll timeout: out of the group until the thread polls again."""
        self._thread.heard("PollExpired", last_poll_us=self._polled_us)
        self._thread.heard("LeaveSent", reason="consumer poll timeout has expired.")
        request = StreamsGroupHeartbeatRequest(self.member_id, LEAVES, client_id=self._client_id)
        self._caller.tell(request)
        self._reset()
        self._beat_due = NEVER

    def _answered(self, attempt: int, answer: StreamsGroupHeartbeatResponse) -> None:
        if attempt != self._attempt or self._gone:
            return
        self._in_flight = False
        is_no_streams_group = answer.error is Error.GROUP_ID_NOT_FOUND and self._joins
        if not is_no_streams_group and answer.error in (
            Error.FENCED_MEMBER_EPOCH,
            Error.UNKNOWN_MEMBER_ID,
            Error.GROUP_ID_NOT_FOUND,
        ):
            self._reset()
            self._beat()
            self._thread.wake()
            return
        if answer.error in WITHOUT_COORDINATOR:
            self._said = None
            self._caller.turned_away(answer.error)
            return
        if answer.error is not Error.NONE:
            self._thread.refused(answer.text, exception_name(answer.error))
            return
        self._joins = False
        self.generation = answer.epoch
        self._interval_us = answer.heartbeat_interval_us
        self._plan_beat(self._sent_us + self._interval_us)
        self._read(answer)

    def _ends_for(self, statuses: tuple[int, ...]) -> bool:
        """Topics that do not fit the topology end the thread at once, missing ones after two
        intervals.
        """
        if INCORRECTLY_PARTITIONED_TOPICS in statuses:
            self._thread.refused("topics are incorrectly partitioned", "TopologyException")
            return True
        if MISSING_SOURCE_TOPICS not in statuses:
            self._missing_since = None
            return False
        if self._missing_since is None:
            self._missing_since = self._port.now
        if self._port.now - self._missing_since < 2 * self._interval_us:
            return False
        self._thread.refused("source topics are missing", "MissingSourceTopicException")
        return True

    def _found_coordinator(self) -> None:
        """It says all that it has."""
        self._attempt += self._in_flight
        self._in_flight, self._said = False, None
        if not self._gone and not self._frozen:
            self._beat()

    def _read(self, answer: StreamsGroupHeartbeatResponse) -> None:
        """New tasks, or the same under another readiness, are taken over in the thread's poll."""
        if self._ends_for(answer.statuses):
            return
        ready = not any(status in NOT_READY for status in answer.statuses)
        flips = ready != self._told_ready
        changed = answer.tasks is not None and (self._fresh or answer.tasks != self._target)
        if answer.tasks is not None:
            self._target = answer.tasks
            self._thread.heard(
                "AssignmentReceived",
                generation=answer.epoch,
                partitions=self._thread.inputs_of(sorted(answer.tasks.active)),
            )
        self._fresh = False
        self._told_ready = ready
        if changed or flips:
            self._to_take_over = True
            self._thread.has_been_told()
        elif self._said != self._reconciled and not self._takes_over:
            self._beat()
        else:
            self.come_to_rest()

    def come_to_rest(self) -> None:
        """Where none of its beats can change anything they are left out, until something comes up."""
        busy = self._takes_over or self._to_take_over or self._lost or not self._told_ready
        if busy or self._gone or self._frozen or self._thread.is_stuck or self._rest is not None:
            return
        if self._in_flight or self._said != self._reconciled or self._caller.is_cut_off:
            return
        if self._host.rest(self.member_id, self._thread.beat_rank, self.end_rest):
            self._rest = Beats(self._beat_due, self._interval_us)
            self._beat_due = NEVER

    def end_rest(self) -> None:
        """Something came up: its beats are played again."""
        if self._rest is not None:
            beats, self._rest = self._rest, None
            self._thread.make_up_commits()
            made_up = self._host.heard(self.member_id, beats)
            self._plan_beat(made_up.next_us)
            if made_up.under_way_us is not None:
                self._beat(made_up.under_way_us)

    @property
    def rests(self) -> bool:
        return self._rest is not None

    def _reset(self) -> None:
        self.generation = 0
        self._joins = True
        self._fresh = self.acts_at_once = True
        self._lost = True
        self._attempt += 1
        self._in_flight = False
        self._target = self._reconciled = NO_TASKS
        self._said = None
        self._to_take_over = False
        self.is_ready = self._told_ready = False


def tasks_of(roles: Roles) -> tuple[TaskId, ...]:
    """All tasks, whatever the role."""
    return tuple(sorted(roles.active | roles.standby | roles.warmup))
