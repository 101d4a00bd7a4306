"""sarama's lines: whole seconds, no level, and of a session only its end.

What an application prints in its Setup (`map[topic:[0 1]]`, as Claims() prints itself) tells the
session's partitions when they are given; else the first subscriptions of its fetchers do.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import Fact, FactKind, Record, sorted_partitions

_FOUND = re.compile(r"client/coordinator coordinator for (\S{1,249}) is #")
_SESSION = re.compile(
    r"consumergroup/session/(\S{1,400})/(-?\d{1,9}) (released|heartbeat loop stopped)"
)
_ADDED = re.compile(r"consumer/broker/\d{1,9} added subscription to (\S{1,249})/(\d{1,9})")
_CLOSED = re.compile(r"consumer/broker/\d{1,9} closed dead subscription to (\S{1,249})/(\d{1,9})")
_CLAIMS = re.compile(r"(?i)(?:set ?up|claim|assign)[^\[]{0,60}map\[((?:\S{1,249}:\[[\d ]*\] ?)*)\]")
_TOPIC = re.compile(r"([^\s:\[\]]{1,249}):\[([\d ]*)\]")
_FENCED = re.compile(r"JoinGroup failed: group instance id \S{1,249} has been fenced")

AT_ONCE_US = 150_000


def read(record: Record) -> Facts | None:
    """What a line of sarama proves."""
    at, text = record.at_us, record.text
    if (m := _ADDED.search(text)) is not None:
        return (Fact(at, FactKind.SARAMA_ADDED, partitions=(f"{m[1]}-{m[2]}",)),)
    if (m := _CLOSED.search(text)) is not None:
        return (Fact(at, FactKind.SARAMA_CLOSED, partitions=(f"{m[1]}-{m[2]}",)),)
    if (m := _SESSION.search(text)) is not None:
        what = FactKind.SARAMA_RELEASED if m[3] == "released" else FactKind.SARAMA_STOPPED
        return (Fact(at, what, member=m[1], generation=int(m[2])),)
    if (m := _FOUND.search(text)) is not None:
        return (Fact(at, FactKind.COORDINATOR_FOUND, m[1]), Fact(at, FactKind.SARAMA_ASKING, m[1]))
    if (m := _CLAIMS.search(text)) is not None:
        claims = [f"{t}-{n}" for t, numbers in _TOPIC.findall(m[1]) for n in numbers.split()]
        return (Fact(at, FactKind.SARAMA_CLAIMS, partitions=sorted_partitions(claims)),)
    if "Closing Client" in text:
        return (Fact(at, FactKind.CLOSED),)
    if "Initializing new client" in text:
        return (Fact(at, FactKind.STARTED),)
    return (
        (Fact(at, FactKind.THROWN_OUT, why="FENCED_INSTANCE_ID"),) if _FENCED.search(text) else None
    )


def put_together(facts: list[Fact]) -> list[Fact]:
    """Sessions out of subscriptions and releases."""
    book = _Sessions()
    for fact in facts:
        book.take(fact)
    book.close()
    return book.out


class _Sessions:
    """The session of one consumer that is open, told when it is over or when the log ends."""

    def __init__(self) -> None:
        self.out: list[Fact] = []
        self.began: Fact | None = None
        self.has_claims = False
        self.has_asked = False
        self.closed_us = -1

    def take(self, fact: Fact) -> None:
        what = fact.what
        if what == FactKind.SARAMA_CLAIMS:
            self._begin(fact, has_claims=True)
        elif what == FactKind.SARAMA_ADDED:
            if self.began is None:
                self._begin(fact, has_claims=False)
            elif not self.has_claims:
                self.began.partitions = sorted_partitions(
                    [*self.began.partitions, *fact.partitions]
                )
        elif what == FactKind.SARAMA_CLOSED:
            self.closed_us = fact.at_us
        elif what == FactKind.SARAMA_STOPPED:
            return
        elif what == FactKind.SARAMA_RELEASED:
            self._release(fact)
        elif what == FactKind.STARTED:
            self.has_asked = False
            self.began = None  # a new process: the last one was killed
            self.out.append(fact)
        elif what == FactKind.SARAMA_ASKING:
            if not self.has_asked:  # later ones are its offset manager's
                self.out.append(Fact(fact.at_us, FactKind.ASKING, fact.group))
            self.has_asked = True
        else:
            self.out.append(fact)

    def _begin(self, fact: Fact, has_claims: bool) -> None:
        self.began = Fact(fact.at_us, FactKind.ASSIGNED, partitions=fact.partitions)
        self.has_claims = has_claims
        self.out.append(self.began)

    def _release(self, fact: Fact) -> None:
        if self.began is None:
            return
        at = fact.at_us
        if 0 <= at - self.closed_us < AT_ONCE_US:
            # no handler kept it: its Cleanup came right after the fetchers' end
            at = self.closed_us
        self.began.member, self.began.generation = fact.member, fact.generation
        where = self.began.partitions
        self.out.append(
            Fact(
                at,
                FactKind.REVOKED,
                member=fact.member,
                generation=fact.generation,
                partitions=where,
            )
        )
        self.out.append(Fact(at, FactKind.ASKING, fact.group))  # it joins again at once, if at all
        self.began = None

    def close(self) -> None:
        """In order of time again."""
        self.out.sort(key=lambda f: f.at_us)


DIALECT = Dialect(
    "sarama",
    (
        "consumergroup/",
        "JoinGroup failed: group instance id ",
        "consumer/broker/",
        "client/coordinator coordinator for ",
        "Closing Client",
        "Initializing new client",
        " map[",
    ),
    read,
    order=70,
    put_together=put_together,
    client="sarama",
    session_ms=10_000,
)
