"""A group coordinator's lines: the new one (Kafka 4) and the Scala one (2.x, 3.x), classic groups and
consumer groups. Wordings of both stand side by side: a line tells its own version.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.broker_new import HEADS as NEW_HEADS
from rebalsim.worlds.logs.dialects.broker_new import read as read_new
from rebalsim.worlds.logs.dialects.templates import (
    GROUP,
    ID,
    N,
    Template,
    Told,
    heads,
    nothing,
    one,
    table,
    told,
)
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.heads import without_logger

_PREFIX = re.compile(
    r"\[Group(?:Coordinator|MetadataManager) (?:id=|brokerId=)?(\d{1,9})"
    r"(?: topic=\S{1,249} partition=\d{1,9})?\]:? "
)
_UUID = re.compile(
    r"[^\s,()\[\]{}=][^,()\[\]{}=]{0,360}?-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_I = r"(?:Some\()?(\S{1,300}?)\)?"  # an instance id, as Scala prints what may be missing
_P = r"(?: \(\S{1,249}\))?"  # the offsets' partition that the Scala coordinator names


def read(record: Record) -> Facts | None:
    """What a coordinator's line proves."""
    prefix = _PREFIX.search(record.text)
    if prefix is None:
        return None
    message = without_logger(record.text[prefix.end() :])
    reads = read_new if message.startswith("[Group") else _read_classic
    found = reads(record.at_us, message)
    for fact in found or ():
        fact.client = prefix[1]
    return found


def _read_classic(at_us: int, message: str) -> Told | None:
    return told(_TABLE, at_us, message)


def _removed(at: int, m: re.Match[str]) -> Told:
    ids = _UUID.findall(m[2]) or [i.strip() for i in m[2].strip("Set()[]. ").split(",")]
    return tuple(Fact(at, FactKind.REMOVED, m[1], member=i.strip()) for i in ids)


def _fenced(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, FactKind.TURNED_AWAY, member=m[1], instance=m[2], other=m[3]),)


def _member_left(at: int, m: re.Match[str]) -> Told:
    """3.x prints the whole member: its client's address and timeouts, too."""
    return (Fact(at, FactKind.LEFT, m[3], member=m[1], why=m[4] or ""), *_timeouts(at, m))


def _timeouts(at: int, m: re.Match[str]) -> Told:
    """What a member's metadata tell of its settings."""
    return tuple(
        Fact(at, FactKind.SETTING, m[3], member=m[1], why=key, other=value[1])
        for key, name in (
            ("session.timeout.ms", "sessionTimeoutMs"),
            ("max.poll.interval.ms", "rebalanceTimeoutMs"),
        )
        if (value := re.search(rf"{name}=(\d{{1,12}})", m[2])) is not None
    )


TEMPLATES: tuple[Template, ...] = (
    (
        rf"Preparing to rebalance group {GROUP} in state (\w{{1,40}}) with old generation "
        rf"{N}{_P} \(reason: (.*?)\)\.?\s*$",
        one(FactKind.PREPARING, group=1, generation=3, why=4),
    ),
    (
        rf"Stabilized group {GROUP} generation {N}{_P} with {N} members",
        one(FactKind.STABILIZED, group=1, generation=2, amount=3),
    ),
    (
        rf"Assignment received from leader (?:{ID} )?for group {GROUP} for generation {N}",
        one(FactKind.DISTRIBUTED, member=1, group=2, generation=3),
    ),
    (
        rf"Group {GROUP} with generation {N}{_P} is now empty",
        one(FactKind.EMPTY, group=1, generation=2),
    ),
    (rf"Group {GROUP} removed dynamic members who haven't joined: (.*)$", _removed),
    (rf"Group {GROUP} removed members who haven't sent their sync", nothing),
    (rf"Member {ID} in group {GROUP} has failed", one(FactKind.FAILED, member=1, group=2)),
    (rf"Member {ID} in group {GROUP} has left", one(FactKind.LEFT, member=1, group=2)),
    (
        r"Member MemberMetadata\(memberId=([^,]{1,400}), (.{0,4000}?)\) has left group "
        rf"{GROUP} through explicit `LeaveGroup`(?:; client reason: (.*))?$",
        _member_left,
    ),
    (
        r"Member ?\[group\.instance\.id .{0,300}?, member\.id (\S.{0,400}?)\] in group "
        rf"{GROUP} has left",
        one(FactKind.LEFT, member=1, group=2),
    ),
    (
        rf"Pending member {ID} in group {GROUP} has been removed after session timeout",
        one(FactKind.UNBORN, member=1, group=2),
    ),
    (
        rf"Dynamic [Mm]ember with unknown member id joins group {GROUP} in .{{0,100}}?Created a "
        rf"new member id {ID} (?:and request|for this member and request)",
        one(FactKind.BORN, group=1, member=2),
    ),
    (
        rf"Dynamic [Mm]ember with unknown member id joins group {GROUP} in .{{0,100}}?Created a "
        rf"new member id {ID} (?:and added|for this member and add)",
        one(FactKind.ADDED, group=1, member=2),
    ),
    (
        rf"Pending dynamic member with id {ID} joins group {GROUP} in",
        one(FactKind.ADDED, member=1, group=2),
    ),
    (
        rf"Static [Mm]ember with unknown member id joins group {GROUP} in .{{0,100}}?Created a "
        rf"new member id {ID} for this",
        one(FactKind.ADDED, group=1, member=2),
    ),
    (
        rf"Static member with groupInstanceId=(\S{{1,300}}) and unknown member id joins group "
        rf"{GROUP} in .{{0,100}}?Created a new member id {ID} for this",
        one(FactKind.ADDED, instance=1, group=2, member=3),
    ),
    (
        rf"Static member with groupInstanceId=(\S{{1,300}}) and unknown member id joins group "
        rf"{GROUP} in .{{0,100}}?Replacing previously mapped member {ID} with this",
        one(FactKind.REPLACED, instance=1, group=2, other=3),
    ),
    (
        rf"Adding new static member {_I} to group {GROUP} with member id {ID}\.?$",
        one(FactKind.ADDED, instance=1, group=2, member=3),
    ),
    (
        rf"Static member {_I} of group {GROUP} with unknown member id rejoins, assigning "
        rf"new member id {ID}, while old member id {ID} will be removed",
        one(FactKind.REPLACED, instance=1, group=2, member=3, other=4),
    ),
    (
        rf"Updating metadata for static member {ID} with instance id (\S{{1,300}})",
        one(FactKind.UPDATED, member=1, instance=2),
    ),
    (
        rf"Request memberId={ID} for static member with groupInstanceId=(\S{{1,300}}) is fenced "
        rf"by (?:existing|current) memberId={ID}",
        _fenced,
    ),
    (
        rf"given member\.id {ID} is identified as a known static member (\S{{1,300}}?), but not "
        rf"matching the expected member\.id {ID} during",
        _fenced,
    ),
    (
        rf"Group leader \[memberId: {ID}, groupInstanceId: (\S{{1,300}})\] failed to join before",
        one(FactKind.LATE_LEADER, member=1, instance=2),
    ),
    (
        r"Loaded member MemberMetadata\(memberId=([^,]{1,400}), (.{0,4000}?)\) in group "
        rf"{GROUP} with generation",
        _timeouts,
    ),
    (rf"Loaded (?:classic|consumer) group {GROUP} with", one(FactKind.LOADED, group=1)),
    (rf"Loading group metadata for {GROUP} with generation {N}", one(FactKind.LOADED, group=1)),
    (rf"Unloading group metadata for {GROUP} with generation", one(FactKind.UNLOADED, group=1)),
)
_TABLE = table(TEMPLATES)
HEADS = {**heads(TEMPLATES), **NEW_HEADS}
DIALECT = Dialect(
    "group coordinator", ("[GroupCoordinator ", "[GroupMetadataManager "), read, 10, is_broker=True
)
