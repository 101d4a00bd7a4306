"""What a batch was stuck by."""

from __future__ import annotations

from enum import StrEnum


class StuckBy(StrEnum):
    """The codes of `HandlerStuck` in traces."""

    HANG = "hang"
    POISON = "poison"
    SLOW = "slow"
    COMMIT = "commit"  # a synchronous commit that nobody answers
    PUNCTUATOR = "punctuator"
