"""How a consumer's process ended."""

from __future__ import annotations

from enum import StrEnum

OUT_OF_GRACE = "grace"  # why it was killed: it had not exited in time


class LifeEnd(StrEnum):
    """The codes of `ConsumerExited` in traces."""

    CLOSED = "closed"  # it had closed its consumer
    KILLED = "killed"
    FATAL = "fatal"  # by an exception of its own
