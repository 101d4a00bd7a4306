"""A tiny language for groups: `members("m1 {a} @r1", "zzz [i1] owns t0-1 t0-2 gen 5")` and
assignments as `{"m1": "t0-0 t0-1"}`.
"""

from __future__ import annotations

import re

from rebalsim.assignors.claim import Assignment, Claim
from rebalsim.domain.ids import partition_named


def members(*texts: str, topics: str) -> list[Claim]:
    """Each: id, then optionally [instance], @rack, {topics}, `owns partitions gen n`; without
    {topics} it wants all of `topics`.
    """
    claims = []
    for text in texts:
        head, _, owned = text.partition(" owns ")
        listed, _, generation = owned.partition(" gen ")
        own = tuple(partition_named(p) for p in listed.split())
        instance, rack, wants = (
            re.search(pattern, head) for pattern in (r"\[(.*?)\]", r"@(\S+)", r"\{(.*?)\}")
        )
        claims.append(
            Claim(
                head.split()[0],
                tuple((wants[1] if wants else topics).split()),
                instance and instance[1],
                rack and rack[1],
                own,
                int(generation or -1),
                own if generation else None,
                int(generation) if generation else None,
            )
        )
    return claims


def told(given: Assignment) -> dict[str, str]:
    """An assignment as text, each member's partitions sorted."""
    return {member: " ".join(map(str, sorted(partitions))) for member, partitions in given.items()}


def racks(text: str) -> list[list[str]]:
    """`ab bc c` → the racks of the replicas of three partitions."""
    return [list(letters) for letters in text.split()]
