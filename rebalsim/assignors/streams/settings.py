"""What of a Streams application's configuration its task assignor reads."""

from __future__ import annotations

from dataclasses import dataclass

EVERYBODY_IS_CAUGHT_UP = (1 << 63) - 1  # acceptable.recovery.lag at Java's largest long


@dataclass(frozen=True, slots=True)
class TaskAssignorSettings:
    """Kafka's defaults; costs are None where nobody set them, as each assignor has its own."""

    num_standby_replicas: int = 0
    acceptable_recovery_lag: int = 10_000
    max_warmup_replicas: int = 2
    probing_rebalance_interval_ms: int = 600_000
    rack_aim: str = "none"
    traffic_cost: int | None = None
    non_overlap_cost: int | None = None
    tags: tuple[str, ...] = ()
