"""What a consumer was doing while others, or its own partitions, waited for it."""

from __future__ import annotations

from enum import StrEnum


class Doing(StrEnum):
    """The codes that traces, results and reports share; their words stand in
    `rebalsim/reports/doings_told.py`.
    """

    NOTHING = ""  # nothing kept it, as far as anybody knows
    DEAD = "dead"
    FROZEN = "frozen"
    CUT_OFF = "cut-off"
    STUCK = "stuck"  # its handler does not come back
    PUNCTUATING = "punctuating"  # Streams: its thread is at its punctuators
    NOT_READY = "not-ready"  # Streams: it polls and processes nothing
    BUSY = "busy"  # with its batch
    IN_CALLBACK = "in-callback"
    COMMITTING = "committing"
    WAITING = "waiting"  # for the answer to its SyncGroup
    UNAWARE = "unaware"  # its heartbeat was not due
    # the broker computes a target at some member's heartbeat, and that one was not due either
    COMPUTING = "computing"
    UNACKNOWLEDGED = "unacknowledged"  # it has not confirmed that it gave the partition up
    POLLING = "polling"
    STARTING = "starting"
    CLOSING = "closing"
    AWAY = "away"
    NEW = "new"  # it had never been there
    JOINING = "joining"
    ASSIGNING = "assigning"
    FETCHING = "fetching"
    RESTORING = "restoring"
    FROM_SCRATCH = "from-scratch"  # it restores a store from an empty disk
    FROM_CHECKPOINT = "from-checkpoint"  # … from what its disk has
    FROM_STANDBY = "from-standby"  # … from what it had copied all along
    # Streams, exactly once: it waits until the transaction of a dead owner is aborted
    UNCOMMITTED = "uncommitted"
    IN_VAIN = "in-vain"  # it restored a store, and the task was taken away before it was done
    INITIAL_DELAY = "initial-delay"  # the brokers collect the members of a cold start
    NO_COORDINATOR = "no-coordinator"
    RECONNECTING = "reconnecting"
    GHOST = "ghost"  # it had left, and a coordinator that took over loaded it as a member again
    # a static leader came back in its old place and was not told that it leads: nobody minds the
    # topics
    UNLED = "unled"
    # it was to set off the second round of a hand-over, and had started anew in its old place
    TORN = "torn"
    DEAD_LEADER = "dead-leader"  # a process that had ended led the group, and was to assign
    DEAD_OWNER = "dead-owner"  # such a process was given the partition
    FAILED = "failed"  # Connect: the task's thread died
    DELAYED = "delayed"  # Connect: nobody has the work, on purpose
    STOPPING = "stopping"  # Connect: the task
    UNKNOWN = "unknown"
