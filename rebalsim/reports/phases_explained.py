"""What each phase of a pause is, for `rebalsim explain PHASE` and for whoever hovers over one in
a report. One table, nothing computed.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PhaseExplained:
    """A phase in words. `shows` names the trace events that begin and end it; `change` the
    settings that shorten it.
    """

    title: str
    what: str
    why: str
    shows: str
    change: str


PHASES_EXPLAINED: dict[str, PhaseExplained] = {
    "stuck": PhaseExplained(
        title="the owner's handler does not come back",
        what="The member holds the partition and works on a batch that runs past the length it "
        "would have had undisturbed, or past "
        "max.poll.interval.ms whatever its length. The phase ends when the handler returns or "
        "when the group acts.",
        why="The heartbeat thread goes on, so to the coordinator the member is healthy: the "
        "session never runs out. Nothing but "
        "max.poll.interval.ms (5 minutes by default) ends it, and a static member is not taken "
        "over even then, until its session is "
        "over too.",
        shows="HandlerStuck begins it. HandlerReturned ends it, or PollExpired with LeaveSent "
        "after it. The partition stays assigned meanwhile.",
        change="Bound the handler's own waits. Set max.poll.interval.ms to two or three times the "
        "worst batch; lower max.poll.records so that "
        "the worst batch is short.",
    ),
    "detection": PhaseExplained(
        title="nobody knows yet",
        what="The owner is dead, frozen or cut off, and neither the coordinator nor anybody else "
        "has noticed. It lasts from the last sign of "
        "life until the timer that finds out.",
        why="A process that dies without close() says nothing, and a broken connection means "
        "nothing to the coordinator. Only the session "
        "timer tells: session.timeout.ms after the last heartbeat or commit, so 42 to 45 s with "
        "the defaults. It is usually by far the "
        "longest phase, and no assignor and no protocol shortens it.",
        shows="ConsumerExited (killed), ConsumerFroze or LinkCut begins it; MemberRemoved with "
        "session-expired ends it. Its last_heard_us "
        "says when the timer was last renewed.",
        change="Shorten session.timeout.ms, with heartbeat.interval.ms at a third of it or less, "
        "down to what your longest freezes and cuts "
        "allow. Under the consumer protocol it is the broker's "
        "group.consumer.session.timeout.ms, 45 s at least. Stop processes "
        "gracefully, so that they leave instead of vanishing.",
    ),
    "away": PhaseExplained(
        title="a member is simply not there yet",
        what="The partition belongs to a static member that is being restarted, or nobody is in "
        "the group: all are still starting, have left it "
        "in the middle of their batches, or are dead or frozen and their sessions over. Nothing "
        "is decided: the partition waits for whoever comes first.",
        why="It lasts as long as the process takes to stop and start again, JVM and all. If that "
        "is longer than the session, detection and a "
        "rebalance come on top.",
        shows="CloseEnded or ConsumerExited begins it; PollingBegan of the next life, or "
        "MemberAdded with replacement, ends it.",
        change="Start quicker; keep session.timeout.ms above the slowest restart; restart fewer at "
        "once.",
    ),
    "notice": PhaseExplained(
        title="members learn of the rebalance at their next heartbeat",
        what="The rebalance has begun at the coordinator, and a member has not heard of it: it is "
        "told in the answer to its next heartbeat.",
        why="The coordinator never calls its members. Each hears within heartbeat.interval.ms, "
        "the last of them decides, and an eager group "
        "that has already stopped waits for it.",
        shows="From GroupStateChanged to PreparingRebalance until RebalanceNoticed (by heartbeat, "
        "commit or sync).",
        change="Shorten heartbeat.interval.ms (1s costs little). A member inside a long batch "
        "hears "
        "in time and acts late: see barrier.",
    ),
    "revoke": PhaseExplained(
        title="the old owner commits and runs its callback",
        what="The owner gives the partition up: with auto-commit it commits its position first, "
        "then onPartitionsRevoked runs (flush, commit, "
        "whatever the application does there).",
        why="Eager members do it for all of their partitions before they join, and everybody "
        "waits for the slowest. Cooperative ones do it "
        "for those that move, before the second round. A commit that the brokers refuse for "
        "good, of a topic that has been deleted, is tried again "
        "until the rebalance timeout is over.",
        shows="CallbackBegan and CallbackEnded with revoked; RequestSent with OffsetCommit just "
        "before.",
        change="Do less in onPartitionsRevoked, and commit once instead of per partition. Use "
        "cooperative-sticky, so that only what moves is "
        "revoked.",
    ),
    "release": PhaseExplained(
        title="the old owner has not confirmed that it gave the partition up (consumer protocol)",
        what="The new target gives the partition to somebody else; the coordinator holds it back "
        "until its owner's heartbeat says that it no "
        "longer has it.",
        why="Only then is it certain that no two members read it. The owner hears at its "
        "heartbeat, and needs up to three polls to commit, "
        "revoke and confirm: a long batch counts two or three times.",
        shows="ReleaseAwaited names the owners; PartitionsReleased ends it.",
        change="Shorter batches (max.poll.records); a quick listener; "
        "group.consumer.heartbeat.interval.ms on the brokers (5 s by default, "
        "which is its lower bound too).",
    ),
    "interval": PhaseExplained(
        title="the broker may not compute a new target yet (consumer protocol)",
        what="Something changed, and group.consumer.assignment.interval.ms (1 s since Kafka 4.3) "
        "has not passed since the last assignment.",
        why="It keeps a burst of changes from being computed one by one. A member that came "
        "inside the interval gets its partitions a "
        "heartbeat later.",
        shows="IntervalWaited with its until_us; AssignmentComputed ends it.",
        change="Set group.consumer.assignment.interval.ms to 0 on the brokers, as before 4.3, if "
        "hand-over time matters more than the "
        "coordinator's load.",
    ),
    "barrier": PhaseExplained(
        title="waiting for the last member to join",
        what="All members must join before anything is assigned. The partition's old owner has "
        "given it up, and the group waits for the last: "
        "the report names it and says what it was doing.",
        why="One member is enough: busy with a long batch, in a slow callback, stuck until the "
        "brokers' patience with it is over (its rebalance "
        "timeout: max.poll.interval.ms in Java, a setting of its own in some clients), or dead "
        "until its session runs out. Eager members have stopped "
        "everything by then, so one member's lateness is everybody's pause.",
        shows="GroupStateChanged to PreparingRebalance, MemberRejoined of each, BarrierCompleted "
        "with by (all-joined, timer, removal, "
        "initial-delay) and last.",
        change="Depends on the last one. Busy: lower max.poll.records. Stuck: lower "
        "max.poll.interval.ms. Dead: shorten the session, or use "
        "static ids so that its replacement takes its place. Cold start: "
        "group.initial.rebalance.delay.ms. With cooperative-sticky "
        "the others go on reading while they wait.",
    ),
    "follow-up": PhaseExplained(
        title="waiting for the second round of a cooperative hand-over",
        what="A cooperative member has given the partition up after the first round; the new "
        "owner gets it in the next one, which has not "
        "begun for everybody.",
        why="Those that gave something up join again at once. All others hear of the second "
        "round at their next heartbeat, and all "
        "heartbeats started together at the end of the first: nearly a whole "
        "heartbeat.interval.ms passes. A moved partition may so "
        "stand still longer than in an eager rebalance, which in turn stops all the others. It "
        "never comes where a static member was to "
        "set it off and is restarted before that: it takes its old place without a round, and "
        "the partitions are nobody's until "
        "something else rebalances the group.",
        shows="CallbackEnded (revoked) after AssignmentReceived begins it; the second "
        "BarrierCompleted ends it. The heartbeat that was waited "
        "for is a RebalanceNoticed.",
        change="Shorten heartbeat.interval.ms: the phase is about as long as that. Moving fewer "
        "partitions does not shorten it.",
    ),
    "pickup": PhaseExplained(
        title="the new owner has not had its heartbeat yet (consumer protocol)",
        what="The partition is free and meant for a member that has not been told: it learns in "
        "the answer to its next heartbeat.",
        why="The coordinator never pushes. On average half of "
        "group.consumer.heartbeat.interval.ms passes, at worst all of it. A classic member "
        "of "
        "such a group has heartbeat.interval.ms of its own, and hears only after the heartbeat "
        "of one that speaks the new protocol has had "
        "the broker compute.",
        shows="PartitionsReleased (or MemberRemoved) begins it; AssignmentReceived of the new "
        "owner ends it.",
        change="Shorten group.consumer.heartbeat.interval.ms on the brokers (lower its bound "
        "group.consumer.min.heartbeat.interval.ms first).",
    ),
    "assignment": PhaseExplained(
        title="the leader computes, and the assignment comes back",
        what="The barrier is complete. The group's leader runs the assignor, sends the result "
        "with SyncGroup, the coordinator writes it to its "
        "log, and each member gets its part.",
        why="Usually milliseconds. With thousands of members and partitions the assignor takes "
        "seconds, and when it takes longer than "
        "request.timeout.ms the others give up and join again. A leader inside a long batch "
        "(cooperative) does not even begin. A process "
        "that died while its JoinGroup was parked stays a member until its session ends: it may "
        "lead, and then nobody assigns (the others' "
        "SyncGroups run into request.timeout.ms), or be given partitions that nobody reads. And "
        "while the coordinator moves, nothing is assigned.",
        shows="From BarrierCompleted over AssignmentComputed and AssignmentStored to "
        "AssignmentReceived.",
        change="A cheaper assignor, fewer topics per group; the consumer protocol, where the "
        "broker "
        "computes. State the cost in assignor_cost.",
    ),
    "restore": PhaseExplained(
        title="the new owner prepares: callback and state",
        what="onPartitionsAssigned runs; state is restored before the first record is handled.",
        why="Minutes where state is large. It runs in the poll thread: longer than "
        "max.poll.interval.ms, and the member is expelled in the "
        "middle of it.",
        shows="CallbackBegan and CallbackEnded with assigned; StoreRestored where it is restored in "
        "the background.",
        change="Standbys (state: standby), assignors that keep owners, static members whose state "
        "survives a restart (state: survives: restart); restore outside of the "
        "callback with the partition paused (state: where: background).",
    ),
    "fetch": PhaseExplained(
        title="position look-up and the first records",
        what="The member owns the partition and asks where to begin: committed offset, check of "
        "its epoch with the leader, then the first "
        "fetch.",
        why="Two or three round trips, usually some 10 ms; a tenth of a second where poll() "
        "returned in between (retry.backoff.ms), up to "
        "fetch.max.wait.ms (500 ms) behind a fetch that waits for other, idle partitions. A cold "
        "process opens its connections first. After a "
        "cut nothing comes before TCP, or the client, tries again: up to as long as the cut "
        "lasted, and up to 16 s after one of more than half a minute.",
        shows="PositionFound, then RecordsDelivered.",
        change="Little to gain: a longer poll timeout, a shorter fetch.max.wait.ms. Make sure that "
        "what dominates is not another phase.",
    ),
    "delay": PhaseExplained(
        title="waiting for the lost worker to come back (Kafka Connect)",
        what="A worker is gone, and its connectors and tasks are given to nobody for "
        "scheduled.rebalance.max.delay.ms (5 minutes by default), on purpose.",
        why="A worker that is only restarted would else have its work moved away and back. The "
        "delay begins with the first loss and never grows; a worker that comes back without "
        "its work waits for the end like all others, one that left cleanly is waited for like "
        "one that died, and only one that comes back still running its tasks ends it. Where "
        "the worker that leads the cluster is the one that goes, there is no delay at all: its "
        "successor remembers nothing.",
        shows="WorkAssigned with a delay_us; the next round without one ends it.",
        change="Set scheduled.rebalance.max.delay.ms a little above what a restart takes: longer, "
        "and a lost worker's tasks stand still for it; shorter, and every restart moves "
        "tasks. The leader's value counts.",
    ),
    "stop": PhaseExplained(
        title="the task is being stopped (Kafka Connect)",
        what="The worker asks the task to stop and waits for it: its poll(), its last offsets, "
        "its stop(). A worker that is shut down stops all of them, then leaves the group.",
        why="While it waits the worker does nothing else, and a round waits for the worker: one "
        "slow task holds up all that move, and under eager all there are. A sink's task whose "
        "consumer waits in a rebalance of its own stops only when that is over.",
        shows="CallbackBegan (revoked) and TaskStopping of each; TaskCancelled where the patience "
        "was over, from which on two copies may run.",
        change="Let tasks stop quickly. task.shutdown.graceful.timeout.ms bounds the wait.",
    ),
    "start": PhaseExplained(
        title="the task is being started (Kafka Connect)",
        what="The task was given to this worker, which makes its clients and calls its start().",
        why="Eight at a time are launched; each then starts on a thread of its own.",
        shows="CallbackBegan (assigned), TaskStarting, RecordsDelivered at its first poll.",
        change="What a task does in start() is the connector's matter.",
    ),
}
