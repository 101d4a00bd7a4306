"""What a pause hangs on: one sentence, from its longest phase and the settings in force.

Facts only. What to do about it is advice, and nothing is advised that was not played: that is the
room `advice`.
"""

from __future__ import annotations

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause, PhaseKind
from rebalsim.reports.connect_hints import task_hint
from rebalsim.reports.names import safe
from rebalsim.trace.trace import ConsumerFacts
from rebalsim.words.times import say_duration

SESSION = "session.timeout.ms"
METADATA, HEARTBEAT = "metadata.max.age.ms", "heartbeat.interval.ms"
REBALANCE_TIMEOUT = "rebalance_timeout_ms"
SLACK_US = 100_000  # messages, and a thread that looks that often
LONG_ASSIGNMENT_US = 500_000  # a shorter one is made of messages, which no assignor saves


def hint_on(pause: Pause, analysis: Analysis) -> str:
    """Which setting the longest phase hangs on, and its value here; empty where none does."""
    phase, header = max(pause.phases, key=lambda p: p.length_us), analysis.header
    whose = (
        header.consumers.get(phase.facts.consumer)
        or header.consumers.get(pause.owner_before)
        or header.consumers.get(pause.owner_after)
    )
    facts = whose.at(phase.started_us) if whose is not None else None
    if (
        pause.cause.kind == "poll-interval-exceeded"
        and phase.kind is not PhaseKind.STUCK
        and phase.facts.doing not in ("stuck", "frozen")
    ):
        blamed = header.consumers.get(pause.cause.consumer)
        return _outlasted(blamed.at(pause.started_us) if blamed is not None else None)
    if (told := task_hint(phase, pause, analysis)) is not None:
        return told
    if phase.facts.doing in ("no-coordinator", "reconnecting"):
        return ""  # a group has no setting for that
    if phase.facts.doing in ("dead-leader", "dead-owner"):
        return _session(facts)
    if (
        phase.kind in (PhaseKind.BARRIER, PhaseKind.DETECTION)
        and phase.facts.timer == REBALANCE_TIMEOUT
    ):
        return _patience(facts)
    if phase.kind is PhaseKind.BARRIER and phase.facts.timer == SESSION:
        return _session(facts)
    if phase.kind is PhaseKind.REVOKE and phase.facts.trigger == "refused":
        return (
            "The brokers refused the commit of what was to be given up (of a topic that is gone, "
            "for instance); Kafka's client tries again until its "
            f"rebalance timeout, max.poll.interval.ms{_value(facts, 'max_poll_interval_us')}, is "
            "over."
        )
    if phase.kind is PhaseKind.BARRIER:
        return _waited_for(phase.facts.doing, facts)
    if (
        phase.kind is PhaseKind.DETECTION
        and pause.why == "closed"
        and facts is not None
        and facts.instance_id is not None
    ):
        return _stopped(facts, _is_back(analysis, facts.instance_id, pause.started_us))
    if phase.kind is PhaseKind.DETECTION and pause.why == "closed" and phase.facts.consumer:
        return (
            "It did not leave its group when it closed; a LeaveGroup on close tells the others "
            "at once."
        )
    if (
        phase.kind is PhaseKind.DETECTION
        and phase.facts.consumer
        and not phase.facts.timer
        and pause.owner_after
    ):
        return ""  # no timer ended it: somebody took its place, the sooner the better
    if phase.kind is PhaseKind.DETECTION:
        if phase.facts.doing == "unled":
            return (
                "Brokers and Java clients since 3.2 tell a static leader that returns that it "
                "leads (KIP-814); until then any other rebalance helps."
            )
        if not phase.facts.consumer:
            return (
                "metadata.max.age.ms is how long a new partition may go unseen; 5 minutes by "
                "default."
                if phase.facts.timer == METADATA
                else ""
            )
        return (
            _stuck(safe(phase.facts.consumer), facts)
            if phase.facts.doing == "stuck"
            else _session(facts)
        )
    if phase.kind is PhaseKind.STUCK and phase.facts.doing == "in-callback":
        limit = _value(facts, "max_poll_interval_us")
        return (
            f"Callbacks run within poll(): one that takes longer than max.poll.interval.ms{limit} "
            "costs the membership."
        )
    if phase.kind is PhaseKind.STUCK and phase.facts.doing == "committing":
        return (
            "commitSync() without a duration waits for the coordinator for "
            "default.api.timeout.ms; commitAsync() does not wait."
        )
    if phase.kind is PhaseKind.STUCK or phase.facts.doing == "stuck":
        return _stuck(safe(phase.facts.consumer) or "the member", facts)
    if phase.facts.doing == "torn":
        return (
            "Any other rebalance ends it; let the group settle before you restart the next "
            "static member, and keep onPartitionsRevoked short."
        )
    if (
        phase.kind in (PhaseKind.NOTICE, PhaseKind.FOLLOW_UP)
        and phase.facts.consumer
        and not phase.facts.timer
    ):
        return _waited_for(phase.facts.doing, facts)
    is_kept = phase.facts.doing == "busy" or (
        phase.kind is PhaseKind.AWAY and phase.facts.doing == "in-callback"
    )
    if is_kept or (
        phase.kind in (PhaseKind.ASSIGNMENT, PhaseKind.FETCH) and phase.facts.doing != "assigning"
    ):
        return _waited_for(phase.facts.doing, facts)
    if phase.kind is PhaseKind.ASSIGNMENT and phase.length_us < LONG_ASSIGNMENT_US:
        return ""
    if phase.kind is PhaseKind.AWAY and (
        not phase.facts.consumer or phase.facts.doing in ("frozen", "cut-off")
    ):
        return ""  # nobody else was there, and nothing that can be set brings anybody
    if (
        phase.kind is PhaseKind.FOLLOW_UP
        and facts is not None
        and facts.habits.beats_after_join_us  # whatever its interval is
        and phase.length_us <= facts.habits.beats_after_join_us + SLACK_US
    ):
        return ""
    if phase.kind in (PhaseKind.NOTICE, PhaseKind.FOLLOW_UP) or (
        phase.kind is PhaseKind.PICKUP and phase.facts.timer == HEARTBEAT
    ):
        return _heartbeat(facts)
    if phase.kind is PhaseKind.PICKUP and phase.facts.doing == "computing":
        return (
            "A shorter group.consumer.heartbeat.interval.ms on the brokers has them compute "
            "sooner: the heartbeats of classic members do not."
        )
    return _OTHERS.get(phase.kind, "")


def _is_back(analysis: Analysis, instance_id: str, after_us: int) -> bool:
    """Whether a process with that static id began to poll after that instant."""
    mine = [m for m in analysis.members if m.instance_id == instance_id]
    return any(
        span.what == "polling" and span.started_us > after_us for m in mine for span in m.spans
    )


def _stopped(facts: ConsumerFacts, is_back: bool) -> str:
    setting = (
        "group.consumer.session.timeout.ms on the brokers"
        if facts.protocol == "consumer"
        else "session.timeout.ms"
    )
    limit = f"{setting}{_value(facts, 'session_timeout_us')}"
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


def _outlasted(facts: ConsumerFacts | None) -> str:
    return (
        "A member leaves when its polls are further apart than "
        f"max.poll.interval.ms{_value(facts, 'max_poll_interval_us')}; max.poll.records is how "
        "much it handles between two."
    )


def _heartbeat(facts: ConsumerFacts | None) -> str:
    return (
        f"heartbeat.interval.ms{_value(facts, 'heartbeat_interval_us')} is how long members may "
        "take to hear of a rebalance."
    )


def _value(facts: ConsumerFacts | None, name: str) -> str:
    value: int = getattr(facts, name) if facts is not None else -1
    return f" ({say_duration(value)} here)" if value >= 0 else ""


def _session(facts: ConsumerFacts | None) -> str:
    if facts is not None and facts.protocol == "consumer":
        return (
            "Only the session's end tells of a dead member: group.consumer.session.timeout.ms "
            f"on the brokers{_value(facts, 'session_timeout_us')}."
        )
    return (
        "Only the session's end tells of a dead member: "
        f"session.timeout.ms{_value(facts, 'session_timeout_us')}, as short as your longest "
        "freezes allow."
    )


def _stuck(who: str, facts: ConsumerFacts | None) -> str:
    if facts is not None and not facts.habits.has_poll_limit:
        return (
            f"{facts.client.split()[0]} has no max.poll.interval.ms: nothing ends a stuck "
            "handler's hold but its own end."
        )
    said = (
        f"Nothing but max.poll.interval.ms{_value(facts, 'max_poll_interval_us')} ends a stuck "
        "handler's hold."
    )
    if facts is not None and facts.instance_id is not None:
        said += (
            f" {who} is static: even past it nobody is given its partitions before its session "
            "runs out."
        )
    return said


def _patience(facts: ConsumerFacts | None) -> str:
    said = "The brokers wait for who does not join as long as its own rebalance timeout says"
    if facts is None or facts.habits.rebalance_timeout != "max-poll":
        return (
            f"{said}; a shorter one, or shorter batches, bound how long one member keeps the "
            "others waiting."
        )
    return (
        f"{said}, which is max.poll.interval.ms{_value(facts, 'max_poll_interval_us')}; a "
        "shorter one, or shorter batches (max.poll.records), bound how "
        "long one member keeps the others waiting."
    )


def _waited_for(doing: str, facts: ConsumerFacts | None) -> str:
    if doing in ("dead", "frozen", "cut-off"):
        return _session(facts)
    if doing in ("stuck", "busy") and facts is not None and not facts.habits.has_poll_limit:
        return (
            "Shorter batches bound how long one member keeps the others waiting: "
            f"{facts.client.split()[0]} has no max.poll.interval.ms."
        )
    if doing in ("stuck", "busy"):
        limit = _value(facts, "max_poll_interval_us")
        return (
            f"Shorter batches (max.poll.records) or a shorter max.poll.interval.ms{limit} bound "
            "how long one member keeps the others waiting."
        )
    if doing == "ghost":
        return (
            "A leave is in the group's log only with the next generation: brokers that restart "
            "while nobody else does spare it, or "
            f"a shorter session.timeout.ms{_value(facts, 'session_timeout_us')}."
        )
    if doing == "unaware":
        return _heartbeat(facts)
    if doing == "initial-delay":
        return (
            "group.initial.rebalance.delay.ms on the brokers collects the members of a cold "
            "start; it costs that long, once."
        )
    if doing == "in-callback":
        return "A quicker rebalance listener would let the others go on sooner."
    return ""


_OTHERS = {
    PhaseKind.AWAY: "How soon a process is back is for its start to decide: no timeout does.",
    PhaseKind.REVOKE: "A quicker commit and onPartitionsRevoked shorten it.",
    PhaseKind.RELEASE: "Shorter batches let the owner confirm sooner; its heartbeat interval is the "
    "brokers' "
    "group.consumer.heartbeat.interval.ms.",
    PhaseKind.INTERVAL: "group.consumer.assignment.interval.ms on the brokers (1 s by default "
    "since 4.3) delays "
    "it; 0 switches it off.",
    PhaseKind.PICKUP: "A shorter group.consumer.heartbeat.interval.ms on the brokers lets the new "
    "owner hear "
    "sooner.",
    PhaseKind.RESTORE: "Standbys, an assignor that keeps owners, or static members whose state survives "
    "a restart spare the restore.",
    PhaseKind.ASSIGNMENT: "A cheaper assignor, or the consumer protocol (the broker computes), shortens "
    "it.",
}
