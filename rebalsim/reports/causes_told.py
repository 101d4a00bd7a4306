"""A card for each kind of cause, and the words of what sets a rebalance off. Two tables."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis.values import Cause
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.names import safe


@dataclass(frozen=True, slots=True)
class CauseCard:
    """How a cause is told; {c} is whose it was."""

    when: str  # a partition stood still …
    noun: str = ""  # where it decides over a comparison: because of …


CAUSES: dict[CauseKind, CauseCard] = {
    CauseKind.SCALE_OUT: CauseCard("when {c} joined", "{c}'s joining"),
    CauseKind.RESTART: CauseCard("when {c} came back after a restart", "{c}'s restart"),
    CauseKind.REJOINED: CauseCard("when {c} joined again"),
    CauseKind.LEFT: CauseCard("when {c} left", "{c}'s leaving"),
    CauseKind.STOPPED: CauseCard("when {c} stopped", "{c}'s stop"),
    CauseKind.ENFORCED: CauseCard("when {c} asked for a rebalance"),
    CauseKind.CRASHED: CauseCard("after {c} crashed", "{c}'s crash"),
    CauseKind.FATAL: CauseCard("after {c} died of an error", "{c}'s death of an error"),
    CauseKind.FROZE: CauseCard("after {c} froze", "{c}'s freeze"),
    CauseKind.STUCK: CauseCard("when {c}'s handler got stuck", "{c}'s stuck handler"),
    CauseKind.PUNCTUATOR: CauseCard("while {c} punctuated", "{c}'s punctuators"),
    CauseKind.NOT_READY: CauseCard(
        "while the group was not ready, as {c} had heard", "{c}'s group that was not ready"
    ),
    CauseKind.COMMIT_UNANSWERED: CauseCard("when {c}'s commit was not answered"),
    CauseKind.POLL_INTERVAL_EXCEEDED: CauseCard(
        "when {c} outlasted max.poll.interval.ms", "{c}'s outlasting max.poll.interval.ms"
    ),
    CauseKind.SESSION_EXPIRED: CauseCard("when {c}'s session ran out", "the end of {c}'s session"),
    CauseKind.CUT_OFF: CauseCard("after {c} was cut off", "{c}'s being cut off"),
    CauseKind.STATIC_RESTART: CauseCard("when {c} restarted under its static id", "{c}'s restart"),
    CauseKind.TOPIC_CHANGED: CauseCard("when the topic changed", "the change of a topic"),
    CauseKind.SUBSCRIPTION_CHANGED: CauseCard(
        "when {c} changed its subscription", "{c}'s change of its subscription"
    ),
    CauseKind.COORDINATOR_MOVED: CauseCard("when the coordinator moved", "the coordinator's move"),
    CauseKind.COORDINATOR_LOST: CauseCard(
        "when workers stopped their work, for their coordinator was out of reach",
        "a coordinator out of reach",
    ),
    CauseKind.CONNECTOR_CHANGED: CauseCard(
        "when connector {c} changed", "the change of connector {c}"
    ),
    CauseKind.CONNECTOR_RESTARTED: CauseCard(
        "when connector {c} was restarted", "the restart of connector {c}"
    ),
    CauseKind.TASK_FAILED: CauseCard("when its thread died on {c}", "the death of a task on {c}"),
    CauseKind.TASK_STARTED: CauseCard(
        "when workers started tasks of the sink", "the start of the sink's tasks"
    ),
    CauseKind.TASK_STOPPED: CauseCard(
        "when workers stopped tasks of the sink", "the stop of the sink's tasks"
    ),
    CauseKind.CALLBACK: CauseCard("while {c} was in a callback"),
    CauseKind.REBALANCE: CauseCard("in a rebalance"),
    CauseKind.START: CauseCard("while the group formed"),
}
TRIGGERS: dict[Trigger, str] = {
    Trigger.JOINED: "{c} joined",
    Trigger.LEFT: "{c} left",
    Trigger.SESSION_EXPIRED: "{c}'s session ran out",
    Trigger.POLL_EXPIRED: "{c} outlasted max.poll.interval.ms",
    Trigger.METADATA_CHANGED: "topics changed",
    Trigger.LEADER_REJOINED: "the leader {c} joined again",
    Trigger.REJOINED: "{c} joined again",
    Trigger.ENFORCED: "{c} asked for a rebalance (enforceRebalance)",
    Trigger.STATIC_PROTOCOL_CHANGED: "{c} came back with another assignor list",
    Trigger.SYNC_EXPIRED: "{c} did not send SyncGroup in time",
    Trigger.WRITE_FAILED: "the assignment could not be written",
    Trigger.BARRIER_UNMET: "the barrier's time ran out",
    Trigger.COORDINATOR_MOVED: "the coordinator moved",
    Trigger.REGROUPED: "members joined again",
    Trigger.SUBSCRIPTION_CHANGED: "{c} changed its subscription",
}


def tell_cause(cause: Cause) -> str:
    """`when c2 joined`, `after c1 crashed (crash-1)`."""
    said = CAUSES[cause.kind].when.format(c=safe(cause.consumer) or "a member")
    return f"{said} ({safe(cause.action)})" if cause.action else said


def noun_of(cause: Cause, is_short: bool = False) -> str:
    """`consumer-10's stuck handler (hang-2)`; short, without the action's name."""
    noun = CAUSES[cause.kind].noun
    if not noun:
        return f"what happened {tell_cause(cause)}"
    named = noun.format(c=safe(cause.consumer) or "a member")
    return f"{named} ({safe(cause.action)})" if cause.action and not is_short else named


def tell_trigger(trigger: Trigger, consumer: str) -> str:
    """Why a rebalance began: `c2 joined`."""
    who = safe(consumer) or "a member"
    return TRIGGERS.get(trigger, safe(trigger) or "unknown").format(c=who)
