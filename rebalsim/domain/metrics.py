"""THE registry of metrics: the only names that budgets, sweeps, reports and baselines know. What
they mean stands here; measuring is analysis' work.

Base units: µs for durations (partition-µs for what is summed over partitions), plain numbers
otherwise. Percentiles are those of `percentiles.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.unit import Better, Population, Unit

PHASES = tuple(kind.value for kind in PhaseKind)


@dataclass(frozen=True, slots=True)
class Metric:
    """One measured number of a run; `population` is what it is the maximum, percentile or sum
    of.
    """

    name: str
    unit: Unit
    population: Population
    meaning: str
    better: Better = Better.LESS
    is_known_to_consumer_protocol: bool = True
    kafka_name: str = ""  # of the client metric that it repeats


@dataclass(frozen=True, slots=True)
class Selection:
    """What part of a run a metric is taken over. Empty means all; the window is half-open.

    Members: the partitions these held when the pause began, or were handed after it. Window:
    pauses and disturbances that overlap it count whole; sums over time are clipped to it.
    Action: what the script's action with that id set off.
    """

    topics: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    from_us: int | None = None
    until_us: int | None = None
    action: str = ""
    group: str = ""
    after_start: bool = False  # pauses that began once the group had settled for the first time

    @property
    def is_all(self) -> bool:
        return not (
            self.topics
            or self.members
            or self.action
            or self.group
            or self.after_start
            or self.from_us is not None
            or self.until_us is not None
        )


EVERYTHING = Selection()

# the words of the tables below
DURATION, PARTITION_TIME, COUNT, RECORDS, PARTITIONS, SHARE, PER_HOUR = Unit
PER_RUN, PER_PAUSE, PER_PARTITION, PER_DISTURBANCE, PER_MEMBER, PER_RECORD = Population
LESS, NEITHER = Better.LESS, Better.NEITHER


def _of_phase(phase: str) -> tuple[Metric, Metric]:
    name = phase.replace("-", "_")
    return (
        Metric(
            f"pause_{name}",
            DURATION,
            PER_PAUSE,
            f"the longest that any one pause spent in its phase `{phase}`",
        ),
        Metric(
            f"partition_seconds_{name}",
            PARTITION_TIME,
            PER_PARTITION,
            f"time spent in the phase `{phase}`, summed over partitions",
        ),
    )


_OF_PAUSES: tuple[Metric, ...] = (
    Metric("longest_pause", DURATION, PER_PAUSE, "the longest that any partition stood still"),
    *(
        Metric(f"p{p}_pause", DURATION, PER_PAUSE, f"{p} % of the pauses were no longer than this")
        for p in (50, 95, 99)
    ),
    *(
        Metric(
            f"p{p}_partition_pause",
            DURATION,
            PER_PARTITION,
            f"{p} % of the partitions never stood still for longer than this",
        )
        for p in (50, 95, 99)
    ),
    Metric(
        "partition_seconds",
        PARTITION_TIME,
        PER_PARTITION,
        "time stood still, summed over partitions",
    ),
    Metric(
        "partitions_touched", PARTITIONS, PER_PARTITION, "how many partitions stood still at all"
    ),
    Metric("pauses", COUNT, PER_PAUSE, "how many times a partition stood still"),
    Metric("open_pauses", COUNT, PER_PAUSE, "pauses that had not ended at the horizon"),
    *(metric for phase in PHASES for metric in _of_phase(phase)),
)


_OF_REBALANCES: tuple[Metric, ...] = (
    Metric(
        "rebalances",
        COUNT,
        PER_RUN,
        "rounds that the coordinator completed (consumer protocol: changed targets)",
    ),
    Metric("disturbances", COUNT, PER_RUN, "intervals from a trigger to a stable group"),
    Metric(
        "generations",
        COUNT,
        PER_RUN,
        "the highest generation that any member joined",
        is_known_to_consumer_protocol=False,
    ),
    Metric(
        "moved_partitions",
        PARTITIONS,
        PER_DISTURBANCE,
        "partitions that had another owner after a disturbance than before, summed",
    ),
    Metric(
        "least_moves",
        PARTITIONS,
        PER_DISTURBANCE,
        "how many of them had to move at least for an even spread, summed",
        better=NEITHER,
    ),
    Metric(
        "moved_over_least",
        PARTITIONS,
        PER_DISTURBANCE,
        "partitions moved beyond the least that had to",
    ),
    Metric(
        "settle_time",
        DURATION,
        PER_DISTURBANCE,
        "the longest disturbance; one still open at the horizon counts so far",
    ),
    Metric(
        "first_settle_time",
        DURATION,
        PER_RUN,
        "from the group's first member to its first stable assignment",
    ),
    Metric("unsettled", COUNT, PER_DISTURBANCE, "disturbances that had not ended at the horizon"),
    Metric(
        "longest_rebalance",
        DURATION,
        PER_RUN,
        "the longest round, from its trigger until every member had run its callbacks",
    ),
    Metric(
        "rebalances_per_hour",
        PER_HOUR,
        PER_RUN,
        "rounds per hour after the first settling; more than five is the usual alert",
    ),
    Metric(
        "rebalancing_share",
        SHARE,
        PER_RUN,
        "share of the time, after the first settling, in which the group was not stable",
    ),
    Metric("scalings", COUNT, PER_RUN, "how often an autoscaler changed the number of members"),
    Metric(
        "oscillates",
        COUNT,
        PER_RUN,
        "how often an autoscaler turned round: added after it took away, or the other way",
    ),
    Metric(
        "members_removed",
        COUNT,
        PER_MEMBER,
        "members that the coordinator removed against their will",
    ),
    Metric("poll_expirations", COUNT, PER_MEMBER, "times that max.poll.interval.ms ran out"),
    Metric("fenced_members", COUNT, PER_MEMBER, "consumers whose old identity was refused"),
    Metric(
        "member_seconds",
        DURATION,
        PER_MEMBER,
        "time that processes existed, summed over consumers: what capacity costs",
        better=NEITHER,
    ),
)


_OF_RECORDS: tuple[Metric, ...] = (
    Metric(
        "lag_peak",
        RECORDS,
        PER_RUN,
        "the most records that had arrived and were not handled, over all partitions at one instant",
    ),
    Metric("lag_peak_partition", RECORDS, PER_PARTITION, "the highest lag of any one partition"),
    Metric(
        "lag_at_end",
        RECORDS,
        PER_RUN,
        "records that had arrived and were not handled at the horizon",
    ),
    Metric(
        "time_to_catch_up",
        DURATION,
        PER_PARTITION,
        "from the end of a pause until lag was back at what it was before; the longest",
    ),
    Metric(
        "duplicates",
        RECORDS,
        PER_RUN,
        "handled twice: a new owner began below what had been handled, or the old one went on beside it",
    ),
    Metric("duplicates_per_rebalance", RECORDS, PER_RUN, "duplicates divided by rebalances"),
    Metric(
        "skipped",
        RECORDS,
        PER_RUN,
        "records that nobody was handed because an owner started above them",
    ),
    Metric(
        "record_age_p99",
        DURATION,
        PER_RECORD,
        "99 % of the records were handed over no older than this",
    ),
    Metric(
        "record_age_max",
        DURATION,
        PER_RECORD,
        "the oldest that any record was when it was handed over",
    ),
)


# of Connect's workers alone: the first four are connect-worker-rebalance-metrics, the others
# connect-coordinator-metrics
OF_WORKERS: tuple[tuple[str, Unit, Better, str], ...] = (
    ("completed-rebalances-total", COUNT, LESS, "Connect: rebalances that the worker counted"),
    (
        "rebalance-avg-time-ms",
        DURATION,
        LESS,
        "Connect: mean time from an answer taken over to all work started",
    ),
    ("rebalance-max-time-ms", DURATION, LESS, "Connect: longest such time"),
    ("time-since-last-rebalance-ms", DURATION, NEITHER, "Connect: time since the last one"),
    ("assigned-connectors", COUNT, NEITHER, "Connect: connectors held at the end"),
    ("assigned-tasks", COUNT, NEITHER, "Connect: tasks held at the end"),
)
_KAFKA: tuple[tuple[str, Unit, Better, str], ...] = (
    (
        "rebalance-latency-avg",
        DURATION,
        LESS,
        "mean time from the first JoinGroup to the SyncGroup answer",
    ),
    ("rebalance-latency-max", DURATION, LESS, "longest such time"),
    ("rebalance-latency-total", DURATION, LESS, "sum of such times"),
    (
        "rebalance-total",
        COUNT,
        LESS,
        "rebalances that the member itself counted (a static return is 1)",
    ),
    ("rebalance-rate-per-hour", PER_HOUR, LESS, "its rebalances per hour"),
    ("failed-rebalance-total", COUNT, LESS, "failed attempts to join, MEMBER_ID_REQUIRED included"),
    ("failed-rebalance-rate-per-hour", PER_HOUR, LESS, "failed attempts per hour"),
    (
        "last-rebalance-seconds-ago",
        DURATION,
        NEITHER,
        "time since the last rebalance, in whole seconds",
    ),
    (
        "join-time-avg",
        DURATION,
        LESS,
        "mean latency of JoinGroup, the wait at the barrier included",
    ),
    ("join-time-max", DURATION, LESS, "longest latency of JoinGroup"),
    ("join-total", COUNT, LESS, "successful JoinGroups"),
    ("sync-time-avg", DURATION, LESS, "mean latency of SyncGroup"),
    ("sync-time-max", DURATION, LESS, "longest latency of SyncGroup"),
    ("sync-total", COUNT, LESS, "successful SyncGroups"),
    ("partition-revoked-latency-avg", DURATION, LESS, "mean time spent in onPartitionsRevoked"),
    ("partition-revoked-latency-max", DURATION, LESS, "longest time spent in onPartitionsRevoked"),
    ("partition-assigned-latency-avg", DURATION, LESS, "mean time spent in onPartitionsAssigned"),
    (
        "partition-assigned-latency-max",
        DURATION,
        LESS,
        "longest time spent in onPartitionsAssigned",
    ),
    ("partition-lost-latency-avg", DURATION, LESS, "mean time spent in onPartitionsLost"),
    ("partition-lost-latency-max", DURATION, LESS, "longest time spent in onPartitionsLost"),
    ("assigned-partitions", PARTITIONS, NEITHER, "partitions held at the end"),
    ("records-lag-max", RECORDS, LESS, "the highest lag of a partition that the member held"),
    ("poll-idle-ratio-avg", SHARE, NEITHER, "share of the time spent inside poll()"),
    ("time-between-poll-max", DURATION, LESS, "longest time between two calls of poll()"),
    *OF_WORKERS,
)


# of Kafka Streams: what its pauses do not tell.
_OF_STORES: tuple[Metric, ...] = (
    Metric("restored_bytes", COUNT, PER_RUN, "Streams: bytes of changelogs read to restore stores"),
    Metric(
        "restore_time",
        DURATION,
        PER_RUN,
        "Streams: time that stores were restored, summed over tasks",
    ),
    *(
        Metric(
            f"restore_time_from_{how}",
            DURATION,
            PER_RUN,
            f"Streams: the part of restore_time that began {words}",
        )
        for how, words in (
            ("scratch", "with an empty store"),
            ("checkpoint", "with what the disk had"),
            ("standby", "with a standby's copy"),
        )
    ),
    Metric(
        "standby_lag",
        RECORDS,
        PER_RUN,
        "Streams: the most records that a standby or warm-up was behind its task when it began",
    ),
    Metric(
        "tasks_without_warm_standby",
        COUNT,
        PER_RUN,
        "Streams: the most tasks at any one time that had no caught-up standby, once they had had one",
    ),
    Metric(
        "longest_without_warm_standby",
        DURATION,
        PER_RUN,
        "Streams: the longest that any task had no caught-up standby, once it had had one",
    ),
    Metric(
        "standby_catch_up",
        DURATION,
        PER_RUN,
        "Streams: the longest that a standby or warm-up was behind its task",
    ),
    Metric(
        "not_running_time",
        DURATION,
        PER_RUN,
        "Streams: time that instances were not RUNNING (no interactive queries), once they had been, summed over instances",
    ),
    Metric(
        "longest_not_running",
        DURATION,
        PER_RUN,
        "Streams: the longest that any instance was not RUNNING",
    ),
)


# of Kafka Connect: its tasks, which other metrics leave out.
_OF_TASKS: tuple[Metric, ...] = (
    Metric(
        "longest_task_pause", DURATION, PER_RUN, "Connect: the longest that any task stood still"
    ),
    Metric("task_seconds", PARTITION_TIME, PER_RUN, "Connect: time stood still, summed over tasks"),
    Metric("tasks_touched", COUNT, PER_RUN, "Connect: how many tasks stood still at all"),
    Metric("tasks_unassigned", COUNT, PER_RUN, "Connect: the most tasks at once that stood still"),
    Metric(
        "worker_rebalances",
        COUNT,
        PER_RUN,
        "Connect: rounds of the workers' group, without its first settling",
    ),
)


_OF_CLIENTS: tuple[Metric, ...] = tuple(
    Metric(
        name.replace("-", "_"),
        unit,
        PER_MEMBER,
        meaning + "; of the member where it is highest",
        better=better,
        kafka_name=name,
    )
    for name, unit, better, meaning in _KAFKA
)


METRICS: dict[str, Metric] = {
    m.name: m
    for m in (
        *_OF_PAUSES,
        *_OF_REBALANCES,
        *_OF_RECORDS,
        *_OF_TASKS,
        *_OF_STORES,
        *_OF_CLIENTS,
    )
}

# What a reader wants first, in the order of a summary.
HEADLINES = (
    "longest_pause",
    "p50_partition_pause",
    "p95_partition_pause",
    "partition_seconds",
    "partitions_touched",
    "rebalances",
    "generations",
    "moved_partitions",
    "least_moves",
    "lag_peak",
    "time_to_catch_up",
    "duplicates",
    "skipped",
    "settle_time",
)
# … and what first where there are Connect's workers
HEADLINES_OF_TASKS = ("longest_task_pause", "task_seconds", "tasks_unassigned", "worker_rebalances")


ALERT_PER_HOUR = 5  # more rebalances an hour than this is the usual alert
