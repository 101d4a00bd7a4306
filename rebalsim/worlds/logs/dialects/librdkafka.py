"""librdkafka's own lines, on stderr or through an application's logger (C, Python, Go, .NET alike).

Without `debug=cgrp` only its warnings are printed. With it, a callback is queued by one line, its
partitions follow in a list of several, and it has been served when the join state changes.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import Fact, FactKind, Record, sorted_partitions

_HEAD = re.compile(
    r"(?:%\d\|[\d.]{5,20}\|(?P<a>[A-Z_0-9]{2,24})\|(?P<name>[^|]{1,250})\| |"
    r"(?P<b>[A-Z_0-9]{2,24}) \[(?P<called>[^\]]{1,250})\] )\[thrd:[^\]]{0,300}\]: "
)
_GROUP = re.compile(r'[Gg]roup "([^"]{1,249})"')
_JOIN_STATE = re.compile(r"changed join state (\S{1,40}) -> (\S{1,40})")
_JOINED = re.compile(
    r"JoinGroup response: GenerationId (\d{1,9}), Protocol ([^,]{0,100}), .*?my MemberId "
    r"(\S.{0,400}?), member metadata count \d+: \(no error\)"
)
_MEMBER = re.compile(r'updating member id "[^"]{0,400}" -> "([^"]{1,400})"')
_DELEGATED = re.compile(r"delegating (incremental )?(assign|revoke) of (\d{1,7}) partition")
_LISTED = re.compile(r"^\s*(\S{1,249}) \[(\d{1,9})\]")
_REJOINING = re.compile(r"(?:partition\(s\)|without an assignment): (.*)$", re.DOTALL)
_EXPIRED = re.compile(r"maximum poll interval \((\d{1,12})ms\) exceeded by (\d{1,12})ms")
_STARTED = re.compile(r"Starting pending assigned partition (\S{1,249}) \[(\d{1,9})\]")
_EPOCH = re.compile(r'response received for member id "([^"]{1,400})" with epoch (-?\d{1,9})')


def read(record: Record) -> Facts | None:
    """What a line of librdkafka proves; pieces of lists and states are made whole by `put_together`."""
    head = _HEAD.search(record.text)
    if head is None:
        return None
    teller = _TELLERS.get(head["a"] or head["b"])
    message = record.text[head.end() :]
    found = teller(record.at_us, message) if teller is not None else []
    group = _GROUP.search(message)
    for fact in found:
        fact.client = (head["name"] or head["called"]).rpartition("#")[0] or head["name"] or ""
        fact.group = group[1] if group is not None else ""
    return found


def _join_state(at: int, message: str) -> list[Fact]:
    found = _JOIN_STATE.search(message)
    return [Fact(at, FactKind.RD_STATE, why=f"{found[1]}>{found[2]}")] if found is not None else []


def _join_group(at: int, message: str) -> list[Fact]:
    found = _JOINED.search(message)
    if found is None:
        return []
    return [Fact(at, FactKind.JOINED, generation=int(found[1]), why=found[2], member=found[3])]


def _member_id(at: int, message: str) -> list[Fact]:
    found = _MEMBER.search(message)
    return [Fact(at, FactKind.NAMED, member=found[1])] if found is not None else []


def _heartbeat(at: int, message: str) -> list[Fact]:
    if "heartbeat error response" in message:
        if "rebalance in progress" in message:
            return [Fact(at, FactKind.HEARD)]
        return [Fact(at, FactKind.THROWN_OUT, why=message.rpartition("): ")[2][:100])]
    if (found := _EPOCH.search(message)) is not None:
        return [Fact(at, FactKind.EPOCH, member=found[1], generation=int(found[2]))]
    return []


def _assign(at: int, message: str) -> list[Fact]:
    found = _DELEGATED.search(message)
    if found is None:
        return []
    how = f"{'incremental ' if found[1] else ''}{found[2]}"
    return [Fact(at, FactKind.RD_DELEGATED, why=how, amount=int(found[3]))]


def _listed(at: int, message: str) -> list[Fact]:
    if message.startswith("List with"):
        return [Fact(at, FactKind.RD_LIST)]
    found = _LISTED.match(message)
    return [Fact(at, FactKind.LISTED, partitions=(f"{found[1]}-{found[2]}",))] if found else []


def _lost(at: int, message: str) -> list[Fact]:
    return [Fact(at, FactKind.RD_LOST if "partition(s) lost" in message else FactKind.RD_KEPT)]


def _rejoin(at: int, message: str) -> list[Fact]:
    if "Group is rebalancing" in message:
        return []
    found = _REJOINING.search(message)
    why = found[1] if found is not None else message
    return [Fact(at, FactKind.REJOINING, why=why.strip()[:200])]


def _max_poll(at: int, message: str) -> list[Fact]:
    found = _EXPIRED.search(message)
    if found is None:
        return []
    limit, over = int(found[1]), int(found[2])
    return [Fact(at, FactKind.POLL_EXPIRED, amount=limit + over, other=found[1])]


def _session(at: int, message: str) -> list[Fact]:
    return [Fact(at, FactKind.THROWN_OUT, why="session timed out")]


def _leave(at: int, message: str) -> list[Fact]:
    return [Fact(at, FactKind.LEAVING)] if "leave (in state" in message else []


def _started(at: int, message: str) -> list[Fact]:
    found = _STARTED.search(message)
    return [Fact(at, FactKind.POSITIONED, partitions=(f"{found[1]}-{found[2]}",))] if found else []


_TELLERS = {
    "CGRPJOINSTATE": _join_state,
    "JOINGROUP": _join_group,
    "MEMBERID": _member_id,
    "HEARTBEAT": _heartbeat,
    "ASSIGN": _assign,
    "GRPASSIGNMENT": _listed,
    "LOST": _lost,
    "REJOIN": _rejoin,
    "MAXPOLL": _max_poll,
    "SESSTMOUT": _session,
    "LEAVE": _leave,
    "SRVPEND": _started,
}
FACILITIES = frozenset(_TELLERS)


def put_together(facts: list[Fact]) -> list[Fact]:
    """Callbacks out of what was queued, listed and served; requests out of join states."""
    book = _Book()
    for fact in facts:
        book.take(fact)
    return book.out


class _Book:
    """What one consumer holds, and which callback is queued."""

    def __init__(self) -> None:
        self.out: list[Fact] = []
        self.held: tuple[str, ...] = ()
        self.listed: list[str] | None = None
        self.queued = ""
        self.is_lost = False

    def take(self, fact: Fact) -> None:
        what = fact.what
        if what == FactKind.RD_LIST:
            self.listed = []
        elif what == FactKind.LISTED and self.listed is not None:
            self.listed += fact.partitions
        elif what == FactKind.RD_DELEGATED:
            self.queued, self.listed = fact.why, None
        elif what in (FactKind.RD_LOST, FactKind.RD_KEPT):
            self.is_lost = self.is_lost or what == FactKind.RD_LOST
        elif what == FactKind.RD_STATE:
            self._move(fact)
        elif what == FactKind.CLOSED:
            self.held, self.queued, self.listed = (), "", None
            self.out.append(fact)
        else:
            if what == FactKind.POLL_EXPIRED or "session timed out" in fact.why:
                self.is_lost = True
            self.out.append(fact)

    def _move(self, fact: Fact) -> None:
        before, _, after = fact.why.partition(">")
        if before in ("wait-assign-call", "wait-unassign-call") and self.queued:
            self._serve(fact)
        if after == "wait-join":
            self.out.append(Fact(fact.at_us, FactKind.ASKING, fact.group, fact.client))
        elif after == "wait-assign-call" and before == "wait-sync":
            self.out.append(Fact(fact.at_us, FactKind.SYNCED, fact.group, fact.client))

    def _serve(self, fact: Fact) -> None:
        queued, self.queued = self.queued, ""
        listed = sorted_partitions(self.listed) if self.listed is not None else None
        if queued.endswith("assign"):
            after = listed if listed is not None else self.held
            new = tuple(p for p in after if p not in self.held)
            partitions = new if queued.startswith("incremental") else after
            self._call(fact, FactKind.ASSIGNED, partitions)
        else:
            after = listed if listed is not None and queued.startswith("incremental") else ()
            gone = tuple(p for p in self.held if p not in after)
            self._call(fact, FactKind.LOST if self.is_lost else FactKind.REVOKED, gone)
            self.is_lost = False
        self.held = after

    def _call(self, fact: Fact, what: FactKind, partitions: tuple[str, ...]) -> None:
        self.out.append(Fact(fact.at_us, what, fact.group, fact.client, partitions=partitions))


DIALECT = Dialect(
    "librdkafka",
    ("[thrd:",),
    read,
    order=12,
    put_together=put_together,
    client="librdkafka",
    tells_more="debug=cgrp",
)
