"""Message by message: every request of the group protocol that left a member, and its answer, ours
against the recording's.

Beats and commits do not keep step with the joins to the millisecond, so three conversations are
held apart for each life of a member: joins (JoinGroup, SyncGroup, LeaveGroup), heartbeats,
commits. In each, order and errors must agree, and times to within a heartbeat's worth of chance;
under the consumer protocol, where everything is a heartbeat, epochs and whether an answer
brought an assignment too. The first place where they do not is where a rule is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.trace.events import AssignmentReceived, ConsumerStarted, RequestSent, ResponseReceived
from rebalsim.trace.kafka_errors import error_name
from rebalsim.trace.trace import Trace

_KINDS = {
    KafkaApi.JOIN: "joins",
    KafkaApi.SYNC: "joins",
    KafkaApi.LEAVE: "joins",
    KafkaApi.HEARTBEAT: "heartbeats",
    KafkaApi.OFFSET_COMMIT: "commits",
    KafkaApi.CONSUMER_HEARTBEAT: "heartbeats",
}
_BEAT = KafkaApi.CONSUMER_HEARTBEAT
FAR_MS = 100.0  # farther apart than this is worth a word


@dataclass(slots=True)
class Message:
    """A request that left, or the answer that came."""

    at: float
    is_answer: bool
    api: str
    error: str = ""
    epoch: int = -9  # consumer protocol
    has_assignment: bool = False

    def is_like(self, other: Message) -> bool:
        return (
            self.is_answer is other.is_answer
            and self.api == other.api
            and self.error == other.error
            and self.epoch == other.epoch
            and self.has_assignment is other.has_assignment
        )

    def __str__(self) -> str:
        epoch = f" at epoch {self.epoch}" if self.epoch > -9 else ""
        brought = " with an assignment" if self.has_assignment else ""
        return (
            f"{'answer to ' if self.is_answer else ''}{self.api}{' ' + self.error if self.error else ''}{epoch}{brought} "
            f"at {self.at:.0f} ms"
        )


@dataclass(slots=True)
class Difference:
    """The first message of one conversation that is not as recorded."""

    at: float
    who: str
    kind: str
    number: int
    text: str


Conversations = dict[tuple[str, int, str], list[Message]]


def recorded(document: dict[str, Any]) -> Conversations:
    """The recording's messages by member, life and conversation."""
    talks: Conversations = {}
    for event in document["events"]:
        if event["ev"] in ("sent", "got") and event["api"] in _KINDS:
            key = event["member"], event.get("life", 1), _KINDS[event["api"]]
            code = event.get("error", 0)
            epoch = int(event["epoch"]) if event["api"] == _BEAT and not code else -9
            talks.setdefault(key, []).append(
                Message(
                    event["t"],
                    event["ev"] == "got",
                    event["api"],
                    error_name(code) if code else "",
                    epoch,
                    bool(event.get("assignment")),
                )
            )
    return talks


def simulated(trace: Trace) -> Conversations:
    """The requests of a simulated run, from a trace of the whole wire."""
    talks: Conversations = {}
    lives: dict[str, int] = {}
    for event in trace.events:
        kind = type(event)
        if kind is ConsumerStarted:
            lives[event.consumer] = event.life
        elif (kind is RequestSent or kind is ResponseReceived) and event.api in _KINDS:
            key = event.consumer, lives.get(event.consumer, 1), _KINDS[event.api]
            is_answer = kind is ResponseReceived
            error = event.error if is_answer else ""
            epoch = event.generation if event.api == _BEAT and not error else -9
            talks.setdefault(key, []).append(
                Message(event.at_us / 1000, is_answer, event.api, error, epoch)
            )
        elif kind is AssignmentReceived:
            beats = talks.get((event.consumer, lives.get(event.consumer, 1), "heartbeats"))
            if beats and beats[-1].api == _BEAT:
                beats[-1].has_assignment = True
    return talks


def differences(document: dict[str, Any], trace: Trace) -> list[Difference]:
    """The first difference of each conversation, the earliest first; none for those that agree."""
    theirs, ours = recorded(document), simulated(trace)
    found = []
    for key in dict.fromkeys([*theirs, *ours]):
        parted = _first(theirs.get(key, []), ours.get(key, []))
        if parted is not None:
            member, life, kind = key
            who = member if life == 1 else f"{member} (life {life})"
            at, place, said = parted
            found.append(Difference(at, who, kind, place, said))
    return sorted(found, key=lambda difference: (difference.at, difference.who, difference.kind))


def _first(theirs: Sequence[Any], ours: Sequence[Any]) -> tuple[float, int, str] | None:
    """Where two conversations part: when, at which message, and how."""
    for i, (real, mine) in enumerate(zip(theirs, ours), 1):
        at = min(real.at, mine.at)
        if not real.is_like(mine):
            return at, i, f"recorded {real}, ours {mine}"
        if abs(real.at - mine.at) > FAR_MS:
            return at, i, f"recorded {real}, ours {mine.at - real.at:+.0f} ms"
    both = min(len(theirs), len(ours))
    if len(theirs) > both:
        return theirs[both].at, both + 1, f"recorded {theirs[both]}, ours has none"
    if len(ours) > both:
        return ours[both].at, both + 1, f"recorded none, ours {ours[both]}"
    return None


def compared(document: dict[str, Any], trace: Trace) -> tuple[int, int]:
    """How many messages were recorded, and how many of them ours matches in order and error."""
    theirs, ours = recorded(document), simulated(trace)
    same = sum(
        real.is_like(mine)
        for key, talk in theirs.items()
        for real, mine in zip(talk, ours.get(key, []))
    )
    return sum(map(len, theirs.values())), same
