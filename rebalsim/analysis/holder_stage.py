"""What has become of the consumer that a standing partition waits for, in a walk through its pause."""

from __future__ import annotations

from enum import StrEnum

from rebalsim.domain.pause_start import PauseStart


class HolderStage(StrEnum):
    """Where the holder is on its way from giving the partition up to somebody's reading it."""

    REVOKING = "revoking"
    CLOSING = "closing"
    STUCK = "stuck"
    GONE = "gone"
    LEFT = "left"
    GIVEN = "given"  # it has given the partition up
    RETURNING = "returning"  # it joins again, as a new process or a new member
    RESUMING = "resuming"
    ASSIGNED = "assigned"
    SERVING = "serving"  # its callback is over, and its first records are to come
    UNKNOWN = "unknown"  # nobody ever held it


STARTS: dict[str, HolderStage] = {
    PauseStart.REVOKED: HolderStage.REVOKING,
    PauseStart.LOST: HolderStage.REVOKING,
    PauseStart.CLOSED: HolderStage.CLOSING,
    PauseStart.KILLED: HolderStage.GONE,
    PauseStart.FATAL: HolderStage.GONE,
    PauseStart.FROZE: HolderStage.GONE,
    PauseStart.CUT: HolderStage.GONE,
    PauseStart.STUCK: HolderStage.STUCK,
    PauseStart.POLL_EXPIRED: HolderStage.STUCK,
    PauseStart.GROWN: HolderStage.UNKNOWN,
}
