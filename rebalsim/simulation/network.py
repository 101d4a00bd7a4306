"""The network: one-way latency per link, messages in order on each connection, and what is lost
while a link is cut.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rebalsim.domain.draws import Draw, most_of
from rebalsim.domain.scenario import Network
from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.engine import ANSWERED, ARRIVES, Engine
from rebalsim.simulation.randomness import Randomness, Stream

if TYPE_CHECKING:
    from rebalsim.simulation.inside import OnNetwork


class Call:
    """A request on its way, and what its sender does with the answer."""

    __slots__ = (
        "answer",
        "api",
        "api_generation",
        "broker",
        "consumer",
        "expires_us",
        "handle",
        "is_before_rebalance",
        "is_quiet",
        "life",
        "link",
        "number",
        "request",
        "response",
        "sent_generation",
        "sent_member_id",
        "sent_us",
        "told",
    )

    def __init__(
        self,
        consumer: OnNetwork,
        api: str,
        number: int,
        request: Any,
        handle: Any,
        sent_us: int,
        broker: int,
    ) -> None:
        self.consumer = consumer
        self.life: int = consumer.life
        self.api = api
        self.number = number
        self.request = request
        self.handle = handle  # called with (call, response) by whichever thread reads the answer
        self.sent_us = sent_us
        self.broker = broker
        self.response: Any = None
        self.link: Any = None
        self.sent_generation = -1
        self.sent_member_id = ""
        self.expires_us = 0
        self.told = -1  # its number in the trace, if it is told
        self.is_before_rebalance = (
            False  # the commit from which on nothing is handed over: always told
        )
        self.is_quiet = (
            False  # a beat or commit that changes nothing: told only in a trace of the whole wire
        )


RETRANSMITTED_AFTER_US = (
    200_000  # Linux: the least time after which TCP sends again, and twice as long each time
)
CONNECTION_REQUESTS_US = (
    0,
    1_000_000,
    3_000_000,
    7_000_000,
    15_000_000,
)  # Linux: when TCP asks for a connection, from the first time on
# socket.connection.setup.timeout.ms: how long a client waits for one, twice as long each time …
SETUP_US = 10_000_000
MOST_SETUP_US = 30_000_000  # … but no longer than socket.connection.setup.timeout.max.ms
RECONNECT_US = 50_000  # reconnect.backoff.ms, likewise …
MOST_RECONNECT_US = 1_000_000  # … up to reconnect.backoff.max.ms


class Disconnected:
    """In place of an answer: the connection is gone, or the time for an answer is over."""

    __slots__ = ("error",)

    def __init__(self) -> None:
        self.error = Error.NETWORK_EXCEPTION


DISCONNECTED = Disconnected()


class Link:
    """One connection of a consumer with a broker: latency each way, and the order of what is under
    way.

    A broker takes the next request from a connection only when it has answered the one before
    (SocketServer mutes the channel). So whatever is sent behind a parked Fetch or JoinGroup
    waits with it.
    """

    __slots__ = (
        "_draw",
        "_extra_stream",
        "_extras",
        "_last_down",
        "_last_up",
        "_opened_us",
        "_stream",
        "at_work",
        "broker",
        "busy_us",
        "connect_us",
        "engine",
        "extra_us",
        "fixed_us",
        "held",
        "is_cut",
        "is_open",
        "rank",
        "stalled_us",
        "waiting",
    )

    def __init__(
        self,
        engine: Engine,
        broker: int,
        rank: int,
        latency: Draw,
        stream: Stream | None,
        connect_us: int = 0,
    ) -> None:
        self.engine = engine
        self.broker = broker
        self.rank = rank
        self.fixed_us = int(latency.a) if latency.is_constant else -1
        self._draw = latency
        self._stream = stream
        self._extras: tuple[Draw, ...] = ()
        self._extra_stream: Stream | None = None
        self.extra_us = 0
        self.is_cut = False
        self.held: list[
            tuple[bool, Call, Any]
        ] = []  # sent while it was cut: (to the broker?, call, deliver)
        self.stalled_us = (
            0  # when the first of them, or of the answers that a broker has for it, was sent
        )
        self.connect_us = connect_us  # what a client adds to that
        # the first message waits for the connection: TCP and ApiVersions, a round trip each
        self.is_open = False
        self.at_work: Call | None = None  # at the coordinator: what is not answered yet …
        self.waiting: list[Call] = []  # … and what has come since
        self.busy_us = (
            0  # for data, where every answer is known in advance: when the broker turns to the next
        )
        self._opened_us = 0  # when the message arrives for which the connection was made
        self._last_up = 0
        self._last_down = 0

    @property
    def is_clear(self) -> bool:
        """Would a message go right through?"""
        return self.is_open and not self.is_cut

    def latency_us(self, at_us: int) -> int:
        """One way, for a message that leaves at this instant. A matter of the instant alone, so
        that beats can be told in advance.
        """
        if self.fixed_us >= 0:
            return self.fixed_us + self.extra_us
        latency = (
            self._stream.draw_at(self._draw, at_us)
            if self._stream is not None
            else int(self._draw.a)
        )
        for extra in self._extras:
            assert self._extra_stream is not None
            latency += self._extra_stream.draw_at(extra, at_us)
        return latency + self.extra_us

    @property
    def most_us(self) -> int:
        """No message is longer under way."""
        if self.fixed_us >= 0:
            return self.fixed_us + self.extra_us
        drawn = [most_of(draw) for draw in (self._draw, *self._extras)]
        return int(sum(drawn)) + self.extra_us + len(drawn)

    def burden(self, extras: list[Draw], stream: Stream | None) -> None:
        """So much more latency: constant parts are added once and for all, the others are drawn
        for each message.
        """
        self.extra_us = sum(int(extra.a) for extra in extras if extra.is_constant)
        self._extras = tuple([extra for extra in extras if not extra.is_constant])
        self._extra_stream = stream
        self.fixed_us = int(self._draw.a) if self._draw.is_constant and not self._extras else -1

    def turn(self, now_us: int) -> int:
        """A request for data leaves now: when the broker takes it up."""
        up = self.latency_us(now_us)
        if not self.is_open:
            self.is_open = True
            up = 5 * up + self.connect_us
        return max(now_us + up, self.busy_us)

    def up(self, call: Call, deliver: Any, work_us: int = 0) -> None:
        """To the broker: `deliver(event)` with the call as the event's value. Held up while the
        link is cut.

        `work_us`: what it costs both ends to make and to take apart.
        """
        if self.is_cut:
            self._hold(True, call, deliver)
            return
        engine = self.engine
        now = engine.now
        at = now + (self.fixed_us + self.extra_us if self.fixed_us >= 0 else self.latency_us(now))
        if not self.is_open:
            self.is_open = True
            at += 4 * self.latency_us(now) + self.connect_us
            self._opened_us = at
        at += work_us
        if call.is_quiet:  # those could not be told in advance if they minded the order
            if at < self._opened_us:
                at = self._opened_us
        else:
            if at < self._last_up:
                at = self._last_up
            self._last_up = at
        call.link = self
        engine.at(at, self.rank + ARRIVES, deliver, call)

    def _hold(self, is_up: bool, call: Call, deliver: Any) -> None:
        if not self.held:
            self.stall(self.engine.now)
        self.held.append((is_up, call, deliver))

    def stall(self, from_us: int) -> None:
        """It is cut, and a broker's answer that leaves at that instant will not get through."""
        self.stalled_us = min(self.stalled_us, from_us) if self.stalled_us else from_us

    def heal(self, patience_us: int) -> None:
        """What was held up comes when TCP, or a client that has lost patience with the
        connection, tries the next time.
        """
        now = self.engine.now
        self.is_cut = False
        held, self.held = self.held, []
        since, self.stalled_us = self.stalled_us, 0
        if not since or since >= now:
            return
        again, self.is_open = gets_through(since, now, self.is_open, patience_us)
        self.busy_us = max(self.busy_us, again)
        if held:
            self.engine.at(again, self.rank + ARRIVES, self._resume, held)

    def _resume(self, held: list[tuple[bool, Call, Any]]) -> None:
        for is_up, call, deliver in held:
            if not is_up:
                self.down(call, deliver)
            elif (
                call.consumer.calls.get(call.number) is call
            ):  # else its sender has given it up, and the connection with it
                self.up(call, deliver)

    def down(self, call: Call, deliver: Any, leaves_us: int = 0) -> None:
        """Back to the consumer. `leaves_us`: the broker comes to it so late; at once, if not later."""
        if self.is_cut:
            self._hold(False, call, deliver)
            return
        engine = self.engine
        now = max(engine.now, leaves_us)
        at = now + (self.fixed_us + self.extra_us if self.fixed_us >= 0 else self.latency_us(now))
        if not call.is_quiet:
            if at < self._last_down:
                at = self._last_down
            self._last_down = at
        engine.at(at, self.rank + ANSWERED, deliver, call)


def gets_through(since_us: int, now_us: int, is_open: bool, patience_us: int) -> tuple[int, bool]:
    """When the first attempt after the line healed (now) is made, of what was stalled since; and
    whether on the same connection. A client gives a connection up when an answer has not come
    for request.timeout.ms, and one that is not made yet with its set-up timeout.
    """
    attempt = since_us
    if is_open:
        timer, again = RETRANSMITTED_AFTER_US, since_us + RETRANSMITTED_AFTER_US
        while again < now_us:
            timer *= 2
            again += timer
        if again < since_us + patience_us:
            return again, True
        attempt = since_us + patience_us
    setup, backoff = SETUP_US, RECONNECT_US
    while True:
        for asked in CONNECTION_REQUESTS_US:
            if asked < setup and attempt + asked >= now_us:
                return attempt + asked, False
        attempt += setup + backoff
        setup, backoff = min(2 * setup, MOST_SETUP_US), min(2 * backoff, MOST_RECONNECT_US)


def latency_between(
    network: Network, consumer: str, consumer_rack: str, broker: int, broker_rack: str
) -> Draw:
    """The most particular latency that is stated for these two ends: a link of theirs, of their
    racks, across racks, or the general one.
    """
    ends = ({consumer, consumer_rack}, {f"broker-{broker}", broker_rack})
    best: tuple[int, Draw] | None = None
    for link in network.links:
        for one, other in ((link.one, link.other), (link.other, link.one)):
            if one and other and one in ends[0] and other in ends[1]:
                weight = (one == consumer) + (other == f"broker-{broker}")
                if best is None or weight > best[0]:
                    best = (weight, link.latency)
    if best is not None:
        return best[1]
    if (
        network.cross_rack is not None
        and consumer_rack
        and broker_rack
        and consumer_rack != broker_rack
    ):
        return network.cross_rack
    return network.latency


def connect(
    engine: Engine,
    randomness: Randomness,
    network: Network,
    name: str,
    rack: str,
    broker: int,
    broker_rack: str,
    rank: int,
    kind: str,
    connect_us: int = 0,
) -> Link:
    """The consumer's connection of this kind (its coordinator has one of its own) with the
    broker.
    """
    latency = latency_between(network, name, rack, broker, broker_rack)
    stream = None if latency.is_constant else randomness.stream(f"network/{name}/{broker}/{kind}")
    return Link(engine, broker, rank, latency, stream, connect_us)
