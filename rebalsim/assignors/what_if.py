"""One group, one assignor, and a chain of changes: who has what after each, what moved, and what
would have had to move at least.

There is no time here and nobody fails: a cooperative group is followed through as many
rebalances as it needs until nothing is withheld any more, a group of the consumer protocol to
its new target.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.assignors.claim import AssignmentFailed, Claim, UserData
from rebalsim.assignors.cooperative_check import check_cooperative
from rebalsim.assignors.least_moves import least_moves
from rebalsim.assignors.registry import (
    EAGER,
    Assignor,
    ClientAssignor,
    ServerAssignor,
    rebalance_protocol,
)
from rebalsim.assignors.server_target import ServerMember, Target, as_recorded, is_same
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import TimelineHashMap, hash_ordered

# of one change; a cooperative assignor that still withholds something then never will give it out
MOST_REBALANCES = 20


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to the group at once: members come and go, topics grow or appear."""

    text: str
    joined: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    grown: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Move:
    """A partition that changed hands."""

    partition: Partition
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The group after a change."""

    change: Change
    assignment: dict[str, list[Partition]]
    before: dict[str, list[Partition]]
    moves: tuple[Move, ...]
    least: int  # moves that no assignment with even loads could have avoided
    stopped: int  # partitions revoked from a member that goes on: all of them if eager
    withheld: int  # partitions that had to wait for a second rebalance
    rebalances: int

    @property
    def imbalance(self) -> int:
        loads = [len(held) for held in self.assignment.values()]
        return max(loads, default=0) - min(loads, default=0)


def parse_change(
    text: str, members: Sequence[str], topics: Mapping[str, int], joined_so_far: int
) -> Change:
    """`+2` (two more members), `-c0` (that one leaves), `orders:16` (the topic grows to 16), or
    several with commas between them.
    """
    joined: list[str] = []
    left: list[str] = []
    grown: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if re.fullmatch(r"\+\d+", part):
            joined += [f"c{joined_so_far + len(joined) + i}" for i in range(int(part))]
        elif part.startswith("-"):
            if part[1:] not in members or part[1:] in left:
                raise InputError(
                    f"'{text}': there is no member '{part[1:]}' that could leave — at that point "
                    f"the group has {', '.join(members)}"
                )
            left.append(part[1:])
        elif ":" in part:
            grown |= parse_topics(part)
            topic = part.rpartition(":")[0]
            if grown[topic] < topics.get(topic, 0):
                raise InputError(
                    f"'{text}': topic '{topic}' has {topics[topic]} partitions already, and a "
                    "topic cannot shrink"
                )
        else:
            raise InputError(
                f"'{text}' is not a change — write +N (N members join), -NAME (a member leaves) "
                "or TOPIC:N (the topic grows)"
            )
    if not joined and not left and not grown:
        raise InputError(
            f"'{text}' changes nothing — write +N (N members join), -NAME (a member leaves) or "
            "TOPIC:N (the topic grows)"
        )
    if len(left) == len(members) and not joined:
        raise InputError(f"'{text}' leaves the group without members")
    return Change(text, tuple(joined), tuple(left), grown)


def parse_topics(text: str) -> dict[str, int]:
    """`orders:12,payments:4` → partitions by topic."""
    topics: dict[str, int] = {}
    for part in text.split(","):
        name, colon, count = part.strip().rpartition(":")
        if not colon or not name or not count.isdecimal() or not 1 <= int(count) <= 100_000:
            raise InputError(
                f"'{part.strip()}' is not a topic with its number of partitions — write for "
                "instance orders:12,payments:4"
            )
        if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name):
            raise InputError(
                f"'{name}' is not a topic name that Kafka takes — letters, digits, '.', '_' and "
                "'-' only"
            )
        if name in topics:
            raise InputError(f"Topic '{name}' is given twice")
        topics[name] = int(count)
    return topics


def play(
    assignor: Assignor, topics: Mapping[str, int], members: Sequence[str], changes: Sequence[Change]
) -> list[Outcome]:
    """The start and every change in turn."""
    group: ClientGroup | ServerGroup = (
        ServerGroup(assignor) if isinstance(assignor, ServerAssignor) else ClientGroup(assignor)
    )
    counts = dict(topics)
    outcomes = []
    for change in (Change("start", joined=tuple(members)), *changes):
        counts.update(change.grown)
        outcomes.append(group.apply(change, counts))
    return outcomes


def _outcome(
    change: Change,
    counts: Mapping[str, int],
    before: dict[str, list[Partition]],
    after: dict[str, list[Partition]],
    *,
    eager: bool,
    withheld: int,
    rebalances: int,
) -> Outcome:
    source = {p: member for member, held in before.items() for p in held}
    moves = tuple(
        Move(p, source[p], member)
        for member, held in after.items()
        for p in sorted(held)
        if source.get(p, member) != member
    )
    stayed = sum(len(held) for member, held in before.items() if member in after)
    return Outcome(
        change,
        {member: sorted(held) for member, held in after.items()},
        before,
        moves,
        least_moves(
            before,
            list(after),
            [Partition(topic, n) for topic, count in counts.items() for n in range(count)],
        ),
        stayed if eager else sum(1 for move in moves if move.source in after),
        withheld,
        rebalances,
    )


class ClientGroup:
    """A group of the classic protocol: its members rejoin with what they have, or remember."""

    def __init__(self, assignor: ClientAssignor) -> None:
        self._assignor = assignor
        self._eager = rebalance_protocol([assignor]) == EAGER
        self._held: dict[str, list[Partition]] = {}
        self._user: dict[str, UserData] = {}
        self._generation = 0
        self._joined_in: dict[str, int] = {}  # member → the generation it was last part of

    def apply(self, change: Change, counts: Mapping[str, int]) -> Outcome:
        before = {member: sorted(held) for member, held in self._held.items()}
        for member in change.left:
            del self._held[member], self._user[member], self._joined_in[member]
        for member in change.joined:
            self._held[member] = []
            self._user[member] = self._assignor.fresh
            self._joined_in[member] = -1
        withheld = 0
        for rebalances in range(1, MOST_REBALANCES + 1):
            had, self._held = self._held, self._rebalance(counts)
            taken = any(p not in self._held[member] for member, held in had.items() for p in held)
            if self._eager or not taken:
                costs = {"withheld": withheld, "rebalances": rebalances}
                return _outcome(change, counts, before, self._held, eager=self._eager, **costs)
            withheld += sum(counts.values()) - sum(map(len, self._held.values()))
        raise AssignmentFailed(
            f"Assignor '{self._assignor.name}' still takes partitions away after "
            f"{MOST_REBALANCES} rebalances in a row"
        )

    def _rebalance(self, counts: Mapping[str, int]) -> dict[str, list[Partition]]:
        self._generation += 1
        owned = {m: () if self._eager else tuple(sorted(held)) for m, held in self._held.items()}
        claims = [
            Claim(
                member,
                tuple(sorted(counts)),
                owned=owned[member],
                owned_generation=self._joined_in[member],
                user_owned=self._user[member].owned,
                user_generation=self._user[member].generation,
            )
            for member in self._held
        ]
        given = self._assignor.assign(counts, claims)
        if not self._eager and self._assignor.is_checked:
            check_cooperative(self._assignor.name, owned, given)
        self._user = {m: self._assignor.remember(new, self._generation) for m, new in given.items()}
        self._joined_in = dict.fromkeys(self._held, self._generation)
        return {member: given[member] for member in self._held}


class ServerGroup:
    """A group of the consumer protocol: the broker computes a new target from the old one.

    Topic ids are random in a real cluster, and which topic is handed out first depends on them;
    here they are derived from the names.
    """

    def __init__(self, assignor: ServerAssignor) -> None:
        self._assignor = assignor
        self._targets: TimelineHashMap[str, Target] = TimelineHashMap()
        self._joined: list[str] = []

    def apply(self, change: Change, counts: Mapping[str, int]) -> Outcome:
        ids = {topic: _topic_id(topic) for topic in hash_ordered(counts)}
        names = {topic_id: topic for topic, topic_id in ids.items()}
        before = self._by_member(names)
        for member in change.left:
            self._targets.remove(member)
            self._joined.remove(member)
        for member in change.joined:
            self._targets.put(member, {})
            self._joined.append(member)
        members = [
            ServerMember(member, tuple(ids.values()), None, target)
            for member, target in self._targets.items()
        ]
        for member, target in self._assignor.assign(
            {ids[topic]: count for topic, count in counts.items()}, members
        ).items():
            if not is_same(target, self._targets[member]):
                self._targets.put(member, as_recorded(target))
        after = self._by_member(names)
        return _outcome(change, counts, before, after, eager=False, withheld=0, rebalances=1)

    def _by_member(self, names: Mapping[str, str]) -> dict[str, list[Partition]]:
        return {
            member: sorted(
                Partition(names[topic], number)
                for topic, numbers in self._targets[member].items()
                for number in numbers
            )
            for member in self._joined
        }


def _topic_id(topic: str) -> str:
    return (
        base64.urlsafe_b64encode(hashlib.md5(topic.encode(), usedforsecurity=False).digest())
        .decode()
        .rstrip("=")
    )


def protocol_of(assignor: Assignor) -> str:
    """How a group with this assignor alone rebalances: eager, cooperative or consumer."""
    return (
        assignor.protocols[0]
        if isinstance(assignor, ServerAssignor)
        else rebalance_protocol([assignor])
    )
