"""The old owner has not confirmed that it gave the partition up."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.NO_COORDINATOR:
        return f"without a coordinator to which {who} could have confirmed that it had let go{until(f)}"
    return f"until {who} confirmed that it had let go"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    return (
        "Shorter batches let the owner confirm sooner; its heartbeat interval is the brokers' "
        "group.consumer.heartbeat.interval.ms."
    )


CARD = PhaseCard(
    PhaseKind.RELEASE,
    Look("l", "▒", "blue", "#1d4ed8", "#93aefe"),
    title="the old owner has not confirmed that it gave the partition up (consumer protocol)",
    what="The new target gives the partition to somebody else; the coordinator holds it back "
    "until its owner's heartbeat says that it no "
    "longer has it.",
    why="Only then is it certain that no two members read it. The owner hears at its "
    "heartbeat, and needs up to three polls to commit, "
    "revoke and confirm: a long batch counts two or three times.",
    shows="ReleaseAwaited names the owners; PartitionsReleased ends it.",
    change="Shorter batches (max.poll.records); a quick listener; "
    "group.consumer.heartbeat.interval.ms on the brokers (5 s by default, "
    "which is its lower bound too).",
    tell=tell,
    hint=hint,
)
