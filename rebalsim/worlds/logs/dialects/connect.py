"""Kafka Connect's workers: connectors and tasks stand where consumers have partitions.

A worker's group is the Connect cluster; its assignment is told whole with every generation, and what
it must give up with the same line.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.dialects.templates import ID, N, Told, one, table, told
from rebalsim.worlds.logs.facts import Fact, FactKind, Record, sorted_partitions
from rebalsim.worlds.logs.heads import thread_before, without_logger

_PREFIX = re.compile(r"\[Worker clientId=([^\]]{0,249}?), groupId=([^\]]{0,249})\] ")
_GENERATION = re.compile(
    rf"Generation\{{generationId={N}, memberId='([^']{{0,400}})', protocol='([^']{{0,200}})'\}}"
)
_LIST = re.compile(r"(connectorIds|taskIds|revokedConnectorIds|revokedTaskIds)=\[([^\]]*)\]")


def read(record: Record) -> Facts | None:
    """What a worker's line proves."""
    prefix = _PREFIX.search(record.text)
    if prefix is None:
        return None
    message = without_logger(record.text[prefix.end() :])
    found = told(_TABLE, record.at_us, message)
    for fact in found or ():
        fact.client, fact.group = prefix[1], prefix[2]
        fact.thread = record.thread or thread_before(record.text, prefix.start())
    return found


def _joined(at: int, m: re.Match[str]) -> Told:
    lists = {key: _names(text) for key, text in _LIST.findall(m[2])}
    revoked = sorted_partitions(
        [*lists.get("revokedConnectorIds", ()), *lists.get("revokedTaskIds", ())]
    )
    assigned = sorted_partitions([*lists.get("connectorIds", ()), *lists.get("taskIds", ())])
    return (
        Fact(at, FactKind.REVOKED, generation=int(m[1]), partitions=revoked, why="connect"),
        Fact(at, FactKind.ASSIGNED, generation=int(m[1]), partitions=assigned, why="connect"),
    )


def _names(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _synced(at: int, m: re.Match[str]) -> Told:
    found = _GENERATION.search(m[1])
    if found is None:
        return ()
    return (Fact(at, FactKind.JOINED, generation=int(found[1]), member=found[2], why=found[3]),)


_TABLE = table(
    (
        (r"Rebalance started", one(FactKind.ASKING)),
        (rf"Joined group at generation {N} with protocol version (.*)$", _joined),
        (r"Successfully joined group with generation (.*)$", _synced),
        (r"\(Re-\)joining group", one(FactKind.ASKING)),
        (r"Request joining group due to: group is already rebalancing", one(FactKind.HEARD)),
        (r"Request joining group due to: (.*)$", one(FactKind.REJOINING, why=1)),
        (
            r"worker poll timeout has expired(?:.{0,2000}?last known action being performed by the "
            r"worker is : (.*))?",
            one(FactKind.POLL_EXPIRED, why=1),
        ),
        (
            rf"Member {ID} sending LeaveGroup request to coordinator .{{0,400}}?(?: due to (.*))?$",
            one(FactKind.LEAVING, member=1, why=2),
        ),
        (r"Attempt to heartbeat failed since group is rebalancing", one(FactKind.HEARD)),
    )
)
DIALECT = Dialect("Connect", ("[Worker clientId=",), read, order=22)
