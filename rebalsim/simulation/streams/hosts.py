"""The group's coordinator on its broker: the rules of `protocol` carried out over a link with some
latency, with a log that takes its time, and timers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.assignors.streams import server_sticky
from rebalsim.protocol import classic_group, streams_group
from rebalsim.protocol.consumer.topics import Topic, TopicsImage
from rebalsim.protocol.effects import Append, CancelTimer, Effect, Note, Reply, SetTimer
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.protocol.messages import JoinGroupRequest
from rebalsim.protocol.states import ClassicState
from rebalsim.protocol.streams.group import GroupState, StreamsGroup, StreamsGroupSettings
from rebalsim.protocol.streams.topology import SentSubtopology, StreamsTopology
from rebalsim.protocol.streams_messages import JOINS, StreamsGroupHeartbeatResponse
from rebalsim.simulation.engine import SCRIPT
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.happenings import Heard
from rebalsim.simulation.streams.port import NEVER, Port
from rebalsim.simulation.streams.resting import Beats, EndRest, Guest, MadeUp, RestRoom

Answer = Callable[[Any], None]
WITHOUT_COORDINATOR = (
    Error.NOT_COORDINATOR,
    Error.COORDINATOR_NOT_AVAILABLE,
    Error.COORDINATOR_LOAD_IN_PROGRESS,
)
RETRY_BACKOFF_US = 100_000
FOUND_LINKS = 2  # FindCoordinator there and back


def _none() -> int:
    return 0


class Host:
    """Either kind of coordinator: takes requests, keeps timers, answers."""

    def __init__(self, port: Port, application: Application) -> None:
        self._port = port
        self._timing = application.timing
        self.is_up = True  # its broker has read the group
        self.broker = 0
        self.tells_moves = True  # a group that changed its protocol has two, and moves once
        self._moves = 0
        self._parked: list[Answer] = []  # of clients that look for it while nobody leads the group
        self._held: dict[int, Any] = {}  # requests that wait for their answer
        self.slowness: Callable[[], int] = _none  # other load of its broker, each way
        self._asked: dict[int, Answer] = {}
        self._number = 0
        self._timers: dict[str, int] = {}
        self._rings: dict[str, int] = {}  # of each timer the ring that stands in the queue
        self._room = RestRoom()
        self._sent_by = SCRIPT  # the rank of what sent the request at hand
        self.noted: list[Callable[[Note], None]] = []

    def ask(
        self, request: Any, answer: Answer, broker: int | None = None, extra_us: int = 0
    ) -> None:
        """Send a request to whom the client takes for the coordinator, over a link that takes so
        much longer than usual; its answer comes later, or never.
        """
        self._number += 1
        self._asked[self._number] = answer
        arrives_us = self._port.now + self._timing.link_us + self.slowness() + extra_us
        sent = (self._number, request, broker, self._port.rank)
        self._port.call(arrives_us, self._arrived, sent)

    def _arrived(self, sent: tuple[int, Any, int | None, int]) -> None:
        number, request, broker, self._sent_by = sent
        self._take(number, request, broker)
        self._sent_by = SCRIPT

    def _take(self, number: int, request: Any, broker: int | None) -> None:
        is_theirs = broker is None or broker == self.broker
        if not self.is_up or not is_theirs:
            self._apply([Reply(number, self.turned_away(request, is_loading=is_theirs))])
            return
        self._held[number] = request
        self._apply(self.step(number, request, self._port.now))

    def _apply(self, effects: list[Effect]) -> None:
        now = self._port.now
        for effect in effects:
            if isinstance(effect, Reply):
                delay = self._timing.link_us + (self._timing.log_us if effect.waits else 0)
                delay += self.slowness()
                self._held.pop(effect.request, None)
                answer = self._asked.pop(effect.request, None)
                if answer is not None:
                    self._port.call(now + delay, answer, effect.response)
            elif isinstance(effect, SetTimer):
                if not self._room.holds(effect.key):
                    self._set_timer(effect.key, effect.due_us)
            elif isinstance(effect, CancelTimer):
                self._timers.pop(effect.key, None)
            elif isinstance(effect, Append):
                self._port.call(
                    now + self._timing.log_us, self._written, (effect.number, self._moves)
                )
            else:
                for note in self.noted:
                    note(effect)
        if not self.is_settled:
            self._room.end_all()

    # ------------------------------------------------------------------------------- another broker

    def move(self, broker: int, load_us: int) -> None:
        """This broker leads the group from now on (-1: none does), and has read it so much later."""
        self._room.end_all()
        if self.is_up:
            self._apply(self.unload(self._port.now))
        self.is_up = False
        self.broker = broker
        self._moves += 1
        self._timers.clear()
        held = list(self._held.items())
        self._apply(
            [Reply(number, self.turned_away(request, is_loading=False)) for number, request in held]
        )
        if broker >= 0:
            self._tell_move(False)
            self._port.call(self._port.now + load_us, self._loaded, self._moves)
            parked, self._parked = self._parked, []
            for then in parked:
                self.look_for(then)

    def _loaded(self, moves: int) -> None:
        if moves != self._moves:
            return  # it has moved on since
        self.is_up = True
        self._tell_move(True)
        self._apply(self.load(self._port.now))

    def _tell_move(self, is_loaded: bool) -> None:
        if not self.tells_moves:
            return
        facts = {"broker": self.broker, "is_loaded": is_loaded}
        self._port.tell(Heard(self._port.now, "", 0, "CoordinatorMoved", facts))

    def look_for(self, then: Answer) -> None:
        """A client that lost the coordinator looks for it, retry.backoff.ms later, and again until
        somebody leads the group; then it goes on with `then`, which is told the broker.
        """
        if self.broker < 0:
            self._parked.append(then)
            return
        found_us = self._port.now + RETRY_BACKOFF_US + FOUND_LINKS * self._timing.link_us
        self._port.call(found_us, self._found, then)

    def _found(self, then: Answer) -> None:
        if self.broker < 0:
            self._parked.append(then)
        else:
            then(self.broker)

    def turned_away(self, request: Any, *, is_loading: bool) -> Any:
        """The answer of a broker that is not the group's, or still reads it."""
        raise NotImplementedError

    def unload(self, now_us: int) -> list[Effect]:
        raise NotImplementedError

    def load(self, now_us: int) -> list[Effect]:
        """The group as the new coordinator has read it."""
        raise NotImplementedError

    # --------------------------------------------------------------------------------------- timers

    def _set_timer(self, key: str, due_us: int) -> None:
        """Sessions are renewed far more often than they run out: an early ring is put off."""
        self._timers[key] = due_us
        if due_us < self._rings.get(key, NEVER):
            self._rings[key] = due_us
            self._port.call(due_us, self._rang, (key, due_us))

    @property
    def is_settled(self) -> bool:
        """No beat of a member changes anything."""
        raise NotImplementedError

    def rest(self, member_id: str, rank: int, end_rest: EndRest) -> bool:
        """Whether the member may leave its beats out until `end_rest` is called; `rank` orders beats of
        one instant.
        """
        if not self.is_settled or not self.is_up:
            return False
        timer = self.session_timer(member_id)
        due_us = self._timers.pop(timer, 0)
        self._room.enter(member_id, Guest(rank, timer, due_us, end_rest))
        return True

    def heard(self, member_id: str, beats: Beats, also_us: int = 0) -> MadeUp:
        """It rests no more: its session runs from the last beat that was left out and has arrived, or
        from another sign of life (`also_us`).
        """
        guest = self._room.leave(member_id)
        goes_first = guest.rank < self._sent_by
        made_up = beats.made_up(self._port.now, self._timing.link_us, goes_first=goes_first)
        heard_us = max(made_up.last_us, also_us) + self._timing.link_us
        self._set_timer(guest.timer, max(guest.due_us, self.renew(member_id, heard_us)))
        return made_up

    def session_timer(self, member_id: str) -> str:
        raise NotImplementedError

    def renew(self, member_id: str, heard_us: int) -> int:
        """The member was heard; when its session ends."""
        raise NotImplementedError

    def _rang(self, timer: tuple[str, int]) -> None:
        key, rings_us = timer
        if self._rings.get(key) != rings_us:
            return  # one set earlier has taken its place
        del self._rings[key]
        due_us = self._timers.get(key)
        if due_us is None:
            return
        if due_us > rings_us:
            self._set_timer(key, due_us)
            return
        # by name, and not by whose ring was put into the queue first: that hangs on who rested
        for each in sorted(key for key, due_us in self._timers.items() if due_us <= rings_us):
            if self._timers.get(each, NEVER) <= rings_us:
                del self._timers[each]
                self._apply(self.fired(each, self._port.now))

    def _written(self, write: tuple[int, int]) -> None:
        number, moves = write
        if moves == self._moves:
            self._apply(self.written(number, self._port.now))

    def step(self, number: int, request: Any, now_us: int) -> list[Effect]:
        raise NotImplementedError

    def fired(self, key: str, now_us: int) -> list[Effect]:
        raise NotImplementedError

    def written(self, number: int, now_us: int) -> list[Effect]:
        return []


class ClassicHost(Host):
    """A classic group's. `ids` are member ids to hand out by client id, in order; where there are
    none they are drawn. `is_taken` says whether a streams group has members under its name.
    """

    def __init__(
        self,
        port: Port,
        application: Application,
        ids: dict[str, list[str]] | None = None,
        is_taken: Callable[[], bool] = lambda: False,
    ) -> None:
        super().__init__(port, application)
        self._is_taken = is_taken
        self._ids = ids or {}
        rules = classic_group.CoordinatorRules(
            initial_rebalance_delay_us=application.group.initial_delay_us,
            min_session_timeout_us=1,
            max_size=application.group.max_size,
        )
        self.group = classic_group.ClassicGroup(application.name, rules, self._new_id)

    def _new_id(self, of: str) -> str:
        known = self._ids.get(of)
        if known:
            return known.pop(0)
        drawn = f"{self._port.draw(f'member id of {of}').getrandbits(128):032x}"
        parts = (drawn[:8], drawn[8:12], drawn[12:16], drawn[16:20], drawn[20:])
        return f"{of}-{'-'.join(parts)}"

    def turned_away(self, request: Any, *, is_loading: bool) -> Any:
        if is_loading and self.broker >= 0:
            return classic_group.while_loading(request, self.group.rules)
        return classic_group.refusal(request, Error.NOT_COORDINATOR)

    def unload(self, now_us: int) -> list[Effect]:
        return classic_group.unload(self.group, now_us)

    def load(self, now_us: int) -> list[Effect]:
        before = self.group
        self.group, effects = classic_group.load(
            before.group_id,
            before.rules,
            self._new_id,
            before.persisted,
            before.persisted_offsets,
            now_us,
        )
        return effects

    def step(self, number: int, request: Any, now_us: int) -> list[Effect]:
        if isinstance(request, JoinGroupRequest) and self._is_taken():
            refused = classic_group.refusal(request, Error.INCONSISTENT_GROUP_PROTOCOL)
            return [Reply(number, refused)]
        return classic_group.step(self.group, number, request, now_us)

    def fired(self, key: str, now_us: int) -> list[Effect]:
        return classic_group.fired(self.group, key, now_us)

    def written(self, number: int, now_us: int) -> list[Effect]:
        return classic_group.written(self.group, number, None, now_us)

    @property
    def is_settled(self) -> bool:
        return self.group.state is ClassicState.STABLE

    def session_timer(self, member_id: str) -> str:
        return self.group.members[member_id].timer

    def renew(self, member_id: str, heard_us: int) -> int:
        member = self.group.members.get(member_id)
        if member is None:
            return heard_us  # replaced meanwhile: its timer finds nobody
        member.heard_us = max(member.heard_us, heard_us)
        return heard_us + member.session_timeout_us


class StreamsHost(Host):
    """A streams group's. `is_taken` says whether a group of the other protocol has members under
    its name: an empty one is replaced.
    """

    def __init__(
        self, port: Port, application: Application, is_taken: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__(port, application)
        self._is_taken = is_taken
        group = application.group
        settings = StreamsGroupSettings(
            server_sticky.assign,
            group.streams_session_us,
            group.streams_heartbeat_us,
            group.streams_standbys,
            group.streams_initial_delay_us,
            group.streams_interval_us,
            group.streams_max_size,
        )
        self.topology = topology_of(application)
        self.topics = {**application.topics, **application.internal_topics()}
        self.group = StreamsGroup(application.name, settings, self._image())

    def _image(self) -> TopicsImage:
        made = {name: Topic(name, count) for name, count in sorted(self.topics.items()) if count}
        return TopicsImage(made)

    def topics_are(self, topics: dict[str, int]) -> None:
        """The brokers' metadata are these now; a topic without partitions is gone."""
        self.topics.update(topics)
        streams_group.metadata_changed(self.group, self._image())
        self._room.end_all()

    def create(self, topics: dict[str, int]) -> None:
        """Internal topics that an answer asked for are there."""
        self.topics.update(topics)
        streams_group.metadata_changed(self.group, self._image())
        self._room.end_all()

    @property
    def is_settled(self) -> bool:
        return self.group.state is GroupState.STABLE and not self.group.refresh_due

    def session_timer(self, member_id: str) -> str:
        return streams_group.session_timer(member_id)

    def renew(self, member_id: str, heard_us: int) -> int:
        return heard_us + self.group.settings.session_timeout_us

    def turned_away(self, request: Any, *, is_loading: bool) -> Any:
        loads = is_loading and self.broker >= 0
        error = Error.COORDINATOR_LOAD_IN_PROGRESS if loads else Error.NOT_COORDINATOR
        return StreamsGroupHeartbeatResponse(error)

    def unload(self, now_us: int) -> list[Effect]:
        return streams_group.unload(self.group)

    def load(self, now_us: int) -> list[Effect]:
        return streams_group.load(self.group, now_us)

    def step(self, number: int, request: Any, now_us: int) -> list[Effect]:
        if request.epoch == JOINS and self._is_taken():
            name = self.group.name
            text = f"Group {name} is not a streams group."
            refused = StreamsGroupHeartbeatResponse(Error.GROUP_ID_NOT_FOUND, text=text)
            return [Reply(number, refused)]
        effects = streams_group.heartbeat(self.group, number, request, now_us)
        for effect in effects:
            if isinstance(effect, Reply) and effect.response.create_topics:
                made = dict(effect.response.create_topics)
                self._port.call(now_us + 10 * self._timing.log_us, self.create, made)
        return effects

    def fired(self, key: str, now_us: int) -> list[Effect]:
        return streams_group.timer_fired(self.group, key, now_us)


def topology_of(application: Application) -> StreamsTopology:
    """The topology as a member sends it."""
    return StreamsTopology(
        0,
        tuple(
            SentSubtopology(
                number,
                part.sources,
                part.repartition_sources,
                part.repartition_sinks,
                tuple(f"{application.name}-{store}-changelog" for store in part.stores),
                (frozenset([*part.sources, *part.repartition_sources]),)
                if part.copartitioned
                else (),
            )
            for number, part in enumerate(application.parts)
        ),
    )
