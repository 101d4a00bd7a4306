"""What must hold in any trace, whoever told it. A violation is a bug of rebalsim (or of Kafka),
never of the user.

two-owners: no partition with two owners in one generation who can both commit · no-owner: in a
settled group every partition that it ever had is held, if its leader knows of it ·
generation-shrank: generations only grow · stranger: no member acts on a generation that it never
joined · time-ran-back.
"""

from __future__ import annotations

from rebalsim.analysis.connect_phases import worker_groups
from rebalsim.analysis.index import Index
from rebalsim.analysis.ownership import Change, changes
from rebalsim.analysis.values import Rebalance, Violation
from rebalsim.domain.ids import Partition
from rebalsim.domain.instants import SECOND
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.kafka_states import KafkaClientState, KafkaGroupState
from rebalsim.domain.script import Subscribe
from rebalsim.trace import events as ev
from rebalsim.trace.trace import TraceHeader

NOWHERE = (-1, -1)
_ALL = 1 << 62
_ACTS = frozenset((KafkaApi.SYNC, KafkaApi.HEARTBEAT, KafkaApi.OFFSET_COMMIT))


def find_violations(
    index: Index, header: TraceHeader, rounds: dict[str, list[Rebalance]]
) -> list[Violation]:
    """All broken invariants, by time. Clocks of real machines are exact to the ms only: what two
    told within the same ms is no proof.
    """
    found = _time_ran_back(index)
    hands: dict[str, dict[int, list[Change]]] = {}
    for change in changes(index):
        hands.setdefault(index.group_of[change.holding.consumer], {}).setdefault(
            change.event, []
        ).append(change)
    workers = worker_groups(header)
    for group in index.groups():
        # Connect itself lets two copies of a task run, and leaves work to nobody on purpose
        hers = {} if group in workers else hands.get(group, {})
        check = _Check(index, header, group, hers)
        found += check.run()
        if group not in workers:
            found += check.unheld(rounds.get(group, []))
    return sorted(found, key=lambda v: (v.at_us, v.rule))


def _time_ran_back(index: Index) -> list[Violation]:
    found, before = [], 0
    for n, e in enumerate(index.events):
        if e.at_us < before:
            found.append(
                Violation(
                    "time-ran-back",
                    e.at_us,
                    f"{type(e).__name__} at {e.at_us} µs stands after {before} µs",
                    (n - 1, n),
                )
            )
        before = e.at_us
    return found


class _Check:
    """One group's events, in order."""

    def __init__(
        self, index: Index, header: TraceHeader, group: str, hands: dict[int, list[Change]]
    ) -> None:
        self.index, self.group, self.hands = index, group, hands
        self.slack_us = 0 if header.is_simulated else 2_000
        self.late = {
            name: None
            for name, facts in header.consumers.items()
            if facts.habits.gives_up_after_sync
        }
        self.is_cooperative = False  # the assignor of the last round …
        self.leader = ""  # … and its leader
        self.first_counts = {topic: facts.partitions for topic, facts in header.topics.items()}
        # leaders with partitions that came later, which they have given somebody
        self.known: dict[tuple[str, Partition], None] = {}
        self.found: list[Violation] = []
        self.joined: dict[str, dict[int, None]] = {}  # consumer → generations of this life
        self.most: dict[str, tuple[int, int]] = {}  # the highest of them: (term, generation)
        self.generation: dict[str, tuple[int, int]] = {}  # … and the last
        self.highest = -1
        self.term = 0  # how often another coordinator took over
        # generation → under which of them it began, or was restored
        self.term_of: dict[int, int] = {}
        self.alive: dict[str, None] = {}
        # partition → consumers that hold it, and what brought it
        self.holders: dict[Partition, dict[str, Change]] = {}
        self.ever: dict[Partition, None] = {}  # assigned to anybody at any time
        # topic → who had any of it, and when last it asked for that
        self.had: dict[str, dict[str, int]] = {}
        self.asked: dict[str, int] = {}  # consumer → when it sent its last JoinGroup
        self.valid: dict[str, None] = {}  # who is a member in good standing
        # members that the group has removed since it last added them
        self.removed: dict[str, None] = {}
        # Under the consumer protocol: who has left, was fenced, or joins again. An assignment that
        # its application had not come to before is applied nevertheless (Kafka 4.3.1,
        # AsyncKafkaConsumer.applyNewAssignment), and taken back by its next one: that it is held
        # twice is Kafka's doing.
        self.outside: dict[str, None] = {}
        # So is one that it has not come to when another coordinator asks for everything: what it
        # does not name there has been given up, to the broker (ConsumerHeartbeatRequestManager
        # sends the local assignment, which is set once the callback is done).
        self.belated: dict[tuple[str, Partition], None] = {}
        self.disowned: dict[tuple[str, Partition], None] = {}
        self.state = ""
        self.has_epochs = False
        self.troubled_us = -1

    def run(self) -> list[Violation]:
        handlers = {kind: getattr(self, name) for kind, name in _HANDLERS.items()}
        for n in self.index.of_group(self.group):
            e = self.index.events[n]
            for change in self.hands.get(n, ()):
                self._changes_hands(change, e)
            if (handler := handlers.get(type(e))) is not None:
                handler(n, e)
        return self.found

    def _barrier(self, n: int, e: ev.BarrierCompleted) -> None:
        if e.generation <= self.highest:
            self.found.append(
                Violation(
                    "generation-shrank",
                    e.at_us,
                    f"{self.group} began generation {e.generation} after {self.highest}",
                    (n,),
                )
            )
        self._begins(e.generation)
        self.is_cooperative = e.assignor == "cooperative-sticky"
        self.leader = e.leader

    def _begins(self, generation: int) -> None:
        self.highest = generation
        self.term_of[generation] = self.term

    def _moved(self, n: int, e: ev.CoordinatorMoved) -> None:
        """A coordinator that takes over knows nothing of rounds that its predecessor had not yet
        written to the log, and gives their generation numbers to other rounds; members may read
        the old answers long after.
        """
        self.highest = -1
        self.term += 1

    def _state(self, n: int, e: ev.GroupStateChanged) -> None:
        if e.before == KafkaGroupState.DEAD:
            self._begins(e.generation)
        elif (
            e.before == KafkaGroupState.EMPTY
            and e.after == KafkaGroupState.PREPARING_REBALANCE
            and self.has_epochs
        ):
            self._is_replaced()
        self.state = e.after

    def _bumped(self, n: int, e: ev.EpochBumped) -> None:
        if self.state in (KafkaGroupState.EMPTY, KafkaGroupState.DEAD) and not self.has_epochs:
            self._is_replaced()
        self.has_epochs = True

    def _is_replaced(self) -> None:
        """Where a group is empty, whoever speaks the other protocol begins another one in its
        place, which counts anew.
        """
        self.highest = -1
        self.term += 1
        self.has_epochs = False

    def _started(self, n: int, e: ev.ConsumerStarted) -> None:
        self.alive[e.consumer] = None
        self.asked.pop(e.consumer, None)

    def _joined(self, n: int, e: ev.GenerationJoined) -> None:
        self.alive[e.consumer] = None
        joined = self.term_of.get(e.generation, self.term), e.generation
        term, most = self.most.get(e.consumer, joined)
        if e.generation < most and term == joined[0] and self.highest >= 0:
            self.found.append(
                Violation(
                    "generation-shrank",
                    e.at_us,
                    f"{e.consumer} joined generation {e.generation} after {most}",
                    (n,),
                )
            )
        self.most[e.consumer] = (
            joined if term != joined[0] else max(self.most.get(e.consumer, joined), joined)
        )
        self.joined.setdefault(e.consumer, {})[e.generation] = None
        self.generation[e.consumer] = joined
        self.valid[e.consumer] = None

    def _sent(self, n: int, e: ev.RequestSent) -> None:
        if e.api == KafkaApi.JOIN:
            self.asked[e.consumer] = e.at_us
        if e.api not in _ACTS or e.generation < 0 or e.consumer not in self.generation:
            return  # under the consumer protocol epochs are not joined
        if e.generation not in self.joined.get(e.consumer, {}):
            text = f"{e.consumer} sent {e.api} for generation {e.generation}, which it never joined"
            self.found.append(Violation("stranger", e.at_us, text, (n,)))

    def _received(self, n: int, e: ev.AssignmentReceived) -> None:
        if e.consumer in self.generation and e.generation not in self.joined.get(e.consumer, {}):
            text = (
                f"{e.consumer} got an assignment of generation {e.generation}, which it never "
                "joined"
            )
            self.found.append(Violation("stranger", e.at_us, text, (n,)))
        for p in e.partitions:
            self.belated.pop((e.consumer, p), None)
            self.disowned.pop((e.consumer, p), None)
            if p.number >= self.first_counts.get(p.topic, _ALL) and e.generation == self.highest:
                self.known[self.leader, p] = None

    def _changes_hands(self, change: Change, e: ev.TraceEvent) -> None:
        p, one = change.partition, change.holding.consumer
        holders = self.holders.setdefault(p, {})
        self.belated.pop((one, p), None)
        if not change.begins:
            holders.pop(one, None)
            return
        self.alive[one] = None
        self.ever[p] = None
        self.had.setdefault(p.topic, {})[one] = self.asked.get(one, e.at_us)
        if one in self.outside or (one, p) in self.disowned:
            self.belated[one, p] = None
        for other, before in holders.items():
            if (
                (one, p) in self.belated
                or (other, p) in self.belated
                or self._gives_up_late(other, before)
            ):
                continue
            if self._both_commit(other, one, e.at_us, before.holding.started_us):
                generation = self.generation.get(one, NOWHERE)[1]
                text = f"{p} is held by {other} and {one} in generation {generation}"
                proof = (before.event, change.event)
                self.found.append(Violation("two-owners", e.at_us, text, proof))
        holders[one] = change

    def _released(self, n: int, e: ev.PartitionsReleased) -> None:
        for p in e.partitions:
            if e.consumer not in self.holders.get(p, ()):
                self.disowned[e.consumer, p] = None

    def _gives_up_late(self, other: str, before: Change) -> bool:
        """By its client's own rules: what it held before the round, where that was an eager one."""
        return (
            other in self.late
            and not self.is_cooperative
            and before.holding.generation < self.generation.get(other, NOWHERE)[1]
        )

    def _both_commit(self, other: str, one: str, at: int, since: int) -> bool:
        if other not in self.valid or one not in self.valid or at - since <= self.slack_us:
            return False
        return self.generation.get(other, NOWHERE) == self.generation.get(one, NOWHERE)

    def _gone(self, n: int, e: ev.ConsumerExited) -> None:
        self._out(n, e)
        self.alive.pop(e.consumer, None)
        self.joined.pop(e.consumer, None)
        self.most.pop(e.consumer, None)
        self.generation.pop(e.consumer, None)
        self.outside.pop(e.consumer, None)

    def _out(self, n: int, e: ev.TraceEvent) -> None:
        """No longer a member in good standing: it cannot commit, and the group is not settled
        until a round has dealt with it.
        """
        self.valid.pop(e.consumer, None)
        self.troubled_us = max(self.troubled_us, e.at_us)

    def _removed(self, n: int, e: ev.MemberRemoved) -> None:
        self.removed[e.consumer] = None
        self._out(n, e)

    def _added(self, n: int, e: ev.MemberAdded) -> None:
        self.removed.pop(e.consumer, None)

    def _member_state(self, n: int, e: ev.MemberStateChanged) -> None:
        if e.is_of_client and e.after in (
            KafkaClientState.RECONCILING,
            KafkaClientState.ACKNOWLEDGING,
            KafkaClientState.STABLE,
        ):
            self.outside.pop(e.consumer, None)
            # an answer that a cut held up may tell of an assignment long after
            if e.consumer not in self.removed:
                self.valid[e.consumer] = None
        elif e.is_of_client and e.after in (
            KafkaClientState.FENCED,
            KafkaClientState.STALE,
            KafkaClientState.LEAVING,
            KafkaClientState.UNSUBSCRIBED,
            KafkaClientState.FATAL,
        ):
            self._out(n, e)
            self.outside[e.consumer] = None

    def unheld(self, rounds: list[Rebalance]) -> list[Violation]:
        """In a group that has settled, everything it ever had is held."""
        last = rounds[-1] if rounds else None
        if last is None or last.is_cooperative or min(last.stable_us, last.settled_us) < 0:
            return []
        at = max(last.settled_us, last.stable_us)
        if at > self.index.horizon_us - SECOND or self.troubled_us >= last.prepared_us:
            return []
        alone = [
            p
            for p in sorted(self.ever)
            if not self.holders.get(p) and self._is_wanted(p) and self._is_known(p, last.leader)
        ]
        what = f"though {self.group} has settled"
        return [Violation("no-owner", at, f"nobody holds {p} {what}", last.evidence) for p in alone]

    def _is_known(self, p: Partition, leader: str) -> bool:
        """A leader assigns what its own metadata tell: partitions that came later may be
        nobody's until they are refreshed.
        """
        return (
            not leader
            or p.number < self.first_counts.get(p.topic, _ALL)
            or (leader, p) in self.known
        )

    def _is_wanted(self, p: Partition) -> bool:
        """Whether it is still there, and somebody lives who asks for it. Subscriptions are not
        told: who had its topic, and did not subscribe since.
        """
        had = {
            consumer: at
            for consumer, at in self.had.get(p.topic, {}).items()
            if consumer in self.alive
        }
        for n in self.index.world:
            e = self.index.events[n]
            if type(e) is ev.TopicChanged and e.topic == p.topic and e.partitions <= p.number:
                return False
            if type(e) is ev.ScriptActed and e.kind == Subscribe.__name__:
                for consumer in e.targets:
                    if had.get(consumer, e.at_us + 1) <= e.at_us:
                        del had[consumer]
        return bool(had)


_HANDLERS: dict[type, str] = {
    ev.BarrierCompleted: "_barrier",
    ev.GroupStateChanged: "_state",
    ev.EpochBumped: "_bumped",
    ev.CoordinatorMoved: "_moved",
    ev.ConsumerStarted: "_started",
    ev.GenerationJoined: "_joined",
    ev.RequestSent: "_sent",
    ev.AssignmentReceived: "_received",
    ev.ConsumerExited: "_gone",
    ev.ConsumerFroze: "_out",
    ev.MemberReset: "_out",
    ev.LeaveSent: "_out",
    ev.PollExpired: "_out",
    ev.MemberRemoved: "_removed",
    ev.MemberStateChanged: "_member_state",
    ev.Fenced: "_out",
    ev.MemberAdded: "_added",
    ev.PartitionsReleased: "_released",
}
