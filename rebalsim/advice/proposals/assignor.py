"""A story that is played as written: another assignor, so that only what moves is given up. (Where
variants are played side by side, that question is what they are there for.)
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case
from rebalsim.domain.remedy import Patch, Turn

COOPERATIVE = "cooperative-sticky"


def propose(case: Case) -> Iterator[Patch | None]:
    if len(case.story.variants) > 1 or case.variant != "as-written":
        return
    who = case.blamed or next(iter(case.people.values()), None)
    if who is None or who.config.uses_consumer_protocol:
        return
    listed = who.config.partition_assignment_strategy
    if tuple(listed) != (COOPERATIVE,):
        before = f"[{', '.join(map(str, listed))}]"
        path = "groups." + who.group if "groups" in case.story.written else "group"
        yield Patch(
            (Turn("partition.assignment.strategy", before, f"[{COOPERATIVE}]"),),
            ((f"{path}.config.partition.assignment.strategy", f"[{COOPERATIVE}]"),),
        )
    yield Patch(
        (Turn("group.protocol", "classic", "consumer"),),
        (("replay", "[consumer]"),),
        "",
        "consumer",
    )
