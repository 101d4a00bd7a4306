"""What a coordinator is configured to do, and where Kafka's versions differ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class CoordinatorRules:
    """The broker's settings, and the behaviour of the coordinator in Java (the default since
    Kafka 4.0).
    """

    initial_rebalance_delay_us: int = 3_000_000  # group.initial.rebalance.delay.ms
    min_session_timeout_us: int = 6_000_000  # group.min.session.timeout.ms
    max_session_timeout_us: int = 1_800_000_000  # group.max.session.timeout.ms
    max_size: int = 2_147_483_647  # group.max.size
    new_member_join_timeout_us: int = 300_000_000  # a constant of the broker
    max_record_bytes: int = 1_048_588  # message.max.bytes: a group record must fit into one batch
    metadata_bytes: Callable[[Any], int] | None = (
        None  # how long a member's metadata is in bytes; None: nothing is too large
    )
    assignment_bytes: Callable[[Any], int] | None = (
        None  # the same for its assignment (None counts as empty)
    )
    members_bytes_at_most: Callable[[Any], int] | None = (
        None  # what the members of a record cannot exceed, told at once; None: count each time
    )

    # Where the coordinator in Scala (the default up to 3.9) did otherwise.
    extends_every_start: bool = (
        True  # else the initial delay grows only before a group's first generation
    )
    removal_ends_initial_delay: bool = (
        True  # an expiry completes an initial rebalance if nobody is missing then
    )
    leaves_together: bool = (
        True  # else the members of one LeaveGroup go one by one, each a reason to rebalance
    )
    sync_renews_session: bool = False  # a SyncGroup in Stable
    replacement_stays_new: bool = (
        False  # a replaced static member keeps its 5 minutes as a newcomer
    )
    # INVALID_COMMIT_OFFSET_SIZE where a commit does not fit into a batch; else UNKNOWN_SERVER_ERROR
    says_commit_is_too_large: bool = False
    sync_waits_for_loading: bool = (
        True  # COORDINATOR_LOAD_IN_PROGRESS, which Java clients do not expect; else
    )
    # REBALANCE_IN_PROGRESS

    def of_scala_coordinator(self) -> CoordinatorRules:
        """These settings under the coordinator of Kafka 3.9 and before."""
        return replace(
            self,
            extends_every_start=False,
            removal_ends_initial_delay=False,
            leaves_together=False,
            sync_renews_session=True,
            replacement_stays_new=True,
            says_commit_is_too_large=True,
            sync_waits_for_loading=False,
        )
