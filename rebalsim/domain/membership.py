"""How a coordinator takes a member in, and why it lets one go."""

from __future__ import annotations

from enum import StrEnum


class Arrival(StrEnum):
    """The codes of `MemberAdded` in traces."""

    PENDING = "pending"  # it was given an id, and has yet to come back with it
    NEW = "new"
    STATIC = "static"
    REPLACEMENT = "replacement"  # in the place of a member with the same static id
    LOADED = "loaded"  # another coordinator had taken it in, and this one read of it


class Removal(StrEnum):
    """The codes of `MemberRemoved` in traces."""

    LEFT = "left"
    SESSION_EXPIRED = "session-expired"
    NOT_REJOINED = "not-rejoined"
    NOT_SYNCED = "not-synced"
    REPLACED = "replaced"  # a member with the same static id took its place
    GROUP_FULL = "group-full"
    PENDING_EXPIRED = "pending-expired"
    FENCED = "fenced"
    REBALANCE_TIMEOUT = "rebalance-timeout"
