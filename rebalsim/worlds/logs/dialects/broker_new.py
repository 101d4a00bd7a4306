"""What the coordinator of Kafka 4 prints with the group in front: leaves of classic groups, and all of
consumer groups (KIP-848), with what DEBUG adds.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects.templates import GROUP, ID, N, Template, Told, one, table, told
from rebalsim.worlds.logs.facts import Fact, FactKind

_PREFIX = re.compile(rf"\[Group(?:Id)? ?=?{GROUP}\] ")
_STATIC = r"with instance id (\S{1,300}) "


def _reconciled(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, FactKind.RECONCILED, member=m[1], generation=int(m[2]), why=m[3]),)


def _computed(at: int, m: re.Match[str]) -> Told:
    return (Fact(at, FactKind.COMPUTED, generation=int(m[1]), why=m[2]),)


TEMPLATES: tuple[Template, ...] = (
    *(
        (
            rf"{who} {ID} (?:{_STATIC})?has left group through explicit `LeaveGroup` request"
            r"(?:; client reason: (.*?))?\.?$",
            one(FactKind.LEFT, member=1, why=3),
        )
        for who in ("Pending member", "Member", "Dynamic member", "Static member")
    ),
    (
        rf"Dynamic member with unknown member id joins the consumer group. Created a new member "
        rf"id {ID} and request",
        one(FactKind.BORN, member=1),
    ),
    (
        rf"Member {ID} joins the consumer group using the (\w+) protocol",
        one(FactKind.ADDED, member=1, why=2),
    ),
    (
        rf"Static member {ID} {_STATIC}joins the consumer group using the (\w+) protocol",
        one(FactKind.ADDED, member=1, instance=2, why=3),
    ),
    (
        rf"Static member {_STATIC}re-joins the consumer group using the (\w+) protocol\. "
        rf"Created a new member {ID} to replace the existing member {ID}\.?$",
        one(FactKind.REPLACED, instance=1, why=2, member=3, other=4),
    ),
    (
        rf"Static member {ID} {_STATIC}temporarily left the consumer group",
        one(FactKind.AWAY, member=1, instance=2),
    ),
    (rf"Member {ID} left the consumer group", one(FactKind.LEFT, member=1)),
    (
        rf"Static member {ID} {_STATIC}left the consumer group",
        one(FactKind.LEFT, member=1, instance=2),
    ),
    (
        rf"Member {ID} fenced from the group because the member session expired",
        one(FactKind.FAILED, member=1),
    ),
    (
        rf"Member {ID} fenced from the group because it failed to transition",
        one(FactKind.STUCK, member=1),
    ),
    (
        rf"Static member {ID} {_STATIC}cannot join the group because the instance id is owned by "
        rf"member {ID}\.?$",
        one(FactKind.TURNED_AWAY, member=1, instance=2, other=3),
    ),
    (
        rf"Static member {ID} {_STATIC}is fenced by existing member {ID}\.?$",
        one(FactKind.TURNED_AWAY, member=1, instance=2, other=3),
    ),
    (rf"Bumped group epoch to {N}", one(FactKind.BUMPED, generation=1)),
    (
        rf"Computed a new target assignment for epoch {N} with '(\S{{1,200}})' assignor",
        _computed,
    ),
    (
        rf"Member {ID} updated its subscribed (?:topics|regex)",
        one(FactKind.RESUBSCRIBED, member=1),
    ),
    (
        rf"Member {ID} new assignment state: epoch={N}, previousEpoch=-?\d{{1,18}}, "
        r"state=(\w{1,40})",
        _reconciled,
    ),
    (r"Converted the (\w+) group to a (\w+) group", one(FactKind.CONVERTED, why=2)),
    (r"Unloading group metadata for generation", one(FactKind.UNLOADED)),
    (r"Unloaded group metadata for group epoch", one(FactKind.UNLOADED)),
)
_TABLE = table(TEMPLATES)
HEADS = {"[Group": "[Group"}


def read(at_us: int, message: str) -> Told | None:
    """What a message proves that has its group in front."""
    prefix = _PREFIX.match(message)
    if prefix is None:
        return None
    found = told(_TABLE, at_us, message[prefix.end() :])
    for fact in found or ():
        fact.group = prefix[1]
    return found
