"""The phases of a pause. What belongs to each, its words, its look, what it hangs on, stands on its
card in `rebalsim/reports/phases/`.
"""

from __future__ import annotations

from enum import StrEnum


class PhaseKind(StrEnum):
    """What a standing partition was waiting for, in the order in which it usually happens."""

    STUCK = "stuck"  # the owner's batch runs on
    DETECTION = "detection"  # nobody knows yet
    AWAY = "away"  # a member is simply not there yet (a restart)
    NOTICE = "notice"  # members learn at their next heartbeat
    REVOKE = "revoke"  # commit and revocation callback
    RELEASE = "release"  # consumer protocol: the owner has not acknowledged
    INTERVAL = "interval"  # consumer protocol: the broker may not compute yet
    BARRIER = "barrier"  # waiting for the last member to join
    FOLLOW_UP = "follow-up"  # cooperative: waiting for the next rebalance
    PICKUP = "pickup"  # consumer protocol: the new owner has not had its heartbeat
    ASSIGNMENT = "assignment"  # leader and sync, until the new owner's callback
    RESTORE = "restore"  # assigned callback, state
    FETCH = "fetch"  # position look-up and first records
    DELAY = "delay"  # Connect: lost work waits for its worker, on purpose
    STOP = "stop"  # Connect: the task, or all of its worker, is stopped
    START = "start"  # Connect: the task is started
