"""The owner's batch, or its callback, or its commit does not come back."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked, no_end_but_the_poll_limit, value_here
from rebalsim.reports.waits_told import until


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.FAILED:
        return "failed, for nobody restarts a failed task"
    if f.doing is Doing.NOT_READY:
        return f"while {who} polled and processed nothing, for not all of it was ready"
    if f.doing is Doing.PUNCTUATING:
        return f"while {who} was at its punctuators" + (until(f) if f.timer else "")
    what = {
        Doing.COMMITTING: "commit waited for the coordinator",
        Doing.IN_CALLBACK: "callback went on",
    }.get(f.doing, "handler was stuck")
    return f"while {who}'s {what}" + (until(f) if f.timer else "")


def hint(asked: Asked) -> str:
    if asked.doing is Doing.IN_CALLBACK:
        return (
            "Callbacks run within poll(): one that takes longer than "
            f"max.poll.interval.ms{value_here(asked.settings, 'max_poll_interval_us')} costs the "
            "membership."
        )
    if asked.doing is Doing.COMMITTING:
        return (
            "commitSync() without a duration waits for the coordinator for "
            "default.api.timeout.ms; commitAsync() does not wait."
        )
    if asked.doing is Doing.PUNCTUATING:
        return (
            "Punctuators run in the stream thread, for one of its tasks after the other: do less in "
            "a call or run more threads; longer than "
            f"max.poll.interval.ms{value_here(asked.settings, 'max_poll_interval_us')} they cost "
            "the membership."
        )
    if asked.doing is Doing.NOT_READY:
        return (
            "Clients up to 2.3 process nothing until all tasks of a thread are restored; members of "
            "a streams group do so while its assignment is delayed or a topic is missing."
        )
    return no_end_but_the_poll_limit(asked)


CARD = PhaseCard(
    PhaseKind.STUCK,
    Look("S", "█", "magenta", "#a3229b", "#e06ad8"),
    title="the owner's handler does not come back",
    what="The member holds the partition and works on a batch that runs past the length it "
    "would have had undisturbed, or past "
    "max.poll.interval.ms whatever its length. The phase ends when the handler returns or "
    "when the group acts.",
    why="The heartbeat thread goes on, so to the coordinator the member is healthy: the "
    "session never runs out. Nothing but "
    "max.poll.interval.ms (5 minutes by default) ends it, and a static member is not taken "
    "over even then, until its session is "
    "over too.",
    shows="HandlerStuck begins it. HandlerReturned ends it, or PollExpired with LeaveSent "
    "after it. The partition stays assigned meanwhile.",
    change="Bound the handler's own waits. Set max.poll.interval.ms to two or three times the "
    "worst batch; lower max.poll.records so that "
    "the worst batch is short.",
    tell=tell,
    hint=hint,
)
