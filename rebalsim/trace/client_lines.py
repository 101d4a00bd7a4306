"""What one line of a Java consumer's log tells, as events: the templates of Kafka 2.4 to 4.3,
classic and consumer protocol.

One line is at most a few events. Callbacks are told by the line that Kafka prints before it
enters them; their end is the next line of that thread, which only a reader of the whole log can
know.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rebalsim.domain.ids import Partition
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.log_lines import LogLine, take_apart

_N = r"(-?\d{1,18})"
_GENERATION = re.compile(
    r"Generation\{generationId=" + _N + r", memberId='([^']{0,400})', protocol='([^']{0,200})'\}"
)
_PARTITION = re.compile(r"[\w.-]{1,249}-\d{1,9}")
Told = tuple[TraceEvent, ...]
Teller = Callable[[int, str, "re.Match[str]"], Told]

REBALANCING = "group is already rebalancing"
POLL_EXPIRED = "consumer poll timeout has expired."


def partitions_in(text: str) -> tuple[Partition, ...]:
    """The partitions listed in a text, sorted: `[t-0, t-1]`, `t-0, t-1`, or nothing."""
    found: dict[Partition, None] = {}
    for word in _PARTITION.findall(text):
        topic, _, number = word.rpartition("-")
        if topic:
            found[Partition(topic, int(number))] = None
    return tuple(sorted(found))


def events_of(line: LogLine) -> Told:
    """What a client's line tells; nothing if it is not worth an event."""
    for begins, pattern, teller in _TEMPLATES:
        if line.text.startswith(begins) and (found := pattern.match(line.text)) is not None:
            return teller(line.at_us, line.client, found)
    return ()


def event_of(text: str) -> TraceEvent | None:
    """The (first) event in one raw log line of a client; None if there is none."""
    line = take_apart(text)
    told = events_of(line) if line is not None and not line.is_broker else ()
    return told[0] if told else None


def _joined(at: int, c: str, m: re.Match[str]) -> Told:
    generation = _GENERATION.search(m[1])
    if generation is not None:
        return (ev.GenerationJoined(at, c, int(generation[1]), generation[2], generation[3]),)
    number = re.match(_N, m[1])
    return (ev.GenerationJoined(at, c, int(number[1]), "", ""),) if number is not None else ()


def _synced(at: int, c: str, m: re.Match[str]) -> Told:
    generation = _GENERATION.search(m[1])
    number = generation or re.match(_N, m[1])
    return (ev.AssignmentReceived(at, c, int(number[1]), ()),) if number is not None else ()


def _rejoin(at: int, c: str, m: re.Match[str]) -> Told:
    reason = m[1].rstrip()
    told: Told = (ev.RejoinRequested(at, c, reason),)
    return (ev.RebalanceNoticed(at, c, "heartbeat"), *told) if reason == REBALANCING else told


def _old_notice(at: int, c: str, m: re.Match[str]) -> Told:
    return ev.RebalanceNoticed(at, c, "heartbeat"), ev.RejoinRequested(at, c, REBALANCING)


def _leave(at: int, c: str, m: re.Match[str]) -> Told:
    reason = m[1].rstrip()
    left: Told = (
        ev.LeaveSent(
            at, c, reason if not reason.startswith("consumer poll timeout") else POLL_EXPIRED
        ),
    )
    return (
        (ev.PollExpired(at, c), *left)
        if reason.startswith("consumer poll timeout has expired. This means")
        else left
    )


def _callback(kind: str) -> Teller:
    return lambda at, c, m: (ev.CallbackBegan(at, c, kind, partitions_in(m[1])),)


def _position(how: str) -> Teller:
    def told(at: int, c: str, m: re.Match[str]) -> Told:
        found = partitions_in(m[1])
        offset = re.search(r"offset=" + _N, m[2]) or re.match(r"(?:offset )?" + _N, m[2])
        if not found or offset is None:
            return ()
        at_offset = int(offset[1])
        return (
            ev.PositionFound(
                at, c, found[0], at_offset, how or ("earliest" if at_offset == 0 else "latest")
            ),
        )

    return told


def _fenced(api: str, error: str = "") -> Teller:
    return lambda at, c, m: (ev.Fenced(at, c, api, error or m[1].strip(" ,.")),)


def _heartbeat_failed(at: int, c: str, m: re.Match[str]) -> Told:
    error = m[1].strip(" ,.").rsplit(".", 1)[-1]
    return (ev.Fenced(at, c, "Heartbeat", error),)


def _commit_failed(at: int, c: str, m: re.Match[str]) -> Told:
    return (ev.CommitRefused(at, c, m[2][:200].rstrip(), partitions_in(m[1])),)


def _coordinator(at: int, c: str, m: re.Match[str]) -> Told:
    number = re.search(r"\bid: (\d{1,10})", m[1]) or re.search(r"\bnodeId=(\d{1,10})", m[1])
    if number is None:
        return (ev.CoordinatorFound(at, c),)
    broker = int(number[1])
    return (
        ev.CoordinatorFound(at, c, 2_147_483_647 - broker if broker > 1_000_000_000 else broker),
    )


def _state(at: int, c: str, m: re.Match[str]) -> Told:
    return (ev.MemberStateChanged(at, "", c, m[3], m[4], int(m[2]), "client"),)


def _one(make: Callable[[int, str, re.Match[str]], TraceEvent]) -> Teller:
    return lambda at, c, m: (make(at, c, m),)


def _template(pattern: str, teller: Teller) -> tuple[str, re.Pattern[str], Teller]:
    """With the pattern's fixed beginning, looked at first: most lines are none of these."""
    literal = re.match(r"[A-Za-z :']*", pattern)
    fixed = literal[0] if literal is not None else ""
    if pattern[len(fixed) : len(fixed) + 1] in ("?", "*", "{"):
        fixed = fixed[:-1]
    return fixed, re.compile(pattern, re.DOTALL), teller


_TEMPLATES = (
    _template(
        r"\(Re-\)joining group", _one(lambda at, c, m: ev.RequestSent(at, c, "JoinGroup", -1))
    ),
    _template(r"Request joining group due to: (.*)$", _rejoin),
    _template(r"Attempt to heartbeat failed since group is rebalancing", _old_notice),
    _template(r"Successfully joined group with generation (.*)$", _joined),
    _template(r"Successfully synced group in generation (.*)$", _synced),
    _template(
        r"SyncGroup failed: The group began another rebalance",
        _one(lambda at, c, m: ev.RebalanceNoticed(at, c, "sync")),
    ),
    _template(
        r"SyncGroup failed: .{0,40}group instance id .{1,300} has been fenced",
        _fenced("SyncGroup", "FENCED_INSTANCE_ID"),
    ),
    _template(
        r"Finished assignment for group at generation " + _N,
        _one(lambda at, c, m: ev.AssignmentComputed(at, c, "", int(m[1]), "")),
    ),
    _template(r"Revoke previously assigned partitions:? ?(.*)$", _callback("revoked")),
    _template(r"Lost previously assigned partitions:? ?(.*)$", _callback("lost")),
    _template(r"Adding newly assigned partitions:? ?(.*)$", _callback("assigned")),
    _template(r"Setting newly assigned partitions:? ?(.*)$", _callback("assigned")),
    _template(
        r"Setting offset for partition (\S{1,300}) to the committed offset (.*)$",
        _position("committed"),
    ),
    _template(r"Resetting offset for partition (\S{1,300}) to (?:position )?(.*)$", _position("")),
    _template(
        r"[Cc]onsumer poll timeout has expired", _one(lambda at, c, m: ev.PollExpired(at, c))
    ),
    _template(
        r"This member will leave the group because consumer poll timeout has expired",
        _one(lambda at, c, m: ev.PollExpired(at, c)),
    ),
    _template(
        r"Member \S{1,400} sending LeaveGroup request to coordinator .{0,400}? due to (.*)$", _leave
    ),
    _template(
        r"Member \S{1,400} sending LeaveGroup request to coordinator",
        _one(lambda at, c, m: ev.LeaveSent(at, c, "")),
    ),
    _template(
        r"Resetting generation (?:and member id )?due to:? ?(.*)$",
        _one(lambda at, c, m: ev.MemberReset(at, c, m[1].rstrip())),
    ),
    _template(
        r"Attempt to heartbeat with .{0,800}? failed (?:due to|since) (\S{1,200}?),? resetting "
        r"generation",
        _heartbeat_failed,
    ),
    _template(
        r"Attempt to heartbeat failed for since member id .{1,400} is not valid",
        _fenced("Heartbeat", "UNKNOWN_MEMBER_ID"),
    ),
    _template(
        r"JoinGroup failed: (\S{1,200}) Need to re-join",
        _one(lambda at, c, m: ev.ResponseReceived(at, c, "JoinGroup", -1, m[1].rstrip(".:,"))),
    ),
    _template(
        r"Failing OffsetCommit request since the consumer is not part of an active group",
        _one(lambda at, c, m: ev.CommitRefused(at, c, "CommitFailed")),
    ),
    _template(
        r"Offset commit failed on partition (\S{1,300}) at offset \d{1,19}: (.*)$", _commit_failed
    ),
    _template(
        r"Asynchronous auto-commit of offsets (.{0,2000}?)failed(?: due to [^:]{0,80})?: (.*)$",
        _commit_failed,
    ),
    _template(r"Discovered group coordinator (.*)$", _coordinator),
    _template(
        r"Group coordinator .{0,400}? is unavailable or invalid(?: due to cause: "
        r"(.{0,200}?)\.)?(?: |,|$)",
        _one(lambda at, c, m: ev.CoordinatorLost(at, c, m[1] or "")),
    ),
    _template(
        r"Member (\S{1,400}) with epoch " + _N + r" transitioned from (\w{1,40}) to (\w{1,40})",
        _state,
    ),
    _template(
        r"ConsumerGroupHeartbeatRequest failed for member \S{0,400} because epoch \S{1,40} is "
        r"fenced",
        _fenced("ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
    ),
    _template(
        r"ConsumerGroupHeartbeatRequest failed because member \S{0,400} is unknown",
        _fenced("ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID"),
    ),
    _template(
        r"ConsumerGroupHeartbeatRequest failed due to unreleased instance id",
        _fenced("ConsumerGroupHeartbeat", "UNRELEASED_INSTANCE_ID"),
    ),
    _template(
        r"ConsumerGroupHeartbeatRequest failed due to fenced instance id",
        _fenced("ConsumerGroupHeartbeat", "FENCED_INSTANCE_ID"),
    ),
    _template(
        r"Subscribed to (?:topic|pattern)", _one(lambda at, c, m: ev.ConsumerStarted(at, c, 1))
    ),
)
