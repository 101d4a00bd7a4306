"""What the coordinator of Kafka 4 prints with the group in front: leaves of classic groups, and all of
consumer groups (KIP-848), with what DEBUG adds.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects.templates import GROUP, ID, N, Template, Told, one
from rebalsim.worlds.logs.facts import Fact

_G = rf"\[Group(?:Id)? ?=?{GROUP}\] "
_STATIC = r"with instance id (\S{1,300}) "


def _reconciled(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, "reconciled", m[1], member=m[2], generation=int(m[3]), why=m[4]),)


def _computed(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, "computed", m[1], generation=int(m[2]), why=m[3]),)


TEMPLATES: tuple[Template, ...] = (
    (
        rf"{_G}(?:Pending member|Member|Dynamic member|Static member) {ID} (?:{_STATIC})?has left "
        r"group through explicit `LeaveGroup` request(?:; client reason: (.*?))?\.?$",
        one("left", group=1, member=2, why=4),
    ),
    (
        rf"{_G}Dynamic member with unknown member id joins the consumer group. Created a new member "
        rf"id {ID} and request",
        one("born", group=1, member=2),
    ),
    (
        rf"{_G}Member {ID} joins the consumer group using the (\w+) protocol",
        one("added", group=1, member=2, why=3),
    ),
    (
        rf"{_G}Static member {ID} {_STATIC}joins the consumer group using the (\w+) protocol",
        one("added", group=1, member=2, instance=3, why=4),
    ),
    (
        rf"{_G}Static member {_STATIC}re-joins the consumer group using the (\w+) protocol\. "
        rf"Created a new member {ID} to replace the existing member {ID}\.?$",
        one("replaced", group=1, instance=2, why=3, member=4, other=5),
    ),
    (
        rf"{_G}Static member {ID} {_STATIC}temporarily left the consumer group",
        one("away", group=1, member=2, instance=3),
    ),
    (rf"{_G}Member {ID} left the consumer group", one("left", group=1, member=2)),
    (
        rf"{_G}Static member {ID} {_STATIC}left the consumer group",
        one("left", group=1, member=2, instance=3),
    ),
    (
        rf"{_G}Member {ID} fenced from the group because the member session expired",
        one("failed", group=1, member=2),
    ),
    (
        rf"{_G}Member {ID} fenced from the group because it failed to transition",
        one("stuck", group=1, member=2),
    ),
    (
        rf"{_G}Static member {ID} {_STATIC}cannot join the group because the instance id is owned by "
        rf"member {ID}\.?$",
        one("turned-away", group=1, member=2, instance=3, other=4),
    ),
    (
        rf"{_G}Static member {ID} {_STATIC}is fenced by existing member {ID}\.?$",
        one("turned-away", group=1, member=2, instance=3, other=4),
    ),
    (rf"{_G}Bumped group epoch to {N}", one("bumped", group=1, generation=2)),
    (
        rf"{_G}Computed a new target assignment for epoch {N} with '(\S{{1,200}})' assignor",
        _computed,
    ),
    (
        rf"{_G}Member {ID} updated its subscribed (?:topics|regex)",
        one("resubscribed", group=1, member=2),
    ),
    (
        rf"{_G}Member {ID} new assignment state: epoch={N}, previousEpoch=-?\d{{1,18}}, "
        r"state=(\w{1,40})",
        _reconciled,
    ),
    (rf"{_G}Converted the (\w+) group to a (\w+) group", one("converted", group=1, why=3)),
    (rf"{_G}Unloading group metadata for generation", one("unloaded", group=1)),
    (rf"{_G}Unloaded group metadata for group epoch", one("unloaded", group=1)),
)
