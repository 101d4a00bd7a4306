"""Random groups for the property tests: claims as a real past would have left them, or wild
ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from rebalsim.assignors.claim import Claim
from rebalsim.domain.ids import Partition


@dataclass(frozen=True)
class Group:
    topics: dict[str, int]
    members: list[Claim]
    replica_racks: dict[str, list[list[str]]] | None

    @property
    def partitions(self) -> list[Partition]:
        wanted = {topic for member in self.members for topic in member.topics}
        return [
            Partition(topic, n)
            for topic, count in self.topics.items()
            if topic in wanted
            for n in range(count)
        ]


@st.composite
def groups(
    draw: st.DrawFn, *, equal: bool | None = None, racks: bool | None = None, most_members: int = 9
) -> Group:
    """Every partition is claimed by one member at most, all in one generation; claims may be on
    topics no longer subscribed to.
    """
    topics = {f"t{i}": draw(st.integers(1, 9)) for i in range(draw(st.integers(1, 4)))}
    count = draw(st.integers(1, most_members))
    same = draw(st.booleans()) if equal is None else equal
    names = sorted(topics)
    with_racks = draw(st.booleans()) if racks is None else racks
    owner = {
        Partition(topic, n): draw(st.integers(-1, count - 1))
        for topic, partitions in topics.items()
        for n in range(partitions)
    }
    members = []
    for i in range(count):
        wanted = names if same else draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
        held = tuple(p for p, who in owner.items() if who == i)
        members.append(
            Claim(
                f"m{i}-{draw(st.integers(0, 2**32 - 1)):x}",
                tuple(wanted),
                f"i{i}" if draw(st.booleans()) else None,
                draw(st.sampled_from([None, "r0", "r1", "r2"])) if with_racks else None,
                held,
                7 if held else -1,
                held or None,
                7 if held else None,
            )
        )
    replica_racks = None
    if with_racks:
        replica_racks = {
            topic: [
                draw(st.lists(st.sampled_from(["r0", "r1", "r2"]), min_size=1, max_size=2))
                for _ in range(partitions)
            ]
            for topic, partitions in topics.items()
        }
    return Group(topics, members, replica_racks)
