"""Listings of groups and topics, read by their headers and not by the number of a column.

kafka-consumer-groups of 2.8 to 4.x (offsets, members, state), rpk group describe, kcat -L, and
kafka-topics --describe. A dash means none or unknown; a warning or an error may come first.
"""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass, field
from typing import Any

from rebalsim.domain.kafka_states import KafkaGroupState

# Tools of before Kafka 2.0, and of some platforms, leave the group's own column out.
_HEADER = re.compile(
    r"^\s*(GROUP\s+(TOPIC|CONSUMER-ID|COORDINATOR|MEMBER|STATE|TYPE|TARGET)"
    r"|TOPIC\s+PARTITION\s+CURRENT-OFFSET|CONSUMER-ID\s+HOST\s+CLIENT-ID"
    r"|COORDINATOR \(ID\)\s+ASSIGNMENT-STRATEGY)"
)
_RPK = re.compile(r"(?m)^[ \t]*GROUP\s+\S+[ \t]*\n[ \t]*COORDINATOR\s")
_TOPIC = re.compile(r"(?m)^\s*Topic: ?(\S+)\s.*PartitionCount: ?(\d+)\s+ReplicationFactor: ?(\d+)")
# rpk: a row of its list, and its summary of one topic.
_RPK_TOPICS = re.compile(
    r"(?m)^[ \t]*NAME\s+PARTITIONS\s+REPLICAS[ \t]*\n((?:[ \t]*\S+ +\d+ +\d+[ \t]*\n?)+)"
)
_RPK_TOPIC = re.compile(
    r"(?m)^[ \t]*NAME +(\S+)[ \t]*\n(?:[ \t]*INTERNAL.*\n)?[ \t]*PARTITIONS +(\d+)[ \t]*\n[ \t]*REPLICAS +(\d+)"
)
_ASKED_FOR = re.compile(r"--group[= ][\"']?([\w.\-]+)")
UNNAMED = "unnamed-group"  # a table without a column for the group, and without the command
_KCAT = re.compile(r'(?m)^\s*topic "([^"]+)" with (\d+) partitions')
_NO_MEMBERS = re.compile(r"Consumer group '([^']+)' has no active members")
_REBALANCING = re.compile(r"Consumer group '([^']+)' is rebalancing")
_NO_GROUP = re.compile(r"(?:Group|Consumer group) '?([\w.\-]+)'? (?:not found|does not exist)")


def is_listing(text: str) -> bool:
    head = text[:20_000]
    return bool(
        any(_HEADER.match(line) for line in head.splitlines()[:60])
        or _RPK.search(head)
        or _TOPIC.search(head)
        or _RPK_TOPICS.search(head)
        or _RPK_TOPIC.search(head)
        or _KCAT.search(head)
        or _NO_MEMBERS.search(head)
        or _REBALANCING.search(head)
        or _NO_GROUP.search(head)
    )


@dataclass(slots=True)
class Member:
    """A member as a listing shows it."""

    member_id: str = ""
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    partitions: dict[str, list[int]] = field(default_factory=dict)
    loose: list[int] = field(default_factory=list)  # partitions whose topic the tool left out


@dataclass(slots=True)
class Group:
    """One group, put together from whatever listings of it there are."""

    name: str
    state: str | None = None
    rebalancing: bool = False
    protocol: str | None = None
    epoch: int | None = None
    assignor: str | None = None
    members: dict[str, Member] = field(default_factory=dict)
    count: int | None = None  # members, where the listing can tell
    lag: dict[str, int | None] = field(default_factory=dict)
    partitions: dict[str, int] = field(default_factory=dict)  # topic → at least
    is_empty: bool = False
    has_offsets: bool = False
    lists_members: bool = False
    is_loose: bool = False

    def member(self, key: str) -> Member:
        return self.members.setdefault(key, Member(key))

    def saw(self, topic: str, partition: int) -> None:
        self.partitions[topic] = max(partition + 1, self.partitions.get(topic, 0))


_UUID = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
_SHORT_ID = re.compile(r"[A-Za-z0-9_-]{22}")


def protocol_of(group: Group) -> str | None:
    """Told, or seen from the members' ids: the classic coordinator appends a UUID to the client's
    id, a consumer of the consumer protocol makes 22 letters up by itself.
    """
    ids = list(group.members)
    if group.protocol is not None or not ids:
        return group.protocol
    if all(_UUID.search(i) for i in ids):
        return "classic"
    return "consumer" if all(_SHORT_ID.fullmatch(i) for i in ids) else None


@dataclass(slots=True)
class Listed:
    """Everything that a set of listings tells."""

    groups: dict[str, Group] = field(default_factory=dict)
    topics: dict[str, dict[str, int]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)  # groups that do not exist
    streams: bool = False

    def group(self, name: str) -> Group:
        return self.groups.setdefault(name, Group(name))


def read_listing(text: str, listed: Listed) -> None:
    """One listing's facts, put beside what others said."""
    if text.lstrip().startswith("{"):
        _kcat_json(text, listed)
        return
    rows = (r.split() for table in _RPK_TOPICS.findall(text) for r in table.strip().splitlines())
    for topic, partitions, copies in [*_TOPIC.findall(text), *_RPK_TOPIC.findall(text), *rows]:
        listed.topics[topic] = {"partitions": int(partitions), "replication": int(copies)}
    if _KCAT.search(text):
        _kcat(text, listed)
    for name in _NO_MEMBERS.findall(text):
        listed.group(name).is_empty = True
    for name in _REBALANCING.findall(text):
        listed.group(name).rebalancing = True
    listed.missing += [n for n in _NO_GROUP.findall(text) if n not in listed.missing]
    if _RPK.search(text):
        _rpk(text, listed)
        return
    _tables(text, listed)


def _kcat(text: str, listed: Listed) -> None:
    for part in re.split(r'(?m)^\s*topic "', text)[1:]:
        name, _, rest = part.partition('"')
        copies = re.search(r"replicas: ([\d,]+)", rest)
        count = re.search(r"with (\d+) partitions", rest)
        listed.topics[name] = {"partitions": int(count[1]) if count else 0}
        if copies:
            listed.topics[name]["replication"] = copies[1].count(",") + 1


def _kcat_json(text: str, listed: Listed) -> None:
    for topic in json.loads(text).get("topics", []):
        partitions = topic.get("partitions") or []
        listed.topics[str(topic.get("topic"))] = {"partitions": len(partitions)}
        if partitions and isinstance(partitions[0], dict):
            copies = len(partitions[0].get("replicas", []))
            listed.topics[str(topic.get("topic"))]["replication"] = copies


# ---- tables with a header ----
Row = dict[str, str]


def _tables(text: str, listed: Listed) -> None:
    header: list[tuple[str, int]] = []
    margin, group = 0, ""
    for line in text.splitlines():
        if (
            named := _NO_MEMBERS.search(line)
            or _REBALANCING.search(line)
            or _ASKED_FOR.search(line)
        ):
            header, group = [], named[1]
        if _HEADER.match(line):
            margin = len(line) - len(line.lstrip())
            header = _columns(line[margin:])
            continue
        said = line[margin:] if not line[:margin].strip() else line.strip()
        if not header or not said.strip() or said.startswith(("Error", "\tat", "Warning", "$")):
            continue
        row = _row(header, said)
        if "GROUP" not in row:
            row["GROUP"] = group or UNNAMED
        if row["GROUP"]:
            _read_row(row, listed)


def _columns(line: str) -> list[tuple[str, int]]:
    found = re.finditer(r"\S+(?: \([A-Z]+\))?", line)
    return [(m.group(), m.start()) for m in found]


def _row(header: list[tuple[str, int]], line: str) -> Row:
    """Cells by whitespace where there are as many as columns; else by where the columns begin."""
    names = [n for n, _ in header]
    cells = re.sub(r"(\S+:\d+)\s+(\(\d+\))", r"\1_\2", line).split()
    if len(cells) == len(names):
        return dict(zip(names, cells, strict=True))
    starts = [s for _, s in header]
    ends = [*starts[1:], len(line) + 1]
    return {n: line[s:e].strip() for n, s, e in zip(names, starts, ends, strict=True)}


def _read_row(row: Row, listed: Listed) -> None:
    group = listed.group(row["GROUP"])
    if "TOPIC" in row and "LAG" in row:
        _offset(row, group)
    elif "NEW-OFFSET" in row:
        _partition_seen(row, group)
    elif "CONSUMER-ID" in row:
        _member(row, group)
    elif "MEMBER-PROTOCOL" in row or "TOPOLOGY-EPOCH" in row:
        listed.streams = True
        _streams_member(row, group)
    elif "STATE" in row:
        _state(row, group)
    elif "TYPE" in row:
        group.protocol = {"classic": "classic", "consumer": "consumer"}.get(
            row["TYPE"].lower(), row["TYPE"].lower()
        )


def _number(cell: str | None) -> int | None:
    return int(cell) if cell and re.fullmatch(r"-?\d+", cell) else None


def _told(cell: str | None) -> str | None:
    return None if cell in (None, "", "-") else cell


def _partition_seen(row: Row, group: Group) -> None:
    topic, partition = _told(row.get("TOPIC")), _number(row.get("PARTITION"))
    if topic and partition is not None:
        group.saw(topic, partition)


def _offset(row: Row, group: Group) -> None:
    group.has_offsets = True
    topic, partition = _told(row.get("TOPIC")), _number(row.get("PARTITION"))
    if topic is None or partition is None:
        return
    group.saw(topic, partition)
    lag = _number(row.get("LAG"))
    if topic not in group.lag:
        group.lag[topic] = lag
    elif group.lag[topic] is not None:
        group.lag[topic] = None if lag is None else (group.lag[topic] or 0) + lag
    if member := _told(row.get("CONSUMER-ID")) or _told(row.get("MEMBER-ID")):
        seen = group.member(member)
        seen.client_id = row.get("CLIENT-ID", "")
        seen.host = row.get("HOST", "")
        seen.instance_id = _told(row.get("GROUP-INSTANCE-ID") or row.get("INSTANCE-ID"))
        if partition not in seen.partitions.setdefault(topic, []):
            seen.partitions[topic].append(partition)


def _member(row: Row, group: Group) -> None:
    group.lists_members = True
    member = group.member(row["CONSUMER-ID"])
    member.client_id = row.get("CLIENT-ID", "")
    member.host = row.get("HOST", "")
    member.instance_id = _told(row.get("GROUP-INSTANCE-ID"))
    assigned = row.get("CURRENT-ASSIGNMENT") or row.get("ASSIGNMENT") or ""
    if "CURRENT-EPOCH" in row:
        epoch = _number(row["CURRENT-EPOCH"])
        group.protocol = "consumer" if epoch is not None else group.protocol or "classic"
        if epoch is not None:
            group.epoch = max(epoch, group.epoch or 0)
    _assigned(assigned, member, group)


def _assigned(text: str, member: Member, group: Group) -> None:
    """`t(0,4)`, `(0,4)` without the topic (3.9), or `t:0,4;u:1`; topics may hold dots and dashes."""
    for topic, numbers in re.findall(r"([^\s,;()]*)\(([\d,]+)\)", text):
        _owns(topic, numbers, member, group)
    if "(" not in text:
        for part in text.split(";"):
            topic, _, numbers = part.rpartition(":")
            if topic and re.fullmatch(r"[\d,]+", numbers):
                _owns(topic.strip(" ,"), numbers, member, group)


def _owns(topic: str, numbers: str, member: Member, group: Group) -> None:
    partitions = [int(n) for n in numbers.split(",") if n]
    if not topic:
        member.loose += partitions
        group.is_loose = True
        return
    mine = member.partitions.setdefault(topic, [])
    mine += [p for p in partitions if p not in mine]
    for partition in partitions:
        group.saw(topic, partition)


def _streams_member(row: Row, group: Group) -> None:
    group.protocol = "streams"
    if member := _told(row.get("MEMBER")):
        group.lists_members = True
        group.member(member).client_id = row.get("CLIENT-ID", "")


def _state(row: Row, group: Group) -> None:
    group.state = _told(row.get("STATE"))
    group.assignor = _told(row.get("ASSIGNMENT-STRATEGY"))
    count = _number(row.get("#MEMBERS"))
    group.count = count if count is not None else group.count
    epoch = _number(row.get("GROUP-EPOCH"))
    if epoch is not None:
        group.epoch, group.protocol = epoch, "consumer"
    elif "GROUP-EPOCH" in row:
        group.protocol = "classic"


# ---- rpk ----
def _rpk(text: str, listed: Listed) -> None:
    for part in re.split(r"(?m)^(?=GROUP\s+\S+\s*$)", textwrap.dedent(text)):
        head, *rows = re.split(r"(?m)^(?=TOPIC\s)", part, maxsplit=1)
        body = "".join(rows)
        told: dict[str, Any] = {}
        for line in head.splitlines():
            key, _, value = line.partition(" ")
            told[key] = value.strip()
        if not told.get("GROUP"):
            continue
        group = listed.group(told["GROUP"])
        group.state = told.get("STATE") or None
        group.assignor = told.get("BALANCER") or None
        group.count = _number(told.get("MEMBERS"))
        group.is_empty = group.state == KafkaGroupState.EMPTY
        _rpk_rows(body, group)


def _rpk_rows(body: str, group: Group) -> None:
    lines = [line for line in body.splitlines() if line.strip()]
    if not lines or not lines[0].startswith("TOPIC"):
        return
    header = _columns(lines[0])
    for line in lines[1:]:
        cells = _row(header, line)
        _offset({k: v or "-" for k, v in cells.items()}, group)
