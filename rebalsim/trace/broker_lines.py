"""What one line of a broker's group coordinator tells, as events: new coordinator and old, classic
groups and consumer groups.

A broker's log names members by id; which consumer that is, the clients' logs tell, or the id
itself (`c1-<uuid>`). There is no line for reaching Stable: the leader's assignment having come
is the nearest.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.log_lines import LogLine, take_apart

_N = r"(-?\d{1,18})"
_ID = r"(\S{1,400}?)"
_UUID = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
Told = tuple[TraceEvent, ...]
Names = Callable[[str], str]  # member id → consumer
Teller = Callable[[int, "re.Match[str]", Names], Told]


def named_by_id(member_id: str) -> str:
    """The consumer that a member id speaks of by itself: the client (or instance) id before the
    random part.
    """
    return _UUID.sub("", member_id)


def trigger_of(reason: str) -> tuple[str, str]:
    """The trigger and the member id in a `Preparing to rebalance` line's reason."""
    for pattern, trigger in _REASONS:
        if (found := pattern.search(reason)) is not None:
            return trigger, found[1] if found.re.groups else ""
    return "", ""


_REASONS = (
    (re.compile(r"[Aa]dding new member " + _ID + r"(?: |$)"), "joined"),
    (re.compile(r"(?:[Rr]emoving member " + _ID + r" on heartbeat expiration)"), "session-expired"),
    (re.compile(r"explicit `LeaveGroup` request for \((?:\(?)([^,()]{0,400})"), "left"),
    (re.compile(r"[Rr]emoving member " + _ID + r" on LeaveGroup"), "left"),
    (re.compile(r"Leader " + _ID + r" re-joining group"), "leader-rejoined"),
    (
        re.compile(r"selectedProtocol will change because static member " + _ID + r" "),
        "static-protocol-changed",
    ),
    (
        re.compile(r"Updating metadata for (?:static )?member " + _ID + r"(?: |$)"),
        "metadata-changed",
    ),
    (re.compile(r"on pending sync request expiration"), "sync-expired"),
    (re.compile(r"when storing group assignment ?during SyncGroup"), "write-failed"),
    (re.compile(r"Freshly-loaded group"), "coordinator-moved"),
)


def events_of(line: LogLine, name: Names = named_by_id) -> Told:
    """What a coordinator's line tells; nothing if it is not worth an event."""
    for pattern, teller in _TEMPLATES:
        if (found := pattern.match(line.text)) is not None:
            return teller(line.at_us, found, name)
    return ()


def event_of(text: str) -> TraceEvent | None:
    """The (first) event in one raw line of a broker's log; None if there is none."""
    line = take_apart(text)
    told = events_of(line) if line is not None and line.is_broker else ()
    return told[0] if told else None


def _preparing(at: int, m: re.Match[str], name: Names) -> Told:
    trigger, member = trigger_of(m[4])
    client = re.search(r"client reason: (.*)$", m[4])
    reason = client[1].rstrip(")") if client is not None else m[4]
    if (
        trigger in ("leader-rejoined", "metadata-changed")
        and "need to revoke" not in reason
        and "subscription has changed" in reason
    ):
        trigger = "subscription-changed"
    return (
        ev.GroupStateChanged(
            at, m[1], "", m[2], int(m[3]), trigger, name(member) if member else "", m[4]
        ),
    )


def _stabilized(at: int, m: re.Match[str], name: Names) -> Told:
    return (
        ev.BarrierCompleted(at, m[1], int(m[2]), int(m[3]), ""),
        ev.GroupStateChanged(at, m[1], "PreparingRebalance", "CompletingRebalance", int(m[2])),
    )


def _assigned(at: int, m: re.Match[str], name: Names) -> Told:
    group, generation = m[2], int(m[3])
    return ev.AssignmentStored(at, group, generation), ev.GroupStateChanged(
        at, group, "CompletingRebalance", "Stable", generation
    )


def _empty(at: int, m: re.Match[str], name: Names) -> Told:
    return (ev.GroupStateChanged(at, m[1], "PreparingRebalance", "Empty", int(m[2])),)


def _added(how: str, group: int, member: int) -> Teller:
    return lambda at, m, name: (ev.MemberAdded(at, m[group], name(m[member]), m[member], how),)


def _removed(why: str, group: int, member: int) -> Teller:
    return lambda at, m, name: (ev.MemberRemoved(at, m[group], name(m[member]), m[member], why),)


def _not_rejoined(at: int, m: re.Match[str], name: Names) -> Told:
    ids = re.findall(r"[^\s,\[\]{}()=]{5,400}", m[2])
    return tuple(
        ev.MemberRemoved(at, m[1], name(i), i, "not-rejoined") for i in ids if _UUID.search(i)
    )


def _bumped(at: int, m: re.Match[str], name: Names) -> Told:
    return (ev.EpochBumped(at, m[1], int(m[2]), ""),)


def _computed(at: int, m: re.Match[str], name: Names) -> Told:
    return (ev.AssignmentComputed(at, "", m[1], int(m[2]), m[3]),)


def _loaded(at: int, m: re.Match[str], name: Names) -> Told:
    return (ev.CoordinatorMoved(at, m[1], -1, True),)


def _template(pattern: str, teller: Teller) -> tuple[re.Pattern[str], Teller]:
    return re.compile(pattern), teller


_GROUP = r"\[Group(?:Id)? (\S{1,249})\] "
_TEMPLATES = (
    _template(
        rf"Preparing to rebalance group (\S{{1,249}}) in state (\w{{1,40}}) with old generation "
        rf"{_N}(?: \(\S{{1,249}}\))?"
        r" \(reason: (.*?)\)\.?\s*$",
        _preparing,
    ),
    _template(
        rf"Stabilized group (\S{{1,249}}) generation {_N} (?:\(\S{{1,249}}\) )?with {_N} members",
        _stabilized,
    ),
    _template(
        rf"Assignment received from leader (?:{_ID} )?for group (\S{{1,249}}?) for generation {_N}",
        _assigned,
    ),
    _template(
        rf"Group (\S{{1,249}}) with generation {_N} (?:\(\S{{1,249}}\) )?is now empty", _empty
    ),
    _template(
        rf"(?:Member|Member\S{{0,5}}) {_ID} in group (\S{{1,249}}) has failed, removing it",
        _removed("session-expired", 2, 1),
    ),
    _template(
        rf"{_GROUP}Member {_ID} has left group through explicit `LeaveGroup`",
        _removed("left", 1, 2),
    ),
    _template(
        rf"{_GROUP}(?:Dynamic|Static) member {_ID} .{{0,300}}?has left group through explicit "
        r"`LeaveGroup`",
        _removed("left", 1, 2),
    ),
    _template(
        rf"Member MemberMetadata\(memberId={_ID}, .{{0,4000}}?\) has left group (\S{{1,249}}) "
        r"through explicit `LeaveGroup`",
        _removed("left", 2, 1),
    ),
    _template(
        rf"Member ?\[group\.instance\.id .{{0,300}}?, member\.id {_ID}\] in group (\S{{1,249}}) "
        r"has left, removing it",
        _removed("left", 2, 1),
    ),
    _template(
        rf"Member {_ID} in group (\S{{1,249}}) has left, removing it", _removed("left", 2, 1)
    ),
    _template(
        r"Group (\S{1,249}) removed dynamic members who haven't joined: (.*)$", _not_rejoined
    ),
    _template(
        rf"Pending member {_ID} in group (\S{{1,249}}) has been removed after session timeout "
        r"expiration",
        _removed("pending-expired", 2, 1),
    ),
    _template(
        rf"Dynamic member with unknown member id joins group (\S{{1,249}}) in .{{0,100}}?Created "
        rf"a new member id {_ID} and request",
        _added("pending", 1, 2),
    ),
    _template(
        rf"Dynamic member with unknown member id joins group (\S{{1,249}}) in .{{0,100}}?Created "
        rf"a new member id {_ID} and added",
        _added("new", 1, 2),
    ),
    _template(
        rf"Pending dynamic member with id {_ID} joins group (\S{{1,249}}) in", _added("new", 2, 1)
    ),
    _template(
        rf"Static member with groupInstanceId=\S{{1,300}} and unknown member id joins group "
        rf"(\S{{1,249}}) in .{{0,100}}?"
        rf"(?:Created a new member id|Replacing previously mapped member) {_ID} (?:for this "
        r"member|with this)",
        _added("static", 1, 2),
    ),
    _template(rf"{_GROUP}Member {_ID} joins the consumer group using", _added("new", 1, 2)),
    _template(
        rf"{_GROUP}Static member {_ID} with instance id \S{{1,300}} joins the consumer group using",
        _added("static", 1, 2),
    ),
    _template(
        rf"{_GROUP}Static member with instance id \S{{1,300}} re-joins the consumer group "
        rf".{{0,100}}?Created a new member {_ID} to replace",
        _added("replacement", 1, 2),
    ),
    _template(rf"{_GROUP}Bumped group epoch to {_N}", _bumped),
    _template(
        rf"{_GROUP}Computed a new target assignment for epoch {_N} with '(\S{{1,200}})' assignor",
        _computed,
    ),
    _template(rf"{_GROUP}Member {_ID} left the consumer group", _removed("left", 1, 2)),
    _template(
        rf"{_GROUP}Static member {_ID} with instance id \S{{1,300}} left the consumer group",
        _removed("left", 1, 2),
    ),
    _template(
        rf"{_GROUP}Member {_ID} fenced from the group because the member session expired",
        _removed("session-expired", 1, 2),
    ),
    _template(
        rf"{_GROUP}Member {_ID} fenced from the group because", _removed("rebalance-timeout", 1, 2)
    ),
    _template(r"Loaded (?:classic|consumer) group (\S{1,249}) with", _loaded),
)
