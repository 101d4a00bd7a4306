"""What set a rebalance off."""

from __future__ import annotations

from rebalsim.domain.open_codes import OpenCode


class Trigger(OpenCode):
    """The codes of traces. A trace of somebody else's may have one that is not known here: it keeps
    its own word.
    """

    NONE = ""
    JOINED = "joined"
    REJOINED = "rejoined"
    LEADER_REJOINED = "leader-rejoined"
    LEFT = "left"
    SESSION_EXPIRED = "session-expired"
    POLL_EXPIRED = "poll-expired"
    METADATA_CHANGED = "metadata-changed"
    SUBSCRIPTION_CHANGED = "subscription-changed"
    STATIC_PROTOCOL_CHANGED = "static-protocol-changed"
    ENFORCED = "enforced"
    SYNC_EXPIRED = "sync-expired"
    WRITE_FAILED = "write-failed"
    BARRIER_UNMET = "barrier-unmet"
    COORDINATOR_MOVED = "coordinator-moved"
    REGROUPED = "regrouped"
    # of a phase, not of a rebalance
    REPLACED = "replaced"  # one with its static id took its place
    REFUSED = "refused"  # its commit was made again and again
