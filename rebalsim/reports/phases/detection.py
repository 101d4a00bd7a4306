"""Nobody knows yet that the owner is gone, or that the partition is there."""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.timer import Timer
from rebalsim.reports.doings_told import silent
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import (
    Asked,
    no_end_but_the_poll_limit,
    patience,
    session,
    value_here,
)
from rebalsim.reports.waits_told import until
from rebalsim.trace.trace import ConsumerFacts
from rebalsim.words.times import say_instant


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.UNLED:
        return (
            "while nobody minded the topics, for their leader had come back without being told "
            "that it leads"
        )
    if not f.consumer:
        return (
            "until a metadata refresh told that it exists"
            if f.timer is Timer.METADATA
            else "until anybody knew of it"
        )
    ended = until(f) + _renewed(f) if f.timer else ""
    return f"while {silent(f.doing, who)} and nobody knew{ended}"


def _renewed(f: Facts) -> str:
    """A session of somebody who is not there may still begin anew: its last requests are
    answered, and a round that completes counts as heard of.
    """
    return f" (it had begun anew at {say_instant(f.heard_us)})" if f.heard_us >= 0 else ""


def hint(asked: Asked) -> str:
    pause, settings = asked.pause, asked.settings
    if asked.timer is Timer.REBALANCE_TIMEOUT:
        return patience(settings)
    if pause.why is PauseStart.CLOSED and settings is not None and settings.instance_id is not None:
        return _stopped(settings, _is_back(asked.analysis, settings.instance_id, pause.started_us))
    if pause.why is PauseStart.CLOSED and asked.consumer:
        return (
            "It did not leave its group when it closed; a LeaveGroup on close tells the others "
            "at once."
        )
    if asked.consumer and not asked.timer and pause.owner_after:
        return ""  # no timer ended it: somebody took its place, the sooner the better
    if asked.doing is Doing.UNLED:
        return (
            "Brokers and Java clients since 3.2 tell a static leader that returns that it "
            "leads (KIP-814); until then any other rebalance helps."
        )
    if not asked.consumer:
        return (
            "metadata.max.age.ms is how long a new partition may go unseen; 5 minutes by default."
            if asked.timer is Timer.METADATA
            else ""
        )
    return no_end_but_the_poll_limit(asked) if asked.doing is Doing.STUCK else session(settings)


def _is_back(analysis: Analysis, instance_id: str, after_us: int) -> bool:
    """Whether a process with that static id began to poll after that instant."""
    mine = [m for m in analysis.members if m.instance_id == instance_id]
    return any(
        span.what is Doing.POLLING and span.started_us > after_us for m in mine for span in m.spans
    )


def _stopped(settings: ConsumerFacts, is_back: bool) -> str:
    setting = (
        "group.consumer.session.timeout.ms on the brokers"
        if settings.uses_consumer_protocol
        else "session.timeout.ms"
    )
    limit = f"{setting}{value_here(settings, 'session_timeout_us')}"
    said = "A static member does not leave when it stops"
    if is_back:
        return (
            f"{said}: unless another round begins meanwhile, the group waits for it as long as "
            f"{limit}."
        )
    return (
        f"{said}, and if it never comes back, its partitions wait for {limit}. An instance id "
        "has to outlive its pod; an administrator can remove "
        "one that is gone for good (Admin.removeMembersFromConsumerGroup)."
    )


CARD = PhaseCard(
    PhaseKind.DETECTION,
    Look("D", "█", "red", "#c62828", "#ef6a62"),
    title="nobody knows yet",
    what="The owner is dead, frozen or cut off, and neither the coordinator nor anybody else "
    "has noticed. It lasts from the last sign of "
    "life until the timer that finds out.",
    why="A process that dies without close() says nothing, and a broken connection means "
    "nothing to the coordinator. Only the session "
    "timer tells: session.timeout.ms after the last heartbeat or commit, so 42 to 45 s with "
    "the defaults. It is usually by far the "
    "longest phase, and no assignor and no protocol shortens it.",
    shows="ConsumerExited (killed), ConsumerFroze or LinkCut begins it; MemberRemoved with "
    "session-expired ends it. Its last_heard_us "
    "says when the timer was last renewed.",
    change="Shorten session.timeout.ms, with heartbeat.interval.ms at a third of it or less, "
    "down to what your longest freezes and cuts "
    "allow. Under the consumer protocol it is the broker's "
    "group.consumer.session.timeout.ms, 45 s at least. Stop processes "
    "gracefully, so that they leave instead of vanishing.",
    tell=tell,
    hint=hint,
)
