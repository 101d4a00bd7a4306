"""The new owner looks up its position and fetches the first records."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept, waited_for, was
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.RECONNECTING:
        return (
            f"until {who}'s connections were through again, which TCP and the client try at "
            "growing intervals"
        )
    if f.doing in (Doing.STUCK, Doing.IN_CALLBACK):
        return f"while {who} {was(f.doing)}{until(f)}"
    if f.doing is Doing.BUSY:
        return f"while {who} was busy with records of other partitions{until(f)}"
    return f"until {who} had found its position and the first records"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    return "" if asked.doing is Doing.ASSIGNING else waited_for(asked)


CARD = PhaseCard(
    PhaseKind.FETCH,
    Look("f", "░", "bright_cyan", "#3592cb", "#c7dcf5"),
    title="position look-up and the first records",
    what="The member owns the partition and asks where to begin: committed offset, check of "
    "its epoch with the leader, then the first "
    "fetch.",
    why="Two or three round trips, usually some 10 ms; a tenth of a second where poll() "
    "returned in between (retry.backoff.ms), up to "
    "fetch.max.wait.ms (500 ms) behind a fetch that waits for other, idle partitions. A cold "
    "process opens its connections first. After a "
    "cut nothing comes before TCP, or the client, tries again: up to as long as the cut "
    "lasted, and up to 16 s after one of more than half a minute.",
    shows="PositionFound, then RecordsDelivered.",
    change="Little to gain: a longer poll timeout, a shorter fetch.max.wait.ms. Make sure that "
    "what dominates is not another phase.",
    tell=tell,
    hint=hint,
    of_next_owners=lambda f: "until their owners had found the positions and the first records",
)
