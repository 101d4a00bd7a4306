"""A consumer's process: its settings, its lives, and what is done to it from outside.

Whoever does something to it, or asks how far it is, first lets it catch up to now (`touch`).
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.domain.life_end import OUT_OF_GRACE, LifeEnd
from rebalsim.domain.pods import LEAST_GRACE_US
from rebalsim.domain.stuck_by import StuckBy
from rebalsim.simulation.bytes_across_racks import tell_bytes
from rebalsim.simulation.engine import APP, FIRST, NEVER, RANKS, SCRIPT, Alarm, Signal
from rebalsim.simulation.lag import mark
from rebalsim.simulation.link_trouble import LinkTrouble
from rebalsim.simulation.metadata import Metadata
from rebalsim.simulation.network import Call, Link
from rebalsim.simulation.randomness import Stream
from rebalsim.trace.events import (
    ConsumerExited,
    ConsumerFroze,
    ConsumerStarted,
    ConsumerThawed,
    RejoinRequested,
    StopAsked,
)

if TYPE_CHECKING:
    from rebalsim.simulation.commits import Commits
    from rebalsim.simulation.drive import Life
    from rebalsim.simulation.feed import Feed
    from rebalsim.simulation.ports import World
    from rebalsim.simulation.positions import Positions


class Process:
    """One consumer through all its lives, as those see it who start, stop and disturb it."""

    __slots__ = (
        "_links",
        "_streams",
        "alarm",
        "assignors",
        "begun_us",
        "blocked_until_us",
        "busy_until_us",
        "calls",
        "client_id",
        "commits",
        "config",
        "coordinator",
        "coordinator_link",
        "deadline_us",
        "driven",
        "engine",
        "expiry",
        "feed",
        "group",
        "group_topics",
        "habits",
        "hang_us",
        "hang_why",
        "hangs",
        "heartbeat",
        "host",
        "how_ended",
        "inbox",
        "index",
        "is_alive",
        "is_assigned",
        "is_awaited",
        "is_closing",
        "is_committing",
        "is_cooperative",
        "is_frozen",
        "is_handling",
        "is_looking_up",
        "is_overdue",
        "is_polling",
        "is_stopping",
        "life",
        "link_trouble",
        "machine",
        "member",
        "membership",
        "metadata",
        "name",
        "nudge",
        "pattern",
        "positions",
        "quiet",
        "rack",
        "rank",
        "skipped",
        "slowness",
        "spec",
        "stop_option",
        "tell",
        "thawed_us",
        "thrown",
        "topics",
        "unavailable_us",
        "world",
    )

    member: Any  # the protocol's view of it
    heartbeat: Any
    membership: Any
    feed: Feed
    commits: Commits
    positions: Positions

    def __init__(self, world: World, spec: Spec, index: int) -> None:
        self.world = world
        self.engine = world.engine
        self.machine = world.machine  # what brokers and clients take for what they do
        self.index = index
        self.name = spec.name
        self.group = spec.group
        self.rank = FIRST + RANKS * index
        self.tell = world.tell
        self.life = 0
        self.is_alive = False
        self.is_frozen = False
        self.quiet = world.quiet
        self.skipped: Any = None  # who lets it skip quiet time just now, if anybody does
        self.is_assigned = False  # has it been through the assigned callback in this life?
        self.how_ended = ""
        self.begun_us = -1
        self.is_awaited = False
        self.slowness = 1.0
        self.driven: Life | None = None  # what a recording dictates about the next life
        self.link_trouble = LinkTrouble(self)
        self._links: dict[int, Link] = {}
        self._streams: dict[str, Stream] = {}
        self.take_spec(spec)

    def take_spec(self, spec: Spec) -> None:
        """The settings of the next life."""
        self.spec = spec
        self.habits = spec.habits  # of its library
        self.config = spec.config
        self.rack = (
            spec.rack or spec.config.client_rack
        )  # where it runs: what it tells of that is client.rack alone
        self.client_id = spec.config.client_id or spec.name
        self.pattern = spec.pattern
        self.topics = (
            tuple(sorted(spec.topics))
            if spec.pattern is None
            else self.world.topics_matching(spec.pattern)
        )
        self.assignors = self.world.assignors_of(spec.config.partition_assignment_strategy)
        self.is_cooperative = all(
            "cooperative" in assignor.protocols for assignor in self.assignors
        )

    # ------------------------------------------------------------------------------- life and death

    def begin(self, joins_us: int | None = None) -> None:
        """A process starts. With `joins_us` it is known when it sends its first JoinGroup: until
        then it only exists.
        """
        engine = self.engine
        now = engine.now
        self.life += 1
        self.is_alive = True
        self.is_frozen = self.is_closing = self.is_assigned = self.is_stopping = False
        self.calls: dict[int, Call] = {}
        self.inbox: list[Any] = []
        self.coordinator: int | None = None
        self.coordinator_link: Link | None = None
        self.host: Any = None
        self.is_looking_up = False
        self.unavailable_us: dict[
            int, int
        ] = {}  # brokers that this client hung up on: not called again before
        self.group_topics: tuple[str, ...] = self.topics
        self.is_polling = False
        self.is_committing = False  # in commitSync()
        self.is_handling = False  # a batch
        self.is_overdue = False  # a request's time was over when nobody looked at the network
        self.busy_until_us = 0
        self.blocked_until_us = 0
        self.deadline_us = 0
        self.thawed_us = -1
        self.hang_us = 0
        self.hangs = "after"  # the batch at hand; or before the next one, or now
        self.hang_why: str = StuckBy.HANG
        self.thrown = 0
        self.stop_option = ""  # asked to stop: default | leave | remain
        self.expiry: Alarm | None = None
        self._links.clear()
        self.metadata = Metadata(self)
        self.nudge = Signal(engine)
        self.alarm = Alarm(engine, self.rank + APP, self._rung)
        self.equip()
        self.begun_us = -1  # when it came to its first poll()
        self.is_awaited = False  # when it is gone, does the script start it again?
        self.tell(ConsumerStarted(now, self.name, self.life))
        self.world.kubelet.began(self)
        engine.begin(self.heartbeat.heartbeat_thread())
        engine.begin(self.poll_loop(self.life, joins_us))

    def equip(self) -> None:
        """The parts of a life, which differ with the protocol."""
        raise NotImplementedError

    def poll_loop(self, life: int, joins_us: int | None) -> Generator[Any, Any, None]:
        """The application's thread."""
        raise NotImplementedError

    def _rung(self) -> None:
        """What the application's thread slept for has come."""
        raise NotImplementedError

    def link(self, broker: int) -> Link:
        """The connection for data with this broker."""
        raise NotImplementedError

    def data_links(self) -> list[Link]:
        """All connections for data that were made so far."""
        return list(self._links.values())

    def is_connected_to(self, broker: int) -> bool:
        """Is there any connection with it?"""
        raise NotImplementedError

    def lost_broker(self, broker: int) -> None:
        """It hung up on everybody."""
        raise NotImplementedError

    def metadata_came(self) -> None:
        """The topics look different now."""
        raise NotImplementedError

    def end(self, how: str, error: str = "", why: str = "") -> None:
        """The process is gone."""
        self.touch()  # where it had got to stays as it is
        if not self.feed.is_suspended:
            mark(self, self.feed.shares.values())
        self.world.progress.give_up(self, self.feed.shares.values())
        tell_bytes(self, self.feed.shares.values())
        self.world.stores.exited(self, how == LifeEnd.CLOSED)
        self.is_alive = False
        self.how_ended = how
        self.heartbeat.stop()
        self.alarm.off()
        self.calls.clear()
        self.inbox.clear()
        self.tell(ConsumerExited(self.engine.now, self.name, self.life, how, error, why))
        self.world.exited(self)

    def kill(self, why: str = "") -> None:
        """SIGKILL: nothing more is sent; what is under way arrives. `why`: grace, where it should
        have exited by itself; startup-probe, where it did not come up.
        """
        if not self.is_alive:
            return
        self.end(LifeEnd.KILLED, why=why)

    def freeze(self) -> None:
        if not self.is_alive or self.is_frozen:
            return
        self.touch()
        mark(self, self.feed.shares.values())
        self.is_frozen = True
        self.tell(ConsumerFroze(self.engine.now, self.name))

    def thaw(self) -> None:
        """Both threads go on with whatever came due meanwhile."""
        if not self.is_alive or not self.is_frozen:
            return
        self.is_frozen = False
        now = self.thawed_us = self.engine.now
        self.feed.renew()
        self.tell(ConsumerThawed(now, self.name))
        goes_on = self.is_polling or self.busy_until_us <= now
        if goes_on:
            self.alarm.off()  # whatever it sets from here on holds
        else:
            self.alarm.set(self.busy_until_us)
        if self.heartbeat.is_enabled:
            self.heartbeat.bell.clock.ring()
        if goes_on:
            self.nudge.give()
        self.watch_expiries()  # what had come meanwhile was read before

    def watch_expiries(self) -> None:
        """Requests that waited too long for an answer are given up."""
        raise NotImplementedError

    def hang(self, us: int, why: str = StuckBy.HANG, is_seen: bool = False) -> None:
        """The handler will be stuck for so long after the batch at hand, or with the next poll()
        that returns. `is_seen`: it was seen to, just now, when poll() had returned the nearest
        batch and before that was handled.
        """
        if not self.is_alive or self.is_frozen:
            return
        self.touch()
        self.hang_us, self.hang_why, self.hangs = us, why, "after"
        if is_seen:
            now = self.engine.now
            lands = min((fetch.lands_us for fetch in self.feed.flying.values()), default=NEVER)
            is_nearer = not self.is_handling and lands - now < now - self.feed.handed_us
            self.hangs = "before" if is_nearer else "now"
            if self.is_handling:
                self.nudge.give()
            elif not is_nearer:
                self.wake_for_business()

    def stop(self, option: str = "default") -> None:
        """Asked to stop: it goes on for its stop time; close() begins after the batch at hand.
        Killed when its grace is over.
        """
        if not self.is_alive or self.is_stopping:
            return
        self.is_stopping = True
        engine, life = self.engine, self.spec.life
        now = engine.now
        self.tell(StopAsked(now, self.name))
        took = self.stream("stop").draw(life.stop)
        killed_us = life.grace_us
        if life.pre_stop_us:  # it consumes on, and hears of nothing
            asked = min(life.pre_stop_us, life.grace_us)
            took += asked
            killed_us = max(killed_us, asked + LEAST_GRACE_US)
        engine.at(now + killed_us, SCRIPT, self._grace_ends, self.life)
        if took:
            engine.at(now + took, SCRIPT, self._stops, (self.life, option))
        else:
            self._closes(option)

    def _stops(self, asked: tuple[int, str]) -> None:
        life, option = asked
        if self.is_alive and self.life == life:
            self._closes(option)

    def _closes(self, option: str) -> None:
        self.touch()
        self.stop_option = option
        self.wake_for_business()

    def _grace_ends(self, life: int) -> None:
        if self.is_alive and self.life == life:
            self.kill(OUT_OF_GRACE)

    def change_pace(self, slowness: float) -> None:
        """Batches take so many times as long from now on."""
        if self.is_alive and not self.is_frozen:
            self.touch()
        self.slowness = slowness

    def subscribe(self, topics: tuple[str, ...], pattern: str | None) -> None:
        """subscribe() with other topics: seen by the next poll()."""
        self.touch()
        self.pattern = pattern
        self.topics = (
            tuple(sorted(topics)) if pattern is None else self.world.topics_matching(pattern)
        )
        if self.is_alive:
            self.metadata.watch(self.topics)
            if not self.is_frozen:
                self.wake_for_business()

    def enforce_rebalance(self) -> None:
        """enforceRebalance()."""
        if self.is_alive:
            self.touch()
            self.member.request_rejoin("rebalance enforced by user")
            self.tell(RejoinRequested(self.engine.now, self.name, self.member.rejoin_reason))
            if not self.is_frozen:
                self.wake_for_business()

    # ------------------------------------------------------------------------------------- touching

    def touch(self) -> None:
        """Something is done to it, or asked of it: it has to be where it would be by now."""
        if self.skipped is not None:
            self.skipped.end()

    def wake_for_business(self) -> None:
        """The application shall look up: at once if it sits in poll(), else when its batch is
        done.
        """
        self.touch()
        if self.is_polling and not self.is_frozen:
            self._wake()

    def _wake(self) -> None:
        """Something has come for a thread that sits in poll()."""
        raise NotImplementedError

    # -------------------------------------------- how it stands: it may change while a thread waits

    def must_stop(self) -> bool:
        return self.stop_option != ""

    def is_called_away(self) -> bool:
        """Must the application leave poll()?"""
        return self.stop_option != "" or self.hangs_now()

    def hangs_now(self) -> bool:
        """Is it stuck wherever it is?"""
        return self.hang_us > 0 and self.hangs == "now"

    def knows_coordinator(self) -> bool:
        return self.coordinator is not None

    # --------------------------------------------------------------------------------------- chance

    def jitter(self) -> float:
        """What a backoff is multiplied with (ExponentialBackoff's ±20 %)."""
        return self.stream("backoff").draw(self.machine.backoff_percent) / 100

    def stream(self, name: str) -> Stream:
        """This consumer's stream of random numbers for one purpose."""
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = self.world.randomness.stream(f"{name}/{self.name}")
        return found
