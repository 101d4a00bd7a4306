"""How a pause began."""

from __future__ import annotations

from rebalsim.domain.open_codes import OpenCode


class PauseStart(OpenCode):
    """What the last owner did, or what became of it."""

    REVOKED = "revoked"
    LOST = "lost"
    CLOSED = "closed"
    KILLED = "killed"
    FATAL = "fatal"
    FROZE = "froze"
    STUCK = "stuck"
    POLL_EXPIRED = "poll-expired"
    CUT = "cut"
    GROWN = "grown"  # the partition is new
    CALLBACK = "callback"  # its owner kept it, and was in a callback for others
