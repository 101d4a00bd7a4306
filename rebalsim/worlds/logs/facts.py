"""What one log line proves, in words that all dialects share.

A client says: `started` its consumer lives · `asking` JoinGroup leaves · `joined` the barrier is over
(member, generation, assignor) · `synced` · `planned` the leader's assignment · `heard` a rebalance is
under way · `rejoining` why it joins again · `assigned` `revoked` `lost` its listener is entered ·
`positioned` it can fetch a partition · `poll-expired` · `leaving` a LeaveGroup leaves · `thrown-out`
it learnt that the group has removed it · `reset` it forgot its generation · `named` its member id ·
`state` the consumer protocol's client (why is `BEFORE>AFTER`) · `closed` · `coordinator-found`
`coordinator-lost` · `setting` · `version` · `commit-refused` · `restored` · `listed` a piece of a
message of several lines · `spoke` a line of whatever kind, before a silence.

A coordinator says: `preparing` · `stabilized` · `distributed` the leader's assignment has come · `empty` ·
`born` a member id is given out · `added` · `replaced` a static member has a new id (`other` is the old
one) · `left` (why: the client's reason) · `failed` its session ran out · `removed` it was late at the
barrier · `stuck` it did not give up its partitions in time · `bumped` the group epoch · `computed` the
target · `resubscribed` · `reconciled` (DEBUG) · `loaded` `unloaded` · `converted` · `turned-away` a twin.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Fact:
    """One thing that one line proves; `at_us` is by the clock of the host that wrote it."""

    at_us: int
    what: str
    group: str = ""
    client: str = ""  # the name that a process gives to one of its consumers
    member: str = ""  # a member id
    generation: int = -1  # or epoch
    partitions: tuple[str, ...] = ()  # topic-number
    why: str = ""
    other: str = ""
    instance: str = ""
    thread: str = ""
    plan: dict[str, tuple[str, ...]] | None = None
    amount: int = -1
    place: int = -1  # which of its stream's facts it is


CALLS = ("revoked", "assigned", "lost")  # what a listener is called for


def between(facts: Sequence[Fact], since_us: int, until_us: int) -> Sequence[Fact]:
    """Those of this time, both ends included; the facts are in order of time, or nearly so."""
    first = bisect_left(facts, since_us, key=_at)
    return facts[first : bisect_right(facts, until_us, first, key=_at)]


def _at(f: Fact) -> int:
    return f.at_us


@dataclass(slots=True)
class Record:
    """One line (or JSON document) taken apart: when, in which thread, and what it says."""

    at_us: int
    text: str
    thread: str = ""
    fields: dict[str, object] | None = None
    begin: int = -1  # where the message begins, after its prefix; −1: not known


def sorted_partitions(names: list[str]) -> tuple[str, ...]:
    """By topic and number, each once."""
    return tuple(sorted(dict.fromkeys(names), key=_by_number))


def _by_number(name: str) -> tuple[str, int]:
    topic, _, number = name.rpartition("-")
    return topic, int(number) if number.isdigit() else -1
