"""How an application commits what it handles, and what it does after an exception."""

from __future__ import annotations

from enum import StrEnum


class CommitStyle(StrEnum):
    """What commits, and how often."""

    AUTO = "auto"  # the client, every auto.commit.interval.ms
    EACH_BATCH = "sync-batch"
    EACH_RECORD = "sync-record"
    ASYNC = "async"  # each batch, without waiting for the answer
    NONE = "none"

    @property
    def is_awaited(self) -> bool:
        """Does the application go on only when a commit is answered?"""
        return self in (CommitStyle.EACH_BATCH, CommitStyle.EACH_RECORD)

    @property
    def is_of_the_application(self) -> bool:
        """Does the application commit itself, with each batch?"""
        return self not in (CommitStyle.AUTO, CommitStyle.NONE)


class CommitOnRevoke(StrEnum):
    """What the listener commits when partitions are revoked."""

    NONE = "none"
    ONCE = "once"
    PER_PARTITION = "per-partition"


class AfterError(StrEnum):
    """What it does after an exception from poll(), a commit or a listener."""

    RETRY = "retry"
    CLOSE = "close"
    CRASH = "crash"
