"""The sticky family's algorithm for groups whose members subscribe to different topics: move until
nothing gets better.

1. Everybody keeps what it holds, as far as it still subscribes to it (and racks allow).
2. Free partitions, topics with the fewest subscribers first, each go to the subscriber with the
least load.
3. Then partitions are moved, one at a time: from its owner to the least loaded subscriber of its
topic, if that makes the two more
   equal; or back to a member that says it had it in an older generation. Passes over all partitions
   are repeated until one moves
   nothing. A move that would undo an earlier one is replaced by undoing it.
4. If all this did not make the loads more equal than they were after step 2, it is undone.

Kafka stops a pass as soon as the assignment is balanced, and to find out looks at all partitions
before each step. That is spared here: while everybody holds only what it subscribes to, an
assignment is balanced exactly if no move is left to be made.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence

from rebalsim.assignors.claim import Assignment, AssignmentFailed, Claim
from rebalsim.assignors.claims_resolved import Brought, Resolved
from rebalsim.assignors.rack_awareness import RackInfo
from rebalsim.assignors.universe import Universe
from rebalsim.domain.ids import Partition
from rebalsim.domain.java_hash import JavaHashMap, partition_hash


def assign_general(
    universe: Universe,
    members: Sequence[Claim],
    brought: dict[str, Brought],
    resolved: Resolved,
    racks: RackInfo,
    highest: int,
) -> Assignment:
    """The assignment; members come in hash order. `highest` is the highest generation in which
    anybody claimed anything.
    """
    loads = Loads(universe, members)
    former = loads.former_owners(members, brought, highest)
    revoked_some = loads.keep_claims(resolved, racks)
    loads.sort_loads()
    started_empty = loads.most() == 0
    free = loads.place_free(racks)
    loads.freeze()
    before = loads.snapshot()
    score = loads.score()
    moves = Moves(loads, former)
    if not revoked_some:  # first try with what was free, so that less of the rest has to move
        moves.improve([d for d in free if loads.is_open(d)])
    if (
        moves.improve([d for d in loads.order if loads.is_open(d)])
        and not started_empty
        and loads.score() >= score
    ):
        loads.restore(before)
    return {
        member.member_id: [universe.partitions[d] for d in loads.held[loads.rank[member.member_id]]]
        for member in members
    }


class Loads:
    """Who holds what, in numbers: members by the rank of their id, partitions by their index in the
    universe.

    `queue` holds size · M + rank of every member that takes part, sorted: least loaded first, ties
    by id.
    """

    def __init__(self, universe: Universe, members: Sequence[Claim]) -> None:
        self.universe = universe
        self.ids = sorted(member.member_id for member in members)
        self.rank = {member_id: rank for rank, member_id in enumerate(self.ids)}
        position = {topic: i for i, topic in enumerate(universe.topics)}
        self.subscribers: list[list[int]] = [[] for _ in position]
        # topic → rank → 1 if it wants it
        self.subscribed = [bytearray(len(members)) for _ in position]
        self.limit = [0] * len(members)  # rank → all it could get
        for member in members:
            rank = self.rank[member.member_id]
            for topic in member.topics:
                if topic in position:
                    self.subscribers[position[topic]].append(rank)
                    self.subscribed[position[topic]][rank] = 1
                    self.limit[rank] += universe.topics[topic]
        self.topic_of = universe.topic_of
        self.owner = [-1] * len(universe.partitions)
        self.held: list[dict[int, None]] = [{} for _ in members]
        self.size = [0] * len(members)
        self.queue: list[int] = []
        self.frozen = bytearray(len(members))
        first = list(universe.first.values())
        count = list(universe.topics.values())
        # names are sorted already
        by_scarcity = sorted(range(len(count)), key=lambda t: len(self.subscribers[t]))
        self.order = [d for t in by_scarcity for d in range(first[t], first[t] + count[t])]

    def former_owners(
        self, members: Sequence[Claim], brought: dict[str, Brought], highest: int
    ) -> dict[int, int]:
        """Partitions claimed from a generation before the highest, and by whom last. Such a
        claim may be void or stand.
        """
        former: dict[int, tuple[int, int]] = {}
        for member in members:
            partitions, said = brought[member.member_id]
            generation = -1 if said is None else said
            if generation < highest:
                for partition in partitions:
                    d = self.universe.index.get(partition)
                    if d is not None and (d not in former or generation > former[d][1]):
                        former[d] = self.rank[member.member_id], generation
        return {d: rank for d, (rank, _) in former.items()}

    def keep_claims(self, resolved: Resolved, racks: RackInfo) -> bool:
        """Step 1. True if something was taken away from a member that holds it."""
        revoked_some = False
        for member_id, partitions in resolved.held.items():
            rank = self.rank[member_id]
            for partition in partitions:
                d = self.universe.index[partition]
                if not self.subscribed[self.topic_of[d]][rank] or (
                    racks.active and racks.mismatch(member_id, partition)
                ):
                    revoked_some = True
                else:
                    self.held[rank][d] = None
                    self.owner[d] = rank
            self.size[rank] = len(self.held[rank])
        return revoked_some

    def sort_loads(self) -> None:
        """Sort the members that still take part by how many partitions they have."""
        self.queue = sorted(
            size * len(self.size) + rank
            for rank, size in enumerate(self.size)
            if not self.frozen[rank]
        )

    def most(self) -> int:
        return self.queue[-1] // len(self.size)

    def resize(self, rank: int, by: int) -> None:
        members = len(self.size)
        del self.queue[bisect_left(self.queue, self.size[rank] * members + rank)]
        self.size[rank] += by
        insort(self.queue, self.size[rank] * members + rank)

    def least_loaded(self, topic: int) -> int:
        """The subscriber with the smallest load, ties by id."""
        wants = self.subscribed[topic]
        members = len(self.size)
        # few of many: ask them instead of looking for them
        if len(self.subscribers[topic]) * 4 < members:
            return (
                min(self.size[rank] * members + rank for rank in self.subscribers[topic]) % members
            )
        return next(rank for key in self.queue if wants[rank := key % members])

    def place_free(self, racks: RackInfo) -> list[int]:
        """Step 2. If racks matter, what can be placed near a replica is placed first."""
        free = [d for d in self.order if self.owner[d] < 0]
        if racks.active:
            for d in free:
                wants = self.subscribed[self.topic_of[d]]
                partition = self.universe.partitions[d]
                for key in self.queue:
                    rank = key % len(self.size)
                    if wants[rank] and not racks.mismatch(self.ids[rank], partition):
                        self._place(d, rank)
                        break
        for d in free:
            if self.owner[d] < 0:
                self._place(d, self.least_loaded(self.topic_of[d]))
        return free

    def _place(self, d: int, rank: int) -> None:
        self.owner[d] = rank
        self.held[rank][d] = None
        self.resize(rank, 1)

    def is_open(self, d: int) -> bool:
        """Whether the partition could go to more than one member."""
        return len(self.subscribers[self.topic_of[d]]) >= 2

    def freeze(self) -> None:
        """Members that have all they can get, and nothing that anybody else could take, are left
        out from here on.
        """
        for rank, held in enumerate(self.held):
            if len(held) >= self.limit[rank] and not any(map(self.is_open, held)):
                self.frozen[rank] = 1
        self.sort_loads()

    def snapshot(self) -> tuple[list[int], list[dict[int, None]]]:
        return self.owner.copy(), [held.copy() for held in self.held]

    def restore(self, before: tuple[list[int], list[dict[int, None]]]) -> None:
        self.owner, self.held = before
        self.size = [len(held) for held in self.held]
        self.sort_loads()

    def score(self) -> int:
        """The sum of the differences in load over all pairs of members: 0 is perfect balance."""
        sizes = sorted(size for rank, size in enumerate(self.size) if not self.frozen[rank])
        return sum(size * (2 * i - len(sizes) + 1) for i, size in enumerate(sizes))

    def is_balanced(self) -> bool:
        """Kafka's test: loads differ by one at most, or nobody below its limit could take
        anything from a member with two more.
        """
        members = len(self.size)
        if not self.queue or self.queue[0] // members >= self.most() - 1:
            return True
        # topic → the largest load among those that hold some of it
        heaviest = [0] * len(self.subscribers)
        for rank, held in enumerate(self.held):
            if not self.frozen[rank]:
                for d in held:
                    heaviest[self.topic_of[d]] = max(heaviest[self.topic_of[d]], self.size[rank])
        return not any(
            heaviest[topic] > self.size[rank] + 1
            for topic, ranks in enumerate(self.subscribers)
            for rank in ranks
            if not self.frozen[rank] and self.size[rank] != self.limit[rank]
        )


class Moves:
    """Step 3: the moves of one assignment, and a memory of them by topic, so that a swap becomes
    an undoing.
    """

    def __init__(self, loads: Loads, former: dict[int, int]) -> None:
        self.loads = loads
        self.former = former
        self.moved: dict[int, tuple[int, int]] = {}  # partition → from, to
        # topic, from, to → partitions
        self.by_route: dict[tuple[int, int, int], JavaHashMap[Partition, int]] = {}
        # A member that had a partition of a topic it no longer subscribes to gets it back all the
        # same (a flaw of Kafka's). From then on "balanced" and "no move left" are two things, and
        # Kafka's own test has to be asked before each step.
        self.must_ask = any(
            not loads.subscribed[loads.topic_of[d]][rank] or loads.frozen[rank]
            for d, rank in former.items()
        )

    def improve(self, partitions: list[int]) -> bool:
        """Pass over the partitions until a pass moves nothing. True if anything moved."""
        improved = False
        while self._pass(partitions):
            improved = True
        return improved

    def _pass(self, partitions: list[int]) -> bool:
        loads, former, size = self.loads, self.former, self.loads.size
        members = len(size)
        modified = False
        balanced: bool | None = None
        least: dict[int, int] = {}  # topic → its least loaded subscriber, until the next move
        for d in partitions:
            if self.must_ask:
                balanced = loads.is_balanced() if balanced is None else balanced
                if balanced:
                    break
            load = size[loads.owner[d]]
            back = former.get(d)
            if back is not None and loads.frozen[back]:
                raise AssignmentFailed(
                    f"{loads.universe.partitions[d]} was last held by {loads.ids[back]}, which "
                    "takes no part in the balancing: "
                    "Kafka's sticky assignor fails with a NullPointerException here"
                )
            if back is not None and load > size[back] + 1:
                to = back
            elif load <= loads.queue[0] // members + 1:  # nobody at all has two less
                continue
            else:
                topic = loads.topic_of[d]
                found = least.get(topic)
                to = least[topic] = loads.least_loaded(topic) if found is None else found
                if load <= size[to] + 1:
                    continue
            self._move(self._instead_of(d, to), to)
            modified = True
            balanced = None
            least.clear()
        return modified

    def _instead_of(self, d: int, to: int) -> int:
        """The partition to move to `to` in place of d: one of the topic that went the opposite
        way before, if there is one.
        """
        source = self.moved[d][0] if d in self.moved else self.loads.owner[d]
        opposite = self.by_route.get((self.loads.topic_of[d], to, source))
        first = opposite.first() if opposite else None
        return d if opposite is None or first is None else opposite[first]

    def _move(self, d: int, to: int) -> None:
        loads = self.loads
        source = loads.owner[d]
        topic = loads.topic_of[d]
        partition = loads.universe.partitions[d]
        start = source
        if d in self.moved:
            route = self.moved.pop(d)
            self.by_route[topic, *route].remove(partition)
            if not self.by_route[topic, *route]:
                del self.by_route[topic, *route]  # a new set starts with a small table again
            start = route[0]
        if start != to:
            self.moved[d] = start, to
            self.by_route.setdefault((topic, start, to), JavaHashMap(partition_hash)).put(
                partition, d
            )
        del loads.held[source][d]
        loads.held[to][d] = None
        loads.owner[d] = to
        loads.resize(source, -1)
        loads.resize(to, 1)
