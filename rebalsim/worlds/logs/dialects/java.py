"""The Java consumer under the classic protocol, Kafka 2.0 to 4.3, and what both protocols share.

Lines are told by `[Consumer clientId=…, groupId=…] `; the logger does not matter. Callbacks are
printed before they are entered.
"""

from __future__ import annotations

import re
from functools import lru_cache

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.java_lists import partitions_in
from rebalsim.worlds.logs.dialects.java_new import TEMPLATES as NEW_TEMPLATES
from rebalsim.worlds.logs.dialects.templates import (
    ID,
    N,
    Teller,
    Told,
    heads,
    one,
    table,
    told_within,
)
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.heads import message_end, thread_before, thread_behind

MARK = "[Consumer "
_NO_GROUP = (
    "null"  # as a consumer prints that is given its partitions by hand, as for a restoration
)
_PREFIX = re.compile(
    r"\[Consumer (?:instanceId=(?P<instance>[^,\]]{1,249}), )?clientId=(?P<client>[^\]]{0,249}?)"
    r"(?:, groupId=(?P<group>[^\]]{0,249}))?\] "
)
_GENERATION = re.compile(
    rf"Generation\{{generationId={N}, memberId='([^']{{0,400}})', protocol='([^']{{0,200}})'\}}"
)
_PLAN = re.compile(r"([^\s={}()\[\],][^={}()\[\]]{0,400})=Assignment\(partitions=\[([^\]]*)\]")


def read(record: Record) -> Facts | None:
    """What a line of a consumer proves."""
    text = record.text
    begin = text.find(MARK)
    end = record.begin if record.begin > 0 else text.find("] ", begin) + 2
    if begin < 0 or end < 2 or (whose := _whose(text[begin:end])) is None:
        return None
    found = told_within(_TABLE, record.at_us, text, end, message_end(text, end))
    if not found:
        return found
    thread = record.thread or thread_before(text, begin) or thread_behind(text)
    for fact in found:
        fact.client, fact.group, fact.instance = whose
        fact.thread = thread
    return found


@lru_cache(4_096)
def _whose(prefix: str) -> tuple[str, str, str] | None:
    """Client, group and instance that the prefix names."""
    found = _PREFIX.fullmatch(prefix)
    if found is None:
        return None
    group = found["group"] or ""
    return found["client"], "" if group == _NO_GROUP else group, found["instance"] or ""


def _joined(at: int, m: re.Match[str]) -> Told:
    if (g := _GENERATION.search(m[1])) is not None:
        return (Fact(at, FactKind.JOINED, generation=int(g[1]), member=g[2], why=g[3]),)
    number = re.match(N, m[1])
    return (Fact(at, FactKind.JOINED, generation=int(number[1])),) if number is not None else ()


def _synced(at: int, m: re.Match[str]) -> Told:
    if (g := _GENERATION.search(m[1])) is not None:
        return (Fact(at, FactKind.SYNCED, generation=int(g[1]), member=g[2]),)
    number = re.match(N, m[1])
    return (Fact(at, FactKind.SYNCED, generation=int(number[1])),) if number is not None else ()


def _planned(at: int, m: re.Match[str]) -> Told:
    plan = {who.strip(" ,{"): partitions_in(what) for who, what in _PLAN.findall(m[2])}
    return (Fact(at, FactKind.PLANNED, generation=int(m[1]), plan=plan),)


def _rejoining(at: int, m: re.Match[str]) -> Told:
    why = m[1].strip()
    if why == "group is already rebalancing":
        return (Fact(at, FactKind.HEARD),)
    if (
        given := re.match(r"need to re-join with the given member-id: (.{1,400})", why)
    ) is not None:
        return (Fact(at, FactKind.NAMED, member=given[1].strip()),)
    return (Fact(at, FactKind.REJOINING, why=why, partitions=_given_up(why)),)


def _given_up(why: str) -> tuple[str, ...]:
    found = re.search(r"[Nn]eed to revoke partitions (\[.*?\])", why)
    return partitions_in(found[1]) if found is not None else ()


def _must_revoke(at: int, m: re.Match[str]) -> Told:
    """Clients before 3.0 say it so."""
    why = "need to revoke partitions and re-join"
    return (Fact(at, FactKind.REJOINING, why=why, partitions=partitions_in(m[1])),)


def _leaving(at: int, m: re.Match[str]) -> Told:
    why = (m[2] or "").strip()
    left = Fact(at, FactKind.LEAVING, member=m[1], why=why)
    if "poll timeout has expired. This means" in why:  # 2.8 has no line of its own for it
        return Fact(at, FactKind.POLL_EXPIRED, member=m[1]), left
    return (left,)


def _callback(what: FactKind) -> Teller:
    return lambda at, m: (Fact(at, what, partitions=partitions_in(m[1])),)


def _positioned(at: int, m: re.Match[str]) -> Told:
    offset = re.search(rf"offset={N}", m[2])
    amount = int(offset[1]) if offset is not None else -1
    return (Fact(at, FactKind.POSITIONED, partitions=partitions_in(m[1]), why="", amount=amount),)


def _heartbeat_failed(at: int, m: re.Match[str]) -> Told:
    who = _GENERATION.search(m[0])
    error = m[1].strip(" ,.").rsplit(".", 1)[-1]
    return (Fact(at, FactKind.THROWN_OUT, member=who[2] if who is not None else "", why=error),)


def _join_failed(at: int, m: re.Match[str]) -> Told:
    fenced = "fenced" in m[0]
    return (Fact(at, FactKind.THROWN_OUT, why="FENCED_INSTANCE_ID"),) if fenced else ()


TEMPLATES = (
    (r"Subscribed to (?:topic|pattern)", one(FactKind.STARTED)),
    (r"\(Re-\)joining group", one(FactKind.ASKING)),
    (r"Request joining group due to: (.*)$", _rejoining),
    (r"Attempt to heartbeat failed since group is rebalancing", one(FactKind.HEARD)),
    (r"Requesting to re-join the group and trigger rebalance since (.*)$", _rejoining),
    (r"Need to revoke partitions (.*) and re-join the group", _must_revoke),
    (r"Successfully joined group with generation (.*)$", _joined),
    (r"Successfully synced group in generation (.*)$", _synced),
    (rf"Finished assignment for group at generation {N}: (.*)$", _planned),
    (r"Adding newly assigned partitions:? ?(.*)$", _callback(FactKind.ASSIGNED)),
    (r"Setting newly assigned partitions:? ?(.*)$", _callback(FactKind.ASSIGNED)),
    (r"Revoke previously assigned partitions:? ?(.*)$", _callback(FactKind.REVOKED)),
    (r"Lost previously assigned partitions:? ?(.*)$", _callback(FactKind.LOST)),
    (r"Setting offset for partition (\S{1,300}) to the committed offset (.*)$", _positioned),
    (r"Resetting offset for partition (\S{1,300}) to (.*)$", _positioned),
    (r"consumer poll timeout has expired", one(FactKind.POLL_EXPIRED)),
    (r"This member will leave the group because consumer poll timeout", one(FactKind.POLL_EXPIRED)),
    (
        rf"Member {ID} sending LeaveGroup request to coordinator .{{0,400}}?(?: due to (.*))?$",
        _leaving,
    ),
    (r"Resetting generation (?:and member id )?due to:? ?(.*)$", one(FactKind.RESET, why=1)),
    (
        r"Attempt to heartbeat with .{0,900}? failed (?:due to|since) (\S{1,200}?),? resetting",
        _heartbeat_failed,
    ),
    (
        r"Attempt to heartbeat failed for since member id .{1,400} is not valid",
        one(FactKind.THROWN_OUT, why="UNKNOWN_MEMBER_ID"),
    ),
    (r"JoinGroup failed: (.*)$", _join_failed),
    (r"SyncGroup failed: (.*)$", _join_failed),
    (r"Caught fenced group\.instance\.id", one(FactKind.THROWN_OUT, why="FENCED_INSTANCE_ID")),
    (r"Giving away all assigned partitions as lost", one(FactKind.RESET, why="lost")),
    (r"Failing OffsetCommit request since", one(FactKind.COMMIT_REFUSED)),
    (r"Offset commit failed on partition (\S{1,300}) at", one(FactKind.COMMIT_REFUSED, why=1)),
    (r"Discovered group coordinator (.*)$", one(FactKind.COORDINATOR_FOUND, why=1)),
    (r"Group coordinator .{0,400}? is unavailable or invalid", one(FactKind.COORDINATOR_LOST)),
    (r"Unsubscribed all topics or patterns", one(FactKind.UNSUBSCRIBED)),
    (r"Kafka consumer has been closed", one(FactKind.CLOSED)),
)
_ALL = (*TEMPLATES, *NEW_TEMPLATES)
_TABLE = table(_ALL)
HEADS = heads(_ALL)
DIALECT = Dialect("Java", (MARK,), read, order=20)
