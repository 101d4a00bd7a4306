"""The Java consumer under the consumer protocol, 4.0 to 4.3: templates beside those of `java`."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects.java_lists import partitions_in
from rebalsim.worlds.logs.dialects.templates import ID, N, Template, Told, nothing, one
from rebalsim.worlds.logs.facts import Fact, FactKind


def _state(at: int, m: re.Match[str]) -> Told:
    state = Fact(at, FactKind.STATE, member=m[1], generation=int(m[2]), why=f"{m[3]}>{m[4]}")
    return (state,)


def _released(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, FactKind.LEAVING, member=m[1], partitions=partitions_in(m[2])),)


TEMPLATES: tuple[Template, ...] = (
    (rf"Member {ID} with epoch {N} transitioned from (\w{{1,40}}) to (\w{{1,40}})", _state),
    (r"Revoking previously assigned partitions (.*)$", nothing),
    (r"Reconciling assignment with local epoch", nothing),
    (r"Consumer poll timeout has expired", one(FactKind.POLL_EXPIRED)),
    (rf"Member {ID} is triggering callbacks to release assignment (.*?) and leave", _released),
    (
        r"ConsumerGroupHeartbeatRequest failed due to unreleased instance id",
        one(FactKind.THROWN_OUT, why="UNRELEASED_INSTANCE_ID"),
    ),
    (
        r"ConsumerGroupHeartbeatRequest failed due to fenced instance id",
        one(FactKind.THROWN_OUT, why="FENCED_INSTANCE_ID"),
    ),
    (
        rf"ConsumerGroupHeartbeatRequest failed for member {ID} (?:with state \S+ )?due to (\w{{1,60}})",
        one(FactKind.THROWN_OUT, member=1, why=2),
    ),
    (
        rf"ConsumerGroupHeartbeatRequest failed for member {ID} because epoch",
        one(FactKind.THROWN_OUT, member=1, why="FENCED_MEMBER_EPOCH"),
    ),
    (
        rf"ConsumerGroupHeartbeatRequest failed because member {ID} is unknown",
        one(FactKind.THROWN_OUT, member=1, why="UNKNOWN_MEMBER_ID"),
    ),
    (r"Completed leaving the group", nothing),
    (r"Time between subsequent calls to poll\(\) was longer than", one(FactKind.BACK)),
)
