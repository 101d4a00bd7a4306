"""How a member asks its coordinator over its instance's link: what is lost there, how long a client
waits for an answer, and how it finds a coordinator that moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rebalsim.protocol.errors_of_kafka import Error
from rebalsim.simulation.streams.port import Port

if TYPE_CHECKING:
    from rebalsim.simulation.streams.hosts import Host
    from rebalsim.simulation.streams.stream_thread import StreamThread

REQUEST_TIMEOUT_US = 30_000_000


class Caller:
    """One member's. `found` is told when it knows its coordinator again."""

    def __init__(
        self, port: Port, host: Host, thread: StreamThread, found: Callable[[], None]
    ) -> None:
        self._port, self._host, self._thread = port, host, thread
        self._found_by_member = found
        self.coordinator: int | None = host.broker  # None: it looks for it
        self._lost = 0  # the first request since the last answer that was lost; 0: none was
        self._sent = 0
        self._waits_for_link = False
        self._tells = False

    @property
    def is_cut_off(self) -> bool:
        """Nothing reaches its coordinator."""
        return self._thread.instance.link.is_cut

    def ask(
        self,
        request: Any,
        answer: Callable[[Any], None],
        patience_us: int = REQUEST_TIMEOUT_US,
        left_us: int | None = None,
    ) -> None:
        """Send it; what is lost on the way is given up after a while, and the coordinator with it. One
        that left before now is under way, whatever has become of the link since.
        """
        link, now = self._thread.instance.link, self._port.now
        sent_us = now if left_us is None else left_us
        self._sent += 1

        def came(response: Any) -> None:
            if link.is_cut:
                self._lose(sent_us + patience_us)
                return
            self._lost = 0
            if extra_us := link.extra_us():
                self._port.call(self._port.now + extra_us, answer, response)
            else:
                answer(response)

        if left_us is not None:
            self._host.ask(request, came, self.coordinator, left_us - now)
        elif link.is_cut:
            self._lose(sent_us + patience_us)
        else:
            self._host.ask(request, came, self.coordinator, link.extra_us())

    def tell(self, request: Any) -> None:
        """Send what needs no answer."""
        if not self._thread.instance.link.is_cut:
            self._host.ask(request, lambda answer: None, self.coordinator)

    def _lose(self, until_us: int) -> None:
        if not self._lost:
            self._lost = self._sent
            self._port.call(until_us, self._give_up, self._lost)

    def _give_up(self, lost: int) -> None:
        if lost != self._lost or self.coordinator is None:
            return  # something else came through
        self._lost = 0
        self.coordinator = None
        self._tell_lost("DISCONNECTED")
        if self._thread.instance.link.is_cut:
            self._waits_for_link = True
        else:
            self._host.look_for(self._found)

    def healed(self) -> None:
        """The link is whole again."""
        if self._waits_for_link:
            self._waits_for_link = False
            self._host.look_for(self._found)

    def turned_away(self, error: Error) -> None:
        """The coordinator moved, or still reads the group: asked again after a while, whoever it
        is then.
        """
        if self.coordinator is not None:
            self.coordinator = None
            if error is Error.NOT_COORDINATOR:
                self._tell_lost(error.name)
            self._host.look_for(self._found)

    def _tell_lost(self, why: str) -> None:
        self._tells = True
        if not self._thread.is_gone:
            self._thread.heard("CoordinatorLost", why=why)

    def _found(self, broker: int) -> None:
        self.coordinator = broker
        if self._thread.is_gone:
            return
        if self._tells:
            self._tells = False
            self._thread.heard("CoordinatorFound", broker=broker)
        self._found_by_member()
