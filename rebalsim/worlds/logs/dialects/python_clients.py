"""kafka-python (2.x, 3.x) and aiokafka: one grew out of the other, and their lines are alike.

Neither says which consumer of a process speaks: the group tells, and the thread where it is printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.python_lists import partitions_in
from rebalsim.worlds.logs.facts import Fact, FactKind, Record
from rebalsim.worlds.logs.heads import thread_before

_G = r"'?(?P<group>[^\s'.,;:(]\S{0,248}?)'?"
Teller = Callable[[int, "re.Match[str]"], Fact]


def _simple(what: FactKind, why: str = "") -> Teller:
    return lambda at, m: Fact(at, what, why=why)


def _callback(what: FactKind) -> Teller:
    return lambda at, m: Fact(at, what, partitions=partitions_in(m["partitions"]))


def _joined(at: int, m: re.Match[str]) -> Fact:
    parts = m.groupdict()
    return Fact(
        at,
        FactKind.JOINED,
        member=parts.get("member") or "",
        generation=int(m["generation"]),
        why=parts.get("assignor") or "",
    )


def _named(at: int, m: re.Match[str]) -> Fact:
    return Fact(at, FactKind.NAMED, member=m["member"])


def _leaving(at: int, m: re.Match[str]) -> Fact:
    return Fact(at, FactKind.LEAVING, member=(m.groupdict().get("member") or "").rstrip(")."))


# the literal by which a line is looked up, its template, what it proves
_TEMPLATES: tuple[tuple[str, str, Teller], ...] = (
    ("(Re-)joining group", rf"\(Re-\)joining group {_G}(?:\s|$)", _simple(FactKind.ASKING)),
    (
        "will retry join-group",
        rf"Received member id (?P<member>\S{{1,400}}) for group {_G};",
        _named,
    ),
    (
        "Successfully joined group",
        rf"Successfully joined group {_G} (?:<|with generation ).{{0,20}}?"
        r"(?P<generation>\d{1,9})(?:.*?member_id[:=] ?'?(?P<member>[^\s',]{1,400}))?"
        r"(?:.*?protocol[:=] ?'?(?P<assignor>[\w-]{1,100}))?",
        _joined,
    ),
    (
        "Joined group",
        rf"Joined group {_G} \(generation (?P<generation>\d{{1,9}})\) with member_id "
        r"(?P<member>\S{1,400})",
        _joined,
    ),
    ("synced group", rf"Successfully synced group {_G} ", _simple(FactKind.SYNCED)),
    (
        "Setting newly assigned",
        rf"Setting newly assigned partitions (?P<partitions>.*?) for group {_G}(?:\s|$)",
        _callback(FactKind.ASSIGNED),
    ),
    (
        "Revoking previously assigned",
        rf"Revoking previously assigned partitions (?P<partitions>.*?) for group {_G}(?:\s|$)",
        _callback(FactKind.REVOKED),
    ),
    (
        "forcibly revoking",
        rf"Group {_G} lost membership; forcibly revoking (?P<partitions>.*)$",
        _callback(FactKind.LOST),
    ),
    ("is rebalancing", rf"Group {_G} is rebalancing; rejoining", _simple(FactKind.HEARD)),
    (
        "it is rebalancing",
        rf"Heartbeat failed for group {_G} because it is rebalancing",
        _simple(FactKind.HEARD),
    ),
    (
        "follow-up rebalance",
        rf"Triggering follow-up rebalance for group {_G}(?:\s|;|:|\.|$)",
        _simple(FactKind.REJOINING, "need to revoke partitions and re-join"),
    ),
    (
        "Leaving consumer group",
        rf"Leaving consumer group {_G} \(member (?P<member>\S{{1,400}})",
        _leaving,
    ),
    (
        "LeaveGroup request",
        r"LeaveGroup request(?: for group \S+)? (?:succeeded|returned)",
        _simple(FactKind.CLOSED),
    ),
    (
        "poll timeout has expired",
        r"[Cc]onsumer poll timeout has expired",
        _simple(FactKind.POLL_EXPIRED),
    ),
    (
        "Heartbeat poll expired",
        r"Heartbeat poll expired, leaving group",
        _simple(FactKind.POLL_EXPIRED),
    ),
    (
        "generation id is not current",
        r"Heartbeat failed for group .{1,249}?: generation id is not current",
        _simple(FactKind.THROWN_OUT, "ILLEGAL_GENERATION"),
    ),
    (
        "member_id was not recognized",
        r"Heartbeat.{0,40}: local member_id was not recognized",
        _simple(FactKind.THROWN_OUT, "UNKNOWN_MEMBER_ID"),
    ),
    ("session expired", r"Heartbeat session expired", _simple(FactKind.THROWN_OUT, "session")),
    ("Updating subscribed topics", r"Updating subscribed topics", _simple(FactKind.STARTED)),
    (
        "metadata has changed",
        r"[Cc]luster metadata has changed|group metadata has changed",
        _simple(FactKind.REJOINING, "cached metadata has changed"),
    ),
    (
        "Metadata for topic has changed",
        r"Metadata for topic has changed",
        _simple(FactKind.REJOINING, "cached metadata has changed"),
    ),
)
_COMPILED = tuple((mark, re.compile(pattern), teller) for mark, pattern, teller in _TEMPLATES)


def read(record: Record) -> Facts | None:
    """What a line of a Python client proves."""
    for mark, pattern, teller in _COMPILED:
        if mark in record.text and (found := pattern.search(record.text)) is not None:
            fact = teller(record.at_us, found)
            fact.group = found.groupdict().get("group") or ""
            fact.thread = record.thread or thread_before(record.text, found.start())
            return (fact,)
    return None


DIALECT = Dialect(
    "kafka-python",
    tuple(dict.fromkeys(mark for mark, _, _ in _TEMPLATES)),
    read,
    order=80,
    client="kafka-python",
    session_ms=10_000,
)
