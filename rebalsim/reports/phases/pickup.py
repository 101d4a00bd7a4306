"""The new owner has not had its heartbeat yet."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.timer import Timer
from rebalsim.reports.doings_told import of_the_kept
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, heartbeat, of_brokers
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.NO_COORDINATOR:
        return f"without a coordinator that could have told {who}{until(f)}"
    if f.doing is Doing.COMPUTING:
        return f"until the broker computed at {who}'s heartbeat"
    return f"until {who} was told at its heartbeat"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.timer is Timer.HEARTBEAT:
        return heartbeat(asked.settings)
    setting = of_brokers(asked.settings, "heartbeat.interval.ms")
    if asked.doing is Doing.COMPUTING:
        return (
            f"A shorter {setting} on the brokers has them compute "
            "sooner: the heartbeats of classic members do not."
        )
    return f"A shorter {setting} on the brokers lets the new owner hear sooner."


CARD = PhaseCard(
    PhaseKind.PICKUP,
    Look("p", "▒", "cyan", "#0d6b5d", "#bed8d5"),
    title="the new owner has not had its heartbeat yet (consumer protocol)",
    what="The partition is free and meant for a member that has not been told: it learns in "
    "the answer to its next heartbeat.",
    why="The coordinator never pushes. On average half of "
    "group.consumer.heartbeat.interval.ms passes, at worst all of it. A classic member "
    "of "
    "such a group has heartbeat.interval.ms of its own, and hears only after the heartbeat "
    "of one that speaks the new protocol has had "
    "the broker compute.",
    shows="PartitionsReleased (or MemberRemoved) begins it; AssignmentReceived of the new "
    "owner ends it.",
    change="Shorten group.consumer.heartbeat.interval.ms on the brokers (lower its bound "
    "group.consumer.min.heartbeat.interval.ms first).",
    tell=tell,
    hint=hint,
    of_next_owners=lambda f: "until their owners were told at their heartbeats",
)
