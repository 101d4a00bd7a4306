"""What one consumer's lines tell together: its lives, its callbacks from begin to end, and its
events in order.
"""

from __future__ import annotations

import re
from dataclasses import replace

from rebalsim.domain.ids import Partition
from rebalsim.trace import client_lines
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.log_files import Voice
from rebalsim.trace.log_lines import LogLine

_AFTER_CALLBACK = re.compile(
    r"\(Re-\)joining group|Request joining group due to: (?:need to revoke|consumer "
    r"pro-actively)|Notifying assignor|Adding newly assigned|"
    r"Resetting generation|Member \S{1,400} sending LeaveGroup|Setting offset for "
    r"partition|Found no committed offset|Resetting offset for partition|"
    r"User provided listener"
)


class Speech:
    """One consumer's lines turned into events."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.out: list[TraceEvent] = []
        self.life = 0
        self.is_gone = True
        self.is_leaving = False
        self.entered: tuple[ev.CallbackBegan, str] | None = None
        self.owned: dict[Partition, None] = {}
        self.synced: ev.AssignmentReceived | None = None
        self.revoking: tuple[int, tuple[Partition, ...]] | None = None
        self.adding: tuple[int, tuple[Partition, ...]] | None = None
        self.last_us = -1

    def tell(self) -> list[TraceEvent]:
        """All events of the voice, ascending."""
        for line in self.voice.lines:
            line = replace(line, client=self.voice.name)
            self._leave_callback(line)
            self._hear(line)
            self.last_us = line.at_us
        self._close_callback(-1)
        if self.is_leaving and not self.is_gone:
            self._gone(self.last_us, "closed")
        return self.out

    def _hear(self, line: LogLine) -> None:
        self._hear_lists(line)
        for e in client_lines.events_of(line):
            kind = type(e)
            if kind is ev.ConsumerStarted:
                self._begin(line.at_us)
                continue
            if self.is_gone:
                self._begin(line.at_us)
            if kind is ev.CallbackBegan:
                self._enter(e, line.thread)
                continue
            if kind is ev.AssignmentReceived:
                self.synced = e
                e.partitions = tuple(sorted(self.owned))
            elif kind is ev.MemberStateChanged:
                e.group = self.voice.group
                self._without_listener(e)
                self.is_leaving = (
                    e.after in ("LEAVING", "UNSUBSCRIBED")
                    and "poll" not in self.out[-1].__class__.__name__.lower()
                )
            elif kind is ev.LeaveSent:
                self.is_leaving = "closed" in e.reason or "unsubscribed" in e.reason
            elif kind is ev.MemberReset and "pro-actively leaving" in e.reason:
                self.is_leaving = self.is_leaving or not self._has_overrun()
            elif kind is ev.RequestSent:
                self.is_leaving = False
            elif kind is ev.AssignmentComputed:
                e.group = self.voice.group
            self.out.append(e)

    def _has_overrun(self) -> bool:
        return any(type(e) is ev.PollExpired for e in self.out[-4:])

    def _begin(self, at: int) -> None:
        if not self.is_gone:
            self._gone(self.last_us, "closed" if self.is_leaving else "killed")
        self.life += 1
        self.is_gone = self.is_leaving = False
        self.out += [
            ev.ConsumerStarted(at, self.voice.name, self.life),
            ev.PollingBegan(at, self.voice.name, self.life),
        ]

    def _gone(self, at: int, how: str) -> None:
        self._close_callback(-1)
        self.out.append(ev.ConsumerExited(at, self.voice.name, self.life, how))
        self.is_gone = True
        self.owned.clear()
        self.synced = None

    # the listener's callbacks: entered with a line, left with the next one of that thread
    def _enter(self, e: ev.CallbackBegan, thread: str) -> None:
        self.entered = (e, thread)
        self.out.append(e)
        if not e.partitions:
            self._close_callback(e.at_us)
        for p in e.partitions:
            if e.callback == "assigned":
                self.owned[p] = None
            else:
                self.owned.pop(p, None)
        if e.callback == "assigned" and self.synced is not None:
            self.synced.partitions = tuple(sorted(self.owned))
            self.synced = None
        if e.callback == "revoked":
            self.revoking = None
        elif e.callback == "assigned":
            self.adding = None

    def _leave_callback(self, line: LogLine) -> None:
        """What Kafka prints right after a callback bounds it; any other line says nothing about
        how long it took.
        """
        if self.entered is None:
            return
        bounds = _AFTER_CALLBACK.match(line.text) is not None
        if (bounds and line.thread == self.entered[1]) or line.text.endswith(
            "from RECONCILING to ACKNOWLEDGING."
        ):
            self._close_callback(line.at_us)
        elif not bounds and (line.thread == self.entered[1] or not line.thread):
            self._close_callback(self.entered[0].at_us)

    def _close_callback(self, at: int) -> None:
        if self.entered is not None:
            e = self.entered[0]
            self.out.append(
                ev.CallbackEnded(max(at, e.at_us), e.consumer, e.callback, e.partitions)
            )
            self.entered = None

    # consumer protocol without a listener: no callback lines, only the background thread's lists
    def _hear_lists(self, line: LogLine) -> None:
        if line.text.startswith("Revoking previously assigned partitions"):
            self.revoking = (line.at_us, client_lines.partitions_in(line.text))
        elif line.text.startswith("Reconciling assignment with local epoch"):
            added = re.search(r"Added partitions \(assigned - owned\):([^\n]*)", line.text)
            self.adding = (
                (line.at_us, client_lines.partitions_in(added[1])) if added is not None else None
            )

    def _without_listener(self, e: ev.MemberStateChanged) -> None:
        if e.before != "RECONCILING" or e.after != "ACKNOWLEDGING":
            return
        for kind, told in (("revoked", self.revoking), ("assigned", self.adding)):
            if told is not None and told[1]:
                self._enter(
                    ev.CallbackBegan(
                        max(told[0], self.out[-1].at_us if self.out else 0),
                        self.voice.name,
                        kind,
                        told[1],
                    ),
                    "",
                )
                self._close_callback(e.at_us)
        self.revoking = self.adding = None
