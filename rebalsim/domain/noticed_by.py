"""By what a member learnt that its group is rebalancing."""

from __future__ import annotations

from enum import StrEnum


class NoticedBy(StrEnum):
    """The codes of `RebalanceNoticed` in traces: which request was answered so."""

    HEARTBEAT = "heartbeat"
    SYNC = "sync"
    COMMIT = "commit"
