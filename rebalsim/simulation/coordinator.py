"""A group's coordinator at work: requests in the order of their arrival, its timers, its log. The
rules are the protocol's.

One event at a time, of one queue for all groups of a partition (group_coordinator.py). A member
that is quiet is not heard: what its beats would have done is made up when it matters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.draws import most_of
from rebalsim.domain.ids import Partition
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.membership import Arrival
from rebalsim.domain.scenario import Cluster
from rebalsim.protocol.classic_group import (
    ClassicGroup,
    CoordinatorRules,
    fired,
    load,
    refusal,
    step,
    unload,
    while_loading,
    written,
)
from rebalsim.protocol.consumer_messages import ConsumerGroupHeartbeatRequest
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
)
from rebalsim.protocol.states import ClassicState
from rebalsim.protocol.wire_sizes import assignment_bytes, members_bytes_at_most, subscription_bytes
from rebalsim.simulation.costs import answering_us, taking_in_us
from rebalsim.simulation.engine import ARRIVES, LOG, NEVER, RANKS, TIMER, Engine
from rebalsim.simulation.network import DISCONNECTED, Call
from rebalsim.simulation.randomness import Stream
from rebalsim.trace.events import EVENT_CLASSES, CoordinatorMoved

if TYPE_CHECKING:
    from rebalsim.simulation.group_coordinator import GroupCoordinator
    from rebalsim.simulation.ports import World

STABLE = ClassicState.STABLE
RESTLESS = -1
_USUAL = (
    HeartbeatRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)  # may come in any state of the group


def _is_news(request: Any) -> bool:
    """May this change something for everybody in a settled group?"""
    kind = type(request)
    if kind is JoinGroupRequest:  # one without an id is only given one
        return bool(request.member_id or request.instance_id or request.version < 4)
    if kind is ConsumerGroupHeartbeatRequest:
        return not request.is_plain
    return kind not in _USUAL


class Timer:
    """One key's timer: the due instant may move on without another entry in the queue."""

    __slots__ = ("due_us", "key", "rings_us")

    def __init__(self, key: str) -> None:
        self.key = key
        self.due_us = NEVER
        self.rings_us = NEVER


def rules_of(cluster: Cluster) -> CoordinatorRules:
    """The brokers' settings as the coordinator's rules have them; which coordinator is a matter
    of their habits.
    """
    config = cluster.config
    rules = CoordinatorRules(
        config.group_initial_rebalance_delay_us,
        config.group_min_session_timeout_us,
        config.group_max_session_timeout_us,
        config.group_max_size,
        max_record_bytes=config.message_max_bytes,
        metadata_bytes=subscription_bytes,
        assignment_bytes=assignment_bytes,
        members_bytes_at_most=members_bytes_at_most,
    )
    return rules.of_scala_coordinator() if cluster.habits.has_scala_coordinator else rules


class Coordinator:
    """The coordinator of one classic group, on the broker where it lives now."""

    def __init__(
        self,
        world: World,
        name: str,
        broker: int,
        queue: GroupCoordinator,
        append: Stream,
        member_ids: Any,
    ) -> None:
        self.world = world
        self.engine: Engine = world.engine
        self.queue = queue  # whoever works for this group, and for others of its partition
        self.name = name
        self.broker = broker
        self.is_up = True
        cluster: Cluster = world.scenario.cluster
        self.group = ClassicGroup(name, rules_of(cluster), self._new_member_id)
        self.member_ids = member_ids  # (consumer, base, how many it was given before) → the id
        self.consumers: dict[str, Any] = {}  # member id → the consumer that holds it …
        self.places: dict[str, int] = {}  # … and how many it had before
        self._given: dict[str, int] = {}
        self.waiting: dict[int, Call] = {}  # requests without an answer so far
        self.timers: dict[str, Timer] = {}
        self.calm = RESTLESS  # see calm_now, as it was after the last step
        self._append = cluster.log_append
        self._replication = cluster.replication
        self._linger_us = max(0, cluster.config.group_coordinator_append_linger_us)
        self._patience_us = cluster.config.offsets_commit_timeout_us
        self.writes_in_time = (
            self._linger_us + most_of(self._append) + most_of(self._replication)
            <= self._patience_us
        )
        self._stream = append
        self._is_written_us = 0  # until when the log has writes that are not committed
        self.silent_writers: dict[int, Any] = {}  # who sleeps through commits that others wait for
        self._asker: Any = None
        self._moves = 0  # how often it changed its broker

    # -------------------------------------------------------------------------------- what comes in

    def receive(self, call: Call) -> None:
        """A request arrived."""
        link = call.link
        if link.at_work is not call:  # else its turn has come
            if link.at_work is not None:
                link.waiting.append(call)
                return
            if not call.is_quiet:
                link.at_work = call
        if self.engine.is_apart:  # some while ago, from one who was quiet then
            self.receive_late(call)
            return
        costs = self.world.machine.costs
        if not call.is_quiet and (takes := taking_in_us(costs, call.api, call.request, self.size)):
            begins_us = self.queue.desk.begins_us(self.engine.now, takes)
            if begins_us > self.engine.now:
                self.engine.at(begins_us, link.rank + ARRIVES, self._turn_comes, call)
                return
        self.queue.put(self._handle, call)

    def _turn_comes(self, call: Call) -> None:
        """What came before it is done with."""
        self.queue.put(self._handle, call)

    @property
    def size(self) -> int:
        """How many members the group has."""
        return len(self.group.members)

    def _handle(self, call: Call) -> None:
        """Its turn has come."""
        if not self.is_up or call.broker != self.broker:
            self._turn_away(call)
            self._take_next(call, self.engine.now)
            return
        if _is_news(call.request):
            self._wake_for(call.request)
        self._asker = call.consumer
        self.waiting[call.number] = call
        if call.api == KafkaApi.OFFSET_FETCH:
            self._wake_owners(call.request.partitions)
        self._carry_out(self._step(call, self.engine.now), call.is_quiet)

    def _wake_for(self, request: Any) -> None:
        """This request may be news for those who sleep."""
        if self.may_refuse_after(request):
            self.wake_sleepers(all_of_them=True)
        elif self.is_calm:
            self.wake_sleepers()

    def may_refuse_after(self, request: Any) -> bool:
        """May somebody's commits be refused from then on? Not for a JoinGroup without an instance
        id: a group that gathers its members waits for all others.
        """
        return type(request) is not JoinGroupRequest or request.instance_id is not None

    def _turn_away(self, call: Call) -> None:
        """The broker that was asked is not the group's any more, is down, or still reads the
        group.
        """
        if self.world.brokers.is_up(call.broker):
            call.response = (
                self._while_loading(call.request)
                if call.broker == self.broker
                else self._refusal(call.request)
            )
        else:
            call.response = DISCONNECTED
        call.link.down(call, call.consumer.answered)

    def _refusal(self, request: Any) -> Any:
        """The answer of a broker that is not the group's."""
        return refusal(request, Error.NOT_COORDINATOR)

    def _while_loading(self, request: Any) -> Any:
        return while_loading(request, self.group.rules)

    def make_up(self, call: Call, at_us: int) -> None:
        """A beat or commit that came, and was done with, while nobody had to look: what it did
        then is done now. It found nothing amiss.
        """
        is_beat = call.api == KafkaApi.HEARTBEAT
        call.response = (
            HeartbeatResponse(Error.NONE) if is_beat else OffsetCommitResponse(Error.NONE)
        )
        for effect in self._step(call, at_us):
            kind = type(effect)
            if kind is SetTimer:
                self._set(effect.key, effect.due_us)  # type: ignore[union-attr]
            elif kind is Append:
                self._log_has(effect.number, at_us)  # type: ignore[union-attr]

    def receive_late(self, call: Call) -> None:
        """The same where it came while nobody had to look: it found nothing amiss."""
        now = self.engine.now
        if call.api == KafkaApi.OFFSET_COMMIT:
            self.take_late(call, now)
            if not call.is_quiet:
                self._is_written_us = max(self._is_written_us, self.leaves_us(now))
        else:
            self.make_up(call, now)
            self._send(call, now)

    def take_late(self, call: Call, at_us: int) -> None:
        """A commit that came while nobody had to look, and is not in the log yet."""
        self.waiting[call.number] = call
        for effect in self._step(call, at_us):
            kind = type(effect)
            if kind is SetTimer:
                self._set(effect.key, effect.due_us)  # type: ignore[union-attr]
            elif kind is Append:
                told = (self._written, effect.number, self._moves)  # type: ignore[union-attr]
                self.engine.at(self.leaves_us(at_us), LOG, self._log_told, told)

    @property
    def has_written(self) -> bool:
        """Does no answer wait for the log? In a sleeper's past none did: who writes wakes all."""
        return self.engine.is_apart or self._is_written_us <= self.engine.now

    def leaves_us(self, at_us: int) -> int:
        """When the answer to a usual commit that comes at this instant leaves."""
        return at_us + self._writing_us(at_us)

    # ------------------------------------------------------------------------------------ the rules

    @property
    def is_stable(self) -> bool:
        return self.group.state is STABLE

    @property
    def is_calm(self) -> bool:
        """Does nobody who has reached the group's generation hear anything new from a beat?"""
        return self.calm != RESTLESS

    @property
    def calm_now(self) -> int:
        """The generation whose members hear nothing new as long as it lasts; RESTLESS while
        anybody's beat may bring news.
        """
        return self.group.generation if self.is_stable else RESTLESS

    @property
    def is_gathering(self) -> bool:
        """Does a round wait for members, and take their commits meanwhile?"""
        return self.group.state is ClassicState.PREPARING_REBALANCE

    def has_settled(self, member: Any) -> bool:
        """Is nothing left for this classic member to learn from its beats?"""
        return bool(
            self.group.generation == member.generation and member.member_id in self.group.members
        )

    def session_ends_us(self, member_id: str) -> int:
        """When this member's session ends as things are."""
        timer = self.timers.get(self.session_prefix + member_id)
        return timer.due_us if timer is not None else NEVER

    @property
    def session_prefix(self) -> str:
        """What the keys of the members' session timers begin with."""
        return self.group.session_prefix

    def _step(self, call: Call, now: int) -> list[Effect]:
        return step(self.group, call.number, call.request, now)

    def _fire(self, key: str, now: int) -> list[Effect]:
        return fired(self.group, key, now)

    def _log_has(self, number: int, now: int) -> list[Effect]:
        return written(self.group, number, None, now)

    def _log_is_late(self, number: int, now: int) -> list[Effect]:
        return written(self.group, number, Error.REQUEST_TIMED_OUT, now)

    def topics_changed(self) -> None:
        """Other topics or partitions: members look after that themselves."""

    # ------------------------------------------------------------------------------- another broker

    def move(self, broker: int, load_us: int) -> None:
        """This broker leads the group from now on (−1: none does), and has read it so much
        later.
        """
        now = self.engine.now
        self.wake_sleepers(all_of_them=True)
        self._let_go(now)
        self.is_up = False
        self.broker = broker
        self._moves += 1
        for call in list(self.waiting.values()):
            self._reply(Reply(call.number, self._refusal(call.request)), now)
        for timer in self.timers.values():
            timer.due_us = NEVER
        if broker >= 0:
            self.world.tell(CoordinatorMoved(now, self.name, broker, False))
            self.engine.at(now + load_us, LOG, self._loaded, self._moves)

    def _let_go(self, now: int) -> None:
        """The broker that led the group forgets it."""
        if self.is_up:
            self._carry_out(unload(self.group, now))

    def _loaded(self, moves: int) -> None:
        if moves != self._moves:
            return  # it has moved on since
        now = self.engine.now
        self.is_up = True
        effects = self._load(now)
        self.world.tell(CoordinatorMoved(now, self.name, self.broker, True))
        self._carry_out(effects)
        self.world.script.changed()

    def _load(self, now: int) -> list[Effect]:
        """The broker that leads the group has read it from its log."""
        before = self.group
        self.group, effects = load(
            self.name,
            self.world.brokers.rules(self.broker),
            self._new_member_id,
            before.persisted,
            before.persisted_offsets,
            now,
        )
        return effects

    def _new_member_id(self, base: str) -> str:
        consumer = self._asker
        member_id: str = self.member_ids(consumer, base)
        self.places[member_id] = self._given[consumer.name] = self._given.get(consumer.name, -1) + 1
        self.consumers[member_id] = consumer
        return member_id

    # --------------------------------------------------------------------------- what is to be done

    def _carry_out(self, effects: list[Effect], is_quiet: bool = False) -> None:
        now = self.engine.now
        for effect in effects:
            kind = type(effect)
            if kind is SetTimer:
                self._set(effect.key, effect.due_us)  # type: ignore[union-attr]
            elif kind is Reply:
                self._reply(effect, now)  # type: ignore[arg-type]
            elif kind is Note:
                self._tell(effect, now)  # type: ignore[arg-type]
            elif kind is CancelTimer:
                timer = self.timers.get(effect.key)  # type: ignore[union-attr]
                if timer is not None:
                    timer.due_us = NEVER
            else:
                self._write(effect, now, is_quiet)  # type: ignore[arg-type]
        calm = self.calm_now
        if calm != self.calm:
            before, self.calm = self.calm, calm
            self.world.pack_events()
            if before != RESTLESS:
                self.wake_sleepers()

    def wake_sleepers(self, *, all_of_them: bool = False) -> None:
        """News for everybody: members that sleep through their beats must mind them from now on.
        Those that wake before their next one do anyway.
        """
        for consumer in self.world.members_of(self.name):
            wakes_in_time = consumer.skipped is not None and consumer.skipped.wakes_in_time
            if consumer.is_alive and (all_of_them or not wakes_in_time):
                consumer.touch()

    def committed(self, partitions: tuple[Partition, ...]) -> dict[Partition, int]:
        """What somebody outside sees of the group's offsets, as a lag exporter or a scaler does."""
        self._wake_owners(partitions)
        offsets = self._offsets()
        return {p: offsets[p] for p in partitions if p in offsets}

    def _offsets(self) -> dict[Partition, int]:
        found: dict[Partition, int] = self.group.offsets
        return found

    def _wake_owners(self, partitions: tuple[Partition, ...]) -> None:
        """Somebody asks for positions: who sleeps through commits of these must have told them."""
        for consumer in self.world.progress.readers(self.name, partitions):
            if not consumer.feed.shares.keys().isdisjoint(partitions):
                consumer.touch()

    def _reply(self, effect: Reply, now: int) -> None:
        call = self.waiting.pop(effect.request, None)
        if call is None:
            return
        call.response = effect.response
        if (
            call.is_before_rebalance
            and effect.response.error is Error.NONE
            and self._is_refused_in_part(call)
        ):
            call.response = OffsetCommitResponse(Error.UNKNOWN_TOPIC_OR_PARTITION)
        if effect.waits and self.silent_writers and self._may_wait_for_others(call, effect):
            self._wake_writers()
        if effect.waits and self._is_written_us > now and not call.is_quiet:
            at = self._is_written_us
            if at > now + self._patience_us:
                at = now + self._patience_us
                call.response = self._too_late(call.request)
            self.engine.at(at, LOG, self.answer, call)
        else:
            self._send(call, now)

    def _may_wait_for_others(self, call: Call, effect: Reply) -> bool:
        """May this answer wait for what somebody wrote unheard? That of a write does not: whoever
        writes unheard knows that all writes take as long, and so this one, begun last, ends last.
        """
        has_written = call.api == KafkaApi.OFFSET_COMMIT and effect.response.error is Error.NONE
        return not (has_written or call.is_quiet or self.engine.is_apart)

    def _wake_writers(self) -> None:
        """Somebody waits for the log: who may be writing to it unheard must have told it."""
        for consumer in list(self.silent_writers.values()):
            if consumer.skipped is not None and consumer.skipped.may_be_writing():
                consumer.touch()

    def _too_late(self, request: Any) -> Any:
        """The answer to who waited for the log too long; positions are to be looked for
        elsewhere (GroupCoordinatorService.handleOffsetFetchException).
        """
        return refusal(
            request,
            Error.NOT_COORDINATOR
            if type(request) is OffsetFetchRequest
            else Error.COORDINATOR_NOT_AVAILABLE,
        )

    def _is_refused_in_part(self, call: Call) -> bool:
        """KafkaApis.handleOffsetCommitRequest: of a deleted topic, while the others are stored.
        What libraries other than Kafka's do then is not known.
        """
        return not call.consumer.spec.habits.runs_itself and self.world.lacks(call.request.offsets)

    def answer(self, call: Call) -> None:
        """The answer leaves now."""
        self._send(call, self.engine.now)

    def _send(self, call: Call, now: int) -> None:
        takes = (
            0.0
            if call.is_quiet
            else answering_us(self.world.machine.costs, call.api, call.response)
        )
        if takes and self.world.brokers.is_up(call.broker):
            now = self.world.brokers.of(call.broker).answers.ends_us(now, takes)
        call.link.down(call, call.consumer.answered, now)
        self._take_next(call, now)

    def _take_next(self, call: Call, now: int) -> None:
        """This one is answered: the broker turns to what came behind it over the same
        connection, in order.
        """
        link = call.link
        if link.at_work is call:
            link.at_work = link.waiting.pop(0) if link.waiting else None
            if link.at_work is not None:
                self.engine.at(
                    now + self.world.machine.service_us,
                    link.rank + ARRIVES,
                    self.receive,
                    link.at_work,
                )

    def _write(self, effect: Append, now: int, is_quiet: bool) -> None:
        done = now + self._writing_us(now)
        if not is_quiet:  # a usual commit holds nobody up: it could not be told in advance
            done = self._is_written_us = max(done, self._is_written_us)
        if done > now + self._patience_us:
            self.engine.at(
                now + self._patience_us,
                LOG,
                self._log_told,
                (self._overdue, effect.number, self._moves),
            )
        self.engine.at(done, LOG, self._log_told, (self._written, effect.number, self._moves))

    def _writing_us(self, at_us: int) -> int:
        """How long the log takes for a write that begins at this instant."""
        stream = self._stream
        return (
            self._linger_us
            + stream.draw_at(self._append, at_us)
            + stream.draw_at(self._replication, ~at_us)
        )

    def _log_told(self, news: tuple[Any, int, int]) -> None:
        """The log has something to say about a write, unless the group has moved on since."""
        then, number, moves = news
        if self.engine.is_apart:
            then(number)
        elif self.is_up and moves == self._moves:
            self.queue.put(then, number)

    def _written(self, number: int) -> None:
        self._carry_out(self._log_has(number, self.engine.now))

    def _overdue(self, number: int) -> None:
        """offsets.commit.timeout.ms is over: whoever waits for this write is told that it
        failed.
        """
        self._carry_out(self._log_is_late(number, self.engine.now))

    # --------------------------------------------------------------------------------------- timers

    def _set(self, key: str, due_us: int) -> None:
        timer = self.timers.get(key)
        if timer is None:
            timer = self.timers[key] = Timer(key)
        timer.due_us = due_us
        if due_us < timer.rings_us:
            timer.rings_us = due_us
            self.engine.at(due_us, self._rank_of(key), self._rung, (timer, due_us))

    def _rank_of(self, key: str) -> int:
        """Sessions that end at one instant end in the order of the consumers, and of their ids,
        whenever their timers were set.
        """
        member_id = key.removeprefix(self.session_prefix)
        consumer = self.consumers.get(member_id)
        return (
            TIMER
            if consumer is None
            else TIMER + int(consumer.rank) + self.places.get(member_id, 0) % RANKS
        )

    def _rung(self, ring: tuple[Timer, int]) -> None:
        timer, at_us = ring
        if timer.rings_us != at_us:
            return  # set to an earlier time since
        timer.rings_us = NEVER
        due_us = timer.due_us
        if due_us == NEVER:
            self._forget(timer)
            return
        key = timer.key
        if due_us > at_us:
            self._set(key, due_us)
            return
        prefix = self.session_prefix
        if key.startswith(prefix):
            consumer = self.consumers.get(key[len(prefix) :])
            if (
                consumer is not None
                and consumer.skipped is not None
                and consumer.skipped.beats
                and consumer.member.member_id == key[len(prefix) :]
            ):
                return  # it has beaten since, unheard; made up for when it is touched
        self._forget(timer)
        self.queue.put(self._run_out, key)

    def _run_out(self, key: str) -> None:
        if self.is_up:
            self.wake_sleepers(all_of_them=self.is_gathering)
            self._carry_out(self._fire(key, self.engine.now))

    def _forget(self, timer: Timer) -> None:
        if self.timers.get(timer.key) is timer:
            del self.timers[timer.key]

    # --------------------------------------------------------------------------------- what is told

    def _tell(self, note: Note, now: int) -> None:
        facts = note.facts
        names = self.consumers
        told: dict[str, Any] = {}
        for key, value in facts.items():
            if key == "member_id":
                found = names.get(value)
                told["consumer"] = found.name if found is not None else value
                if note.kind == "MemberAdded" or note.kind == "MemberRemoved":
                    told["member_id"] = value
            elif key == "last" or key == "leader":
                found = names.get(value)
                told[key] = found.name if found is not None else value
            elif key == "kicked":
                told[key] = tuple(
                    [
                        names[member_id].name if member_id in names else member_id
                        for member_id in value
                    ]
                )
            else:
                told[key] = value
        kind = note.kind
        if kind == "MemberRemoved" or (
            kind == "MemberAdded" and facts["how"] == Arrival.REPLACEMENT
        ):
            self.wake_sleepers()  # whoever still goes by that id shall hear of it
        if kind != "Fenced":
            told["group"] = self.name
        self.world.tell(EVENT_CLASSES[kind](at_us=now, **told))
        if kind == "GroupStateChanged" and self.world.script.waiting:
            self.world.script.changed()
