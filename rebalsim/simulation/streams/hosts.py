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
from rebalsim.protocol.states import ClassicState
from rebalsim.protocol.streams.group import GroupState, StreamsGroup, StreamsGroupSettings
from rebalsim.protocol.streams.topology import SentSubtopology, StreamsTopology
from rebalsim.protocol.streams_messages import JOINS, StreamsGroupHeartbeatResponse
from rebalsim.simulation.streams.application import Application
from rebalsim.simulation.streams.port import Port
from rebalsim.simulation.streams.resting import Beats, RestRoom, Rouse

Answer = Callable[[Any], None]
MEMBER_WAS_REMOVED = "MemberRemoved"


class Host:
    """Either kind of coordinator: takes requests, keeps timers, answers."""

    def __init__(self, port: Port, application: Application) -> None:
        self._port = port
        self._timing = application.timing
        self._asked: dict[int, Answer] = {}
        self._number = 0
        self._timers: dict[str, int] = {}
        self._room = RestRoom()
        self.noted: list[Callable[[Note], None]] = []

    def ask(self, request: Any, answer: Answer) -> None:
        """Send a request; its answer comes later, or never."""
        self._number += 1
        self._asked[self._number] = answer
        self._port.call(
            self._port.now + self._timing.link_us, self._arrived, (self._number, request)
        )

    def _arrived(self, sent: tuple[int, Any]) -> None:
        self._apply(self.step(sent[0], sent[1], self._port.now))

    def _apply(self, effects: list[Effect]) -> None:
        now = self._port.now
        for effect in effects:
            if isinstance(effect, Reply):
                delay = self._timing.link_us + (self._timing.log_us if effect.waits else 0)
                answer = self._asked.pop(effect.request, None)
                if answer is not None:
                    self._port.call(now + delay, answer, effect.response)
            elif isinstance(effect, SetTimer):
                if not self._room.holds(effect.key):
                    self._set_timer(effect.key, effect.due_us)
            elif isinstance(effect, CancelTimer):
                self._timers.pop(effect.key, None)
            elif isinstance(effect, Append):
                self._port.call(now + self._timing.log_us, self._written, effect.number)
            else:
                for note in self.noted:
                    note(effect)
        if not self.is_settled:
            self._room.rouse_all()

    def _set_timer(self, key: str, due_us: int) -> None:
        self._timers[key] = due_us
        self._port.call(due_us, self._rang, (key, due_us))

    @property
    def is_settled(self) -> bool:
        """No beat of a member changes anything."""
        raise NotImplementedError

    def rest(self, member_id: str, rouse: Rouse) -> bool:
        """Whether the member may leave its beats out until it is roused."""
        if not self.is_settled:
            return False
        timer = self.session_timer(member_id)
        self._timers.pop(timer, None)
        self._room.enter(member_id, timer, rouse)
        return True

    def heard(self, member_id: str, beats: Beats, also_us: int = 0) -> int:
        """It rests no more: its session runs from the last beat that was left out, or from another
        sign of life (`also_us`). When its next beat is due.
        """
        last_us, next_us = beats.made_up(self._port.now, self._timing.link_us)
        heard_us = max(last_us, also_us) + self._timing.link_us
        self._set_timer(self._room.leave(member_id), self.renew(member_id, heard_us))
        return next_us

    def session_timer(self, member_id: str) -> str:
        raise NotImplementedError

    def renew(self, member_id: str, heard_us: int) -> int:
        """The member was heard; when its session ends."""
        raise NotImplementedError

    def _rang(self, timer: tuple[str, int]) -> None:
        key, due_us = timer
        if self._timers.get(key) == due_us:
            del self._timers[key]
            self._apply(self.fired(key, self._port.now))

    def _written(self, number: int) -> None:
        self._apply(self.written(number, self._port.now))

    def step(self, number: int, request: Any, now_us: int) -> list[Effect]:
        raise NotImplementedError

    def fired(self, key: str, now_us: int) -> list[Effect]:
        raise NotImplementedError

    def written(self, number: int, now_us: int) -> list[Effect]:
        return []


class ClassicHost(Host):
    """A classic group's. `ids` are member ids to hand out by client id, in order; where there are
    none they are drawn.
    """

    def __init__(
        self, port: Port, application: Application, ids: dict[str, list[str]] | None = None
    ) -> None:
        super().__init__(port, application)
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

    def step(self, number: int, request: Any, now_us: int) -> list[Effect]:
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
        member.heard_us = heard_us
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
            group.max_size,
        )
        self.topology = topology_of(application)
        self.topics = {**application.topics, **application.internal_topics()}
        self.group = StreamsGroup(application.name, settings, self._image())

    def _image(self) -> TopicsImage:
        made = {name: Topic(name, count) for name, count in sorted(self.topics.items())}
        return TopicsImage(made)

    def create(self, topics: dict[str, int]) -> None:
        """Internal topics that an answer asked for are there."""
        self.topics.update(topics)
        streams_group.metadata_changed(self.group, self._image())
        self._room.rouse_all()

    @property
    def is_settled(self) -> bool:
        return self.group.state is GroupState.STABLE and not self.group.refresh_due

    def session_timer(self, member_id: str) -> str:
        return streams_group.session_timer(member_id)

    def renew(self, member_id: str, heard_us: int) -> int:
        return heard_us + self.group.settings.session_timeout_us

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
