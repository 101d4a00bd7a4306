"""What versions and clients do otherwise, since when, and by which source: a claim without a source is
not modelled, and what is documented but not modelled says so.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Habit:
    """What a version or a client does otherwise."""

    who: str
    what: str
    source: str
    is_modelled: bool = True


HABITS: tuple[Habit, ...] = (
    Habit(
        "brokers up to 3.9",
        "the coordinator in Scala: the initial delay grows only before a group's first "
        "generation, the members of one "
        "LeaveGroup go one by one, a SyncGroup renews the session",
        "GroupCoordinator.scala, tags 2.3 to 3.9",
    ),
    Habit(
        "brokers up to 3.9",
        "no group.protocol: consumer (a preview in 3.7 to 3.9, off by default)",
        "KIP-848, generally available in 4.0",
    ),
    Habit(
        "brokers up to 3.1",
        "a static leader that returns within its session is told its former id as the leader's "
        "(JoinGroup below version 9 has no "
        "SkipAssignment) and does not know that it leads: until the next rebalance nobody minds "
        "the topics, and partitions added to them are "
        "nobody's",
        "KIP-814, KAFKA-13435",
    ),
    Habit(
        "brokers 4.0 and 4.1",
        "epoch 0 of a known member is fenced unless its previous epoch is 0",
        "GroupMetadataManager, versions 4.0 to 4.2",
    ),
    Habit(
        "brokers up to 4.2",
        "no assignment interval (group.consumer.assignment.interval.ms): a target is computed at "
        "once; a group begins at epoch 0; "
        "a commit needs the very epoch",
        "KIP-1263, KIP-1251",
    ),
    Habit(
        "brokers 4.0 to 4.2",
        "a classic member of a consumer group is told to join again as soon as the group epoch "
        "is ahead of its own; since 4.3 when "
        "the target is",
        "GroupMetadataManager: classicGroupHeartbeatToConsumerGroup, throwIfRebalanceInProgress",
    ),
    Habit(
        "brokers 4.0 to 4.2",
        "group.coordinator.append.linger.ms is 5; since 4.3 it is adaptive (-1)",
        "GroupCoordinatorConfig",
    ),
    Habit("java up to 2.8", "session.timeout.ms is 10 s, since 3.0 it is 45 s", "KIP-735"),
    Habit(
        "java up to 2.8",
        "partition.assignment.strategy is [range], since 3.0 [range, cooperative-sticky]",
        "KIP-726",
    ),
    Habit("java up to 3.1", "JoinGroup version 8: no SkipAssignment", "KIP-814"),
    Habit(
        "java up to 4.0",
        "fetches what is not buffered while other partitions of the broker are; since 4.1 it "
        "drains them first",
        "KAFKA-17182",
    ),
    Habit("java up to 3.9", "no group.protocol: consumer", "KIP-848, generally available in 4.0"),
    Habit(
        "java 4.0 to 4.2",
        "under group.protocol: consumer a thread in the background applies what was given, and "
        "the application's is needed only for a "
        "listener; without auto-commit that thread begins to give up by itself, too (all are "
        "played as 4.3, where the application's poll() does both, and "
        "as if somebody listened)",
        "AbstractMembershipManager: maybeReconcile, assignPartitions; KAFKA-20332",
        False,
    ),
    Habit(
        "librdkafka",
        "range,roundrobin by default, cooperative-sticky beside them, but not in one list with "
        "them; no sticky; session.timeout.ms is 45 s",
        "rdkafka_assignor.c, CONFIGURATION.md",
    ),
    Habit(
        "librdkafka",
        "a thread of its own joins, beats and assigns, whatever the application does; attempts "
        "to join are 1 s apart unless the last led on; "
        "JoinGroup version 5: no SkipAssignment",
        "rdkafka_cgrp.c, rdkafka_request.c; seen with 2.16 on Kafka 4.3.1",
    ),
    Habit(
        "librdkafka",
        "the client itself ends its session when no SyncGroup or beat was answered for "
        "session.timeout.ms: all is lost, and it joins anew; "
        "so it does when a commit is refused as a stranger's",
        "rdkafka_cgrp.c: rd_kafka_cgrp_session_timeout_check, rd_kafka_cgrp_op_handle_OffsetCommit",
    ),
    Habit(
        "librdkafka",
        "with a rebalance callback (a story's listener:) partitions are given up and taken when "
        "the application polls, and nothing at all is "
        "handed over until then; eager members join after that, cooperative ones before; without "
        "one nobody waits for the application",
        "rdkafka_cgrp.c: rd_kafka_rebalance_op, rd_kafka_rebalance_op_incr; seen with 2.16 on "
        "Kafka 4.3.1",
    ),
    Habit(
        "librdkafka",
        "max.poll.interval.ms is looked at every 0.5 s; who exceeds it leaves (a static member "
        "does not), and joins again after its next poll",
        "rdkafka_cgrp.c: rd_kafka_cgrp_max_poll_interval_check_tmr_cb",
    ),
    Habit(
        "librdkafka up to 2.11",
        "no group.protocol: consumer (early access in 2.4, a preview in 2.10)",
        "CHANGELOG.md 2.12.0",
    ),
    Habit(
        "librdkafka since 2.12",
        "under group.protocol: consumer the application's callbacks must be incremental; its "
        "leave waits for them; its own "
        "timing there (it is played with the Java client's poll loop)",
        "INTRODUCTION.md, CHANGELOG.md 2.15.0",
        False,
    ),
    Habit("librdkafka", "faults that single releases mended", "CHANGELOG.md", False),
    Habit(
        "librdkafka",
        "range and roundrobin put members in the order of their ids, static ones by their "
        "instance ids only among themselves (a Java leader, "
        "which is played, puts static ones first)",
        "rdkafka_cgrp.c: rd_kafka_group_member_cmp",
        False,
    ),
    Habit(
        "franz-go",
        "cooperative-sticky by default; session 45 s, heartbeat 3 s, rebalance timeout 60 s; no "
        "max.poll.interval.ms: a stuck handler never "
        "leaves",
        "kgo/config.go",
    ),
    Habit(
        "franz-go",
        "joins, beats and calls back beside the application, whatever it does (without "
        "BlockRebalanceOnPoll); one more heartbeat 500 ms after "
        "each cooperative join; cooperative where the group's assignor is: one eager-only member "
        "makes everybody eager, and what they "
        "owned is given up after the sync, when it may have a new owner already",
        "kgo/consumer_group.go, config.go",
    ),
    Habit(
        "franz-go",
        "a beat is tried again for session.timeout.ms; then all is given up as lost, and the "
        "group joined anew",
        "kgo/config.go: RetryTimeoutFn, consumer_group.go: heartbeat, manageFailWait",
    ),
    Habit(
        "franz-go",
        "whose commit is refused as a stranger's joins at once",
        "kgo/consumer_group.go: commitHasFatalMemberError, CHANGELOG.md 1.21.3",
    ),
    Habit(
        "franz-go",
        "… and, cooperative, keeps what it owns until the sync (played: it gives it up when the "
        "join is refused)",
        "kgo/consumer_group.go: joinAndSync",
        False,
    ),
    Habit(
        "franz-go",
        "group.protocol: consumer is a hidden opt-in",
        "kgo/consumer_group_848.go: should848",
        False,
    ),
    Habit(
        "sarama",
        "range by default; session 10 s, heartbeat 3 s, rebalance timeout 60 s; attempts to join "
        "2 s apart; no max.poll.interval.ms; "
        "cooperative-sticky since 1.60.1",
        "config.go, CHANGELOG.md",
    ),
    Habit(
        "sarama",
        "beats on while a rebalance waits for the handlers to return; whoever takes longer than "
        "the rebalance timeout is put out of the group",
        "consumer_group_session.go: heartbeatLoop, release",
    ),
    Habit(
        "sarama",
        "neither a session that ends without an answer nor a commit that is refused makes it "
        "give anything up: only the answer to a beat does",
        "consumer_group_session.go: heartbeatLoop, offset_manager.go: handleResponse",
    ),
    Habit(
        "sarama",
        "gives its session up after four beats in a row that failed",
        "consumer_group_session.go: heartbeatLoop, Metadata.Retry.Max",
        False,
    ),
    Habit(
        "sarama",
        "its own arithmetic of range (Kafka's assignor of the name decides here)",
        "sarama's range",
        False,
    ),
    Habit(
        "kafka-python",
        "range,roundrobin by default, and sticky; cooperative-sticky since 3.0; callbacks and "
        "joins in poll(), heartbeats by a thread, as "
        "in Java",
        "coordinator/consumer.py, coordinator/assignors",
    ),
    Habit(
        "aiokafka",
        "roundrobin by default, and range and sticky, nothing cooperative; session 10 s, "
        "heartbeat 3 s, the session is the rebalance timeout",
        "consumer.py, group_coordinator.py",
    ),
    Habit(
        "aiokafka",
        "keeps what it owns however long the coordinator does not answer; gives it up when a "
        "beat or a commit is refused",
        "group_coordinator.py: _heartbeat_routine, _do_commit_offsets, reset_generation",
    ),
    Habit(
        "aiokafka",
        "joins and beats beside the application and waits for nobody; max.poll.interval.ms is "
        "known to be over the moment it is",
        "group_coordinator.py: _heartbeat_routine, _maybe_leave_group",
    ),
)
