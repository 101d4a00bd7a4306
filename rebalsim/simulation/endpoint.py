"""A consumer's side of the network, as its two threads share it: requests, answers, connections,
and who its coordinator is.

Answers lie in an inbox until a thread reads them: the application's whenever it is inside
poll(), else the heartbeat thread at its next look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.noticed_by import NoticedBy
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.discovery import ask_for_coordinator, queued_us
from rebalsim.simulation.engine import APP, Alarm
from rebalsim.simulation.network import DISCONNECTED, Call, Link
from rebalsim.simulation.process import Process
from rebalsim.trace.events import CoordinatorLost, RebalanceNoticed, RequestSent, ResponseReceived

if TYPE_CHECKING:
    from rebalsim.simulation.positions import Lookup
    from rebalsim.simulation.shares import Fetch

ALWAYS_TOLD = (KafkaApi.JOIN, KafkaApi.SYNC)
REBALANCES = (KafkaApi.JOIN, KafkaApi.SYNC, KafkaApi.OFFSET_FETCH)


class Endpoint(Process):
    """What ConsumerNetworkClient and the coordinator's bookkeeping do."""

    __slots__ = ()

    # ------------------------------------------------------------------------- requests and answers

    def call(self, api: str, request: Any, handle: Any) -> Call:
        """A request to the coordinator, not sent yet."""
        member = self.member
        call = Call(
            self,
            api,
            self.world.next_number(),
            request,
            handle,
            self.engine.now,
            self.coordinator or 0,
        )
        call.sent_generation, call.sent_member_id = member.generation, member.member_id
        return call

    def send(self, call: Call, reason: str = "") -> None:
        now = self.engine.now
        call.sent_us = now
        if not call.expires_us:
            call.expires_us = now + self.config.request_timeout_us
        self.calls[call.number] = call
        if self.world.is_wire or call.api in ALWAYS_TOLD or call.is_before_rebalance:
            call.told = self.world.next_told()
            self.tell(
                RequestSent(now, self.name, call.api, call.told, call.sent_generation, reason)
            )
        if call.api == KafkaApi.FIND_COORDINATOR:
            asked = self.link(self.world.bootstrap)
            asked.up(call, self.world.receive, queued_us(self, asked))
            self.watch_expiry(call)
            return
        link, host = self.coordinator_link, self.host
        if link is None or host is None:
            self.inbox.append((call, DISCONNECTED))
            return
        link.up(call, host.receive, self.work_us() if call.api in REBALANCES else 0)
        self.watch_expiry(call)

    def work_us(self) -> int:
        """What a request of a rebalance takes to be made and taken apart."""
        work = self.machine.rebalance_work
        return 0 if work.is_zero else self.stream("work").draw(work)

    def send_late(self, call: Call) -> None:
        """A request that had to wait for the leader's computation."""
        if self.is_alive and call.life == self.life:
            self.send(call)

    def answered(self, call: Call) -> None:
        """An answer came: the call with its response."""
        if call.life != self.life or not self.is_alive or self.calls.get(call.number) is not call:
            return
        self.touch()
        self.inbox.append((call, call.response))
        self._incoming()

    def fetched(self, fetch: Fetch) -> None:
        """A Fetch came back."""
        if (
            fetch.life == self.life
            and self.is_alive
            and self.feed.flying.get(fetch.broker) is fetch
        ):
            self.inbox.append((None, fetch))
            self._incoming()

    def looked_up(self, lookup: Lookup) -> None:
        """A partition leader answered about positions."""
        if lookup.life == self.life and self.is_alive:
            self.inbox.append((self.positions, lookup))
            self._incoming()

    def _incoming(self) -> None:
        if self.is_frozen:
            return  # read at the thaw
        if self.is_polling:
            self._wake()
        elif self.heartbeat.is_enabled:
            self.heartbeat.plan()

    def read(self) -> None:
        """Passes one after the other until everything that has come is handled, in order; then
        what ran out of time while nobody looked.
        """
        while self.inbox or self.is_overdue:
            inbox, self.inbox = self.inbox, []
            for call, response in inbox:
                self._take_up(call, response)
            if self.is_overdue and not self.inbox:
                self.is_overdue = False
                self._give_up()

    def read_once(self) -> None:
        """One network pass, of a thread that then waits: it takes one answer from each
        connection (Selector), however many have come.
        """
        inbox, self.inbox = self.inbox, []
        heard: set[Any] = set()
        left: list[Any] = []
        for call, response in inbox:
            connection = _connection_of(call, response)
            if connection in heard:
                left.append((call, response))
            else:
                if connection is not None:
                    heard.add(connection)
                self._take_up(call, response)
        self.inbox = [*left, *self.inbox]

    def _take_up(self, call: Any, response: Any) -> None:
        if call is None:
            self.feed.landed(response)
        elif call is self.positions:
            self.positions.landed(response)
        elif call.number in self.calls or response is DISCONNECTED:
            self._pop(call, response)

    def _pop(self, call: Call, response: Any) -> None:
        self.calls.pop(call.number, None)
        if self.world.is_wire or call.api in ALWAYS_TOLD:
            error: Error = response.error
            self.tell(
                ResponseReceived(
                    self.engine.now,
                    self.name,
                    call.api,
                    call.told,
                    "" if error is Error.NONE else error.name,
                    getattr(response, "generation", -1),
                    call.sent_us,
                )
            )
        call.handle(call, response)

    def is_awaiting_coordinator(self) -> bool:
        """Is anything under way on the coordinator's connection?"""
        return any(call.api != KafkaApi.FIND_COORDINATOR for call in self.calls.values())

    def drop_calls(self, *apis: str) -> None:
        """Nobody waits for these any more."""
        for number in [number for number, call in self.calls.items() if call.api in apis]:
            del self.calls[number]

    def watch_expiry(self, call: Call) -> None:
        """When this one has waited too long."""
        if self.expiry is None:
            self.expiry = Alarm(self.engine, self.rank + APP, self._expire)
        if call.expires_us < self.expiry.at_us:
            self.expiry.set(call.expires_us)

    def _expire(self) -> None:
        """Somewhere a request's time is over; which is noticed by whoever looks at the network,
        once the answers that are there are read.
        """
        if not self.is_alive or self.is_frozen:  # looked after at the thaw
            return
        if self.is_polling or self.heartbeat.is_enabled:
            self._give_up()
        else:
            self.is_overdue = True

    def _give_up(self) -> None:
        """A request without an answer for too long: the connection is given up, and everything
        on it with it.
        """
        now = self.engine.now
        late = [call for call in self._unanswered() if call.expires_us <= now]
        if late:
            self.touch()
            self.lose_coordinator("request timed out")
            for call in late:  # one that looked for the coordinator, too
                if self.calls.pop(call.number, None) is not None:
                    self.inbox.append((call, DISCONNECTED))
            self._incoming()
        self.watch_expiries()

    def watch_expiries(self) -> None:
        """When the next of all requests under way has waited too long."""
        waiting = self._unanswered()
        if waiting and self.expiry is not None:
            self.expiry.set(min(call.expires_us for call in waiting))

    def _unanswered(self) -> list[Call]:
        """What is under way and has no answer that only must be read."""
        answered = [call for call, _ in self.inbox]
        return [call for call in self.calls.values() if call not in answered]

    # ------------------------------------------------------------------------------ the coordinator

    def look_up_coordinator(self) -> None:
        self.is_looking_up = True
        self.send(ask_for_coordinator(self))

    def take_coordinator(self, broker: int) -> None:
        """This broker leads the group; a connection of its own is made."""
        self.coordinator = broker
        self.coordinator_link = self.link_trouble.fit(
            self.world.connect(self, broker, "coordinator"), True
        )
        self.host = self.world.host_of(self.group)

    def lose_coordinator(self, why: str) -> None:
        """markCoordinatorUnknown: whatever is under way on that connection fails; nothing is
        revoked.
        """
        if self.coordinator is None:
            return
        now = self.engine.now
        self.unavailable_us[self.coordinator] = now + int(
            self.config.reconnect_backoff_us * self.jitter()
        )
        self.coordinator = None
        self.tell(CoordinatorLost(now, self.name, why))
        for number, call in list(self.calls.items()):
            if call.api != KafkaApi.FIND_COORDINATOR:
                del self.calls[number]
                self.inbox.append((call, DISCONNECTED))

    def lose_again(self) -> None:
        """The coordinator was found, but its connection may not be made yet."""
        self.coordinator = None
        self.tell(CoordinatorLost(self.engine.now, self.name, "coordinator unavailable"))

    def is_connected_to(self, broker: int) -> bool:
        link = self._links.get(broker)
        return self.coordinator == broker or (link is not None and link.is_open)

    def lost_broker(self, broker: int) -> None:
        """A broker closed its connections."""
        self.touch()
        link = self._links.get(broker)
        if link is not None:
            link.is_open = False
        if self.coordinator == broker:
            if not self.is_frozen:
                self.touch()
            self.lose_coordinator("coordinator unavailable")
            self._incoming()

    def leave_group(self, reason: str) -> None:
        """The heartbeat thread found that the application no longer polls."""
        self.membership.leave(reason)

    def heard_by_sync(self) -> None:
        self.tell(RebalanceNoticed(self.engine.now, self.name, NoticedBy.SYNC))

    def metadata_came(self) -> None:
        """The topics look different now; a thread in poll() notices at once."""
        self.resolve_pattern()
        if self.is_polling and not self.is_frozen and self.membership.must_join():
            self.touch()
            self._wake()

    def resolve_pattern(self) -> None:
        """updatePatternSubscription: the topics that match, as the client knows them now."""
        if self.pattern is not None:
            self.topics = self.world.topics_matching(self.pattern)
            self.metadata.watch(self.topics)

    # ------------------------------------------------------------------------- connections for data

    def link(self, broker: int) -> Link:
        """The connection for data with this broker."""
        link = self._links.get(broker)
        if link is None:
            link = self._links[broker] = self.link_trouble.fit(
                self.world.connect(self, broker, "data"), False
            )
        return link


def _connection_of(call: Any, response: Any) -> Any:
    """On which connection this came; None for what no network brought."""
    if response is DISCONNECTED:
        return None
    if isinstance(call, Call):
        return call.link
    return response.broker
