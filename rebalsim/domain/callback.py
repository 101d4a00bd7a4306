"""The three methods of a consumer's rebalance listener."""

from __future__ import annotations

from enum import StrEnum


class Callback(StrEnum):
    """Which of them is entered, as traces and recordings write it: Kafka's `onPartitionsAssigned`,
    `onPartitionsRevoked` and `onPartitionsLost`.
    """

    ASSIGNED = "assigned"
    REVOKED = "revoked"
    LOST = "lost"
