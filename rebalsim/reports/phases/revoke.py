"""The old owner commits, runs its callback, and gives the partition up."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.doings_told import of_the_kept
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, value_here
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.NO_COORDINATOR:
        return f"while {who} had no coordinator to commit to or to leave{until(f)}"
    again = ", again and again" if f.trigger is Trigger.REFUSED else ""
    return {
        Doing.CLOSING: f"while {who} closed",
        Doing.IN_CALLBACK: f"while {who} ran its revocation callback",
        Doing.COMMITTING: f"while {who} committed{again}",
    }.get(f.doing, f"while {who} gave it up")


def tell_of_several(f: Facts) -> str:
    return {
        Doing.CLOSING: "while their owners closed",
        Doing.IN_CALLBACK: "while their owners ran their revocation callbacks",
        Doing.COMMITTING: "while their owners committed",
    }.get(f.doing, "while their owners gave them up")


def hint(asked: Asked) -> str:
    if asked.trigger is Trigger.REFUSED:
        return (
            "The brokers refused the commit of what was to be given up (of a topic that is gone, "
            "for instance); Kafka's client tries again until its rebalance timeout, "
            f"max.poll.interval.ms{value_here(asked.settings, 'max_poll_interval_us')}, is over."
        )
    if (kept := of_the_kept(asked)) is not None:
        return kept
    return "A quicker commit and onPartitionsRevoked shorten it."


CARD = PhaseCard(
    PhaseKind.REVOKE,
    Look("r", "░", "blue", "#3b5bdb", "#3c70ff"),
    title="the old owner commits and runs its callback",
    what="The owner gives the partition up: with auto-commit it commits its position first, "
    "then onPartitionsRevoked runs (flush, commit, "
    "whatever the application does there).",
    why="Eager members do it for all of their partitions before they join, and everybody "
    "waits for the slowest. Cooperative ones do it "
    "for those that move, before the second round. A commit that the brokers refuse for "
    "good, of a topic that has been deleted, is tried again "
    "until the rebalance timeout is over.",
    shows="CallbackBegan and CallbackEnded with revoked; RequestSent with OffsetCommit just "
    "before.",
    change="Do less in onPartitionsRevoked, and commit once instead of per partition. Use "
    "cooperative-sticky, so that only what moves is "
    "revoked.",
    tell=tell,
    hint=hint,
    of_last_owners=tell_of_several,
)
