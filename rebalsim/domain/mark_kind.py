"""What is worth a mark on the ruler."""

from __future__ import annotations

from enum import StrEnum


class MarkKind(StrEnum):
    """The codes that results share. Rebalances have bars of their own and are not written above
    them.
    """

    ACTION = "action"  # of the script
    REBALANCE = "rebalance"
    BROKER = "broker"
    TOPIC = "topic"
