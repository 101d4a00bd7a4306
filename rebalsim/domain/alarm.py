"""What must be known before any figure."""

from __future__ import annotations

from enum import StrEnum


class AlarmKind(StrEnum):
    """The kinds of alarms; their words stand in `rebalsim/reports/alarms_told.py`."""

    DIED = "died"  # of an error, or killed and not back
    NEVER_STABLE = "never-stable"  # the group, from its beginning to the horizon
    NOT_STABLE = "not-stable"  # the group, since a disturbance that was open at the horizon
    UNOWNED = "unowned"  # the group is stable, and nobody has these partitions
    LEADERLESS = "leaderless"  # nobody could read them
    HELD_TWICE = "held-twice"  # somebody went on with them when others had been given them
    KILLED_IN_GRACE = "killed-in-grace"  # it had not exited when its grace was over


class AlarmReason(StrEnum):
    """What an alarm's `why` says where it is neither Kafka's own exception nor a trigger."""

    SYNC_TIMED_OUT = "sync-timed-out"  # a group is not stable: its leader gave up its SyncGroup
    TWO_COPIES = "two-copies"  # held twice: a worker came back after others had been given its work
    RAN_ON = "given-up"  # held twice: a worker did not stop in time what it had given up
