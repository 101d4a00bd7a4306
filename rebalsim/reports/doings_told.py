"""A card for each thing that a consumer may be doing while others wait: its words, and what such a
wait hangs on. One table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rebalsim.domain.doing import Doing
from rebalsim.reports import settings_behind
from rebalsim.reports.settings_behind import Asked
from rebalsim.trace.trace import ConsumerFacts


@dataclass(frozen=True, slots=True)
class DoingCard:
    """How one of them is told."""

    was: str = ""  # what it did: c1 …
    over: str = ""  # what it was waited for, once it had come to that: until c1 …
    freed: str = ""  # the same as a moment: when …
    silent: str = "was silent"  # while nobody knew: c1 …
    hint: Callable[[ConsumerFacts | None], str] | None = None


DOINGS: dict[Doing, DoingCard] = {
    Doing.DEAD: DoingCard("was dead", silent="was dead", hint=settings_behind.session),
    Doing.FROZEN: DoingCard(
        "was frozen", "had thawed", "it thaws", silent="was frozen", hint=settings_behind.session
    ),
    Doing.CUT_OFF: DoingCard(
        "was cut off", "could be reached again", silent="was cut off", hint=settings_behind.session
    ),
    Doing.STUCK: DoingCard(
        "was stuck in its handler",
        "had come out of its handler",
        "its handler returns",
        silent="was stuck",
        hint=settings_behind.batches,
    ),
    Doing.PUNCTUATING: DoingCard(
        "was at its punctuators", "had done with its punctuators", "its punctuators are done"
    ),
    Doing.NOT_READY: DoingCard("processed nothing"),
    Doing.BUSY: DoingCard(
        "was busy with its batch",
        "had done with its batch",
        "its batch is done",
        hint=settings_behind.batches,
    ),
    Doing.IN_CALLBACK: DoingCard(
        "was in its callback",
        "had come out of its callback",
        "its callback is over",
        hint=settings_behind.listener,
    ),
    Doing.STOPPING: DoingCard(
        "was stopping its tasks", "had stopped its tasks", "its tasks have stopped"
    ),
    Doing.STARTING: DoingCard("was starting"),
    Doing.JOINING: DoingCard("was joining"),
    Doing.AWAY: DoingCard("was away", silent="was away"),
    Doing.CLOSING: DoingCard("was closing", silent="was away"),
    Doing.COMMITTING: DoingCard("was committing"),
    Doing.RESTORING: DoingCard("was restoring its state"),
    Doing.UNCOMMITTED: DoingCard("was waiting for a dead owner's transaction"),
    Doing.FROM_SCRATCH: DoingCard("was restoring its store from nothing"),
    Doing.FROM_CHECKPOINT: DoingCard("was restoring its store from a checkpoint"),
    Doing.IN_VAIN: DoingCard("was restoring its store in vain"),
    Doing.FROM_STANDBY: DoingCard("was restoring what its standby lacked"),
    Doing.NO_COORDINATOR: DoingCard("had no coordinator"),
    Doing.WAITING: DoingCard("waited for an answer"),
    Doing.GHOST: DoingCard(
        "had left before the coordinator moved, but was loaded as a member again and stayed one",
        hint=settings_behind.leave_in_the_log,
    ),
    Doing.UNAWARE: DoingCard(hint=settings_behind.heartbeat),
    Doing.INITIAL_DELAY: DoingCard(hint=settings_behind.initial_delay),
}
_PLAIN = DoingCard()


def card_of(doing: Doing) -> DoingCard:
    """Its card; a plain one where there is nothing to say."""
    return DOINGS.get(doing, _PLAIN)


def was(doing: Doing) -> str:
    """`was dead`; nothing where no words are needed."""
    return card_of(doing).was


def once_over(doing: Doing) -> str:
    """`had thawed`; nothing where it is not waited for like that."""
    return card_of(doing).over


def silent(doing: Doing, who: str) -> str:
    """`c1 was dead`, `c1 was silent`."""
    return f"{who} {card_of(doing).silent}"


def waited_for(asked: Asked) -> str:
    """What a wait for somebody hangs on, by what that one does."""
    hint = card_of(asked.doing).hint
    return hint(asked.settings) if hint is not None else ""


def of_the_kept(asked: Asked) -> str | None:
    """What a phase hangs on where a member is kept from its part in it; None where none is."""
    if asked.doing is Doing.STUCK:
        return settings_behind.no_end_but_the_poll_limit(asked)
    if asked.doing is Doing.TORN:
        return (
            "Any other rebalance ends it; let the group settle before you restart the next "
            "static member, and keep onPartitionsRevoked short."
        )
    return waited_for(asked) if asked.doing is Doing.BUSY else None
