"""A consumer's effective settings: Kafka's own config keys with Kafka's defaults (Java client
4.3.1), in µs where they are times.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.instants import MINUTE, MS, SECOND


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """Field names are Kafka's keys with underscores; `_ms` becomes `_us`."""

    group_protocol: str = "classic"  # classic | consumer
    group_instance_id: str | None = None
    group_remote_assignor: str | None = None
    # registry names, or module:function
    partition_assignment_strategy: tuple[str, ...] = "range", "cooperative-sticky"
    session_timeout_us: int = 45 * SECOND
    heartbeat_interval_us: int = 3 * SECOND
    max_poll_interval_us: int = 5 * MINUTE
    rebalance_timeout_us: int = 0  # of clients that have one of their own
    max_poll_records: int = 500
    enable_auto_commit: bool = True
    auto_commit_interval_us: int = 5 * SECOND
    auto_offset_reset: str = "latest"  # earliest | latest | none
    fetch_min_bytes: int = 1
    fetch_max_bytes: int = 52_428_800
    max_partition_fetch_bytes: int = 1_048_576
    fetch_max_wait_us: int = 500 * MS
    retry_backoff_us: int = 100 * MS
    retry_backoff_max_us: int = 1 * SECOND
    reconnect_backoff_us: int = 50 * MS
    request_timeout_us: int = 30 * SECOND
    default_api_timeout_us: int = 1 * MINUTE
    metadata_max_age_us: int = 5 * MINUTE
    client_id: str = ""
    client_rack: str = ""

    @property
    def uses_consumer_protocol(self) -> bool:
        """The brokers assign (KIP-848)."""
        return self.group_protocol == "consumer"

    @property
    def uses_classic_protocol(self) -> bool:
        return self.group_protocol == "classic"


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """The brokers' settings that bear on a group; fields as above. `append_linger_us` −1 means
    adaptive (4.3).
    """

    group_initial_rebalance_delay_us: int = 3 * SECOND
    group_min_session_timeout_us: int = 6 * SECOND
    group_max_session_timeout_us: int = 30 * MINUTE
    group_max_size: int = 2_147_483_647
    group_coordinator_append_linger_us: int = -1
    offsets_topic_num_partitions: int = 50
    message_max_bytes: int = 1_048_588
    offsets_commit_timeout_us: int = 5 * SECOND
    group_consumer_session_timeout_us: int = 45 * SECOND
    group_consumer_min_session_timeout_us: int = 45 * SECOND
    group_consumer_max_session_timeout_us: int = 1 * MINUTE
    group_consumer_heartbeat_interval_us: int = 5 * SECOND
    group_consumer_min_heartbeat_interval_us: int = 5 * SECOND
    group_consumer_max_heartbeat_interval_us: int = 15 * SECOND
    group_consumer_max_size: int = 2_147_483_647
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_assignment_interval_us: int = 1 * SECOND
    group_consumer_min_assignment_interval_us: int = 0
    group_consumer_max_assignment_interval_us: int = 15 * SECOND
    group_consumer_migration_policy: str = "bidirectional"
    group_streams_session_timeout_us: int = 45 * SECOND
    group_streams_min_session_timeout_us: int = 45 * SECOND
    group_streams_max_session_timeout_us: int = 1 * MINUTE
    group_streams_heartbeat_interval_us: int = 5 * SECOND
    group_streams_min_heartbeat_interval_us: int = 5 * SECOND
    group_streams_max_heartbeat_interval_us: int = 15 * SECOND
    group_streams_initial_rebalance_delay_us: int = 3 * SECOND
    group_streams_assignment_interval_us: int = 1 * SECOND
    group_streams_min_assignment_interval_us: int = 0
    group_streams_max_assignment_interval_us: int = 15 * SECOND
    group_streams_num_standby_replicas: int = 0
    group_streams_max_standby_replicas: int = 2
    group_streams_max_size: int = 2_147_483_647
    replica_selector_class: str = ""  # empty: everybody fetches from the leader
