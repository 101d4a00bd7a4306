"""Words that people use for what a scenario calls otherwise: they lead to the right key before
spelling is looked at, for `replicas` is no misspelt `rebalances`.
"""

from __future__ import annotations

from collections.abc import Iterable

# Each word with those that it may mean, the likeliest first; what counts is which of them are
# known where it stands.
WORDS: dict[str, tuple[str, ...]] = {
    # the script
    "rolling_restart": ("rolling_bounce",),
    "rolling_update": ("rolling_bounce",),
    "rolling_deploy": ("rolling_bounce",),
    "rollout": ("rolling_bounce", "deploy"),
    "restart": ("rolling_bounce", "crash"),
    "redeploy": ("deploy", "rolling_bounce"),
    "bounce": ("rolling_bounce",),
    "kill": ("crash",),
    "die": ("crash",),
    "oom": ("crash",),
    "scale_to": ("scale",),
    "scale_up": ("scale",),
    "scale_out": ("scale",),
    "scale_in": ("scale",),
    "scale_down": ("scale",),
    "gc_pause": ("freeze",),
    "suspend": ("freeze",),
    "stuck": ("hang",),
    "block": ("hang",),
    "network_partition": ("cut",),
    "disconnect": ("cut",),
    "stop": ("leave", "stop"),
    "shutdown": ("leave", "stop"),
    "max_surge": ("surge",),
    "maxsurge": ("surge",),
    "maxunavailable": ("max_unavailable",),
    "downtime": ("down",),
    "duration": ("for", "down", "horizon"),
    "time": ("at",),
    "delay": ("delay", "after"),
    # the story
    "name": ("title", "name"),
    "actions": ("script",),
    "events": ("script",),
    "steps": ("script",),
    "timeline": ("script",),
    "faults": ("script", "random_faults"),
    "variants": ("replay", "variants"),
    "protocols": ("replay",),
    "compare": ("replay",),
    "length": ("horizon",),
    "until": ("horizon", "until"),
    "limits": ("budgets",),
    "slo": ("budgets",),
    "slos": ("budgets",),
    "sla": ("budgets",),
    "thresholds": ("budgets",),
    "asserts": ("expect",),
    "assertions": ("expect",),
    "expectations": ("expect",),
    "consumer_group": ("group",),
    "consumer_groups": ("groups",),
    "brokers": ("brokers", "cluster"),
    # members and topics
    "replicas": ("members", "count"),
    "instances": ("members", "count"),
    "pods": ("members", "count"),
    "consumers": ("members", "count"),
    "size": ("members", "count"),
    "throughput": ("rate",),
    "messages_per_second": ("rate",),
    "records_per_second": ("rate",),
    "partition_count": ("partitions",),
    "num_partitions": ("partitions",),
    "processing_time": ("per_record", "handler"),
    "processing": ("handler",),
    "batch_size": ("max.poll.records",),
    "static_id": ("group.instance.id",),
    "instance_id": ("group.instance.id",),
    "static": ("group.instance.id",),
    "static_members": ("group.instance.id",),
    "static_membership": ("group.instance.id",),
    "assignor": ("partition.assignment.strategy",),
    "strategy": ("partition.assignment.strategy",),
    "startup": ("start",),
    "start_time": ("start",),
    "stop_time": ("stop",),
    "termination_grace_period": ("grace",),
    "terminationgraceperiodseconds": ("grace",),
    "settings": ("config",),
    "properties": ("config",),
    # metrics
    "max_pause": ("longest_pause",),
    "pause": ("longest_pause", "pauses"),
    "pause_max": ("longest_pause",),
    "longest": ("longest_pause",),
    "max_downtime": ("longest_pause",),
    "unavailability": ("longest_pause",),
    "total_pause": ("partition_seconds",),
    "pause_sum": ("partition_seconds",),
    "consumer_lag": ("lag_peak",),
    "lag": ("lag_peak",),
    "max_lag": ("lag_peak",),
    "final_lag": ("lag_at_end",),
    "rebalance_count": ("rebalances",),
    "num_rebalances": ("rebalances",),
    "rebalance_time": ("longest_rebalance",),
    "dupes": ("duplicates",),
    "reprocessed": ("duplicates",),
    "redelivered": ("duplicates",),
    "lost": ("skipped",),
    "lost_records": ("skipped",),
    "moved": ("moved_partitions",),
    "reassigned": ("moved_partitions",),
    "latency": ("record_age_p99",),
    "catch_up": ("time_to_catch_up",),
    "recovery_time": ("time_to_catch_up",),
    "cost_per_hour": ("cost",),
    "price": ("cost",),
}
# What the tables head their rows with: as good as a metric's name wherever one is written.
LABELS = {
    "p50_over_partitions": "p50_partition_pause",
    "p95_over_partitions": "p95_partition_pause",
    "partitions_moved": "moved_partitions",
    "had_to_move": "least_moves",
    "lag_at_its_peak": "lag_peak",
    "lag_at_the_end": "lag_at_end",
    "time_to_settle": "settle_time",
    "time_to_begin": "first_settle_time",
    "still_open": "open_pauses",
    "rebalances_an_hour": "rebalances_per_hour",
    "time_spent_rebalancing": "rebalancing_share",
}


def plain(word: str) -> str:
    """A word as the tables have it."""
    return word.strip().lower().replace("-", "_").replace(" ", "_").replace(".", "_")


def meant(word: str, known: Iterable[str]) -> str:
    """What people mean by this word, of those that are known here; empty where nobody does."""
    there = set(known)
    asked = plain(word)
    found = (*WORDS.get(asked, ()), *((LABELS[asked],) if asked in LABELS else ()))
    return next((name for name in found if name in there), "")
