"""Crashes that repeat faster than the session: there is always a ghost at the barrier."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Action
from rebalsim.lint.facts import say, say_names, session_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import crashes_with_return, place_of, strangers
from rebalsim.words.lists import verb

RULE = Rule(
    id="crash-loop",
    heading="Faults",
    title="A pod crashes again before its last ghost is gone",
    what="Dynamic members of a classic group crash repeatedly, three times or more (or at "
    "random), at intervals shorter than their session.",
    why="Each life of a dynamic member that is killed stays in the group for a session. When the "
    "next crash comes sooner, there always is "
    "a ghost that the barrier waits for, and the group hardly ever gets out of "
    "PreparingRebalance: one broken pod stops everybody.",
    fix="Give the members a group.instance.id, so that a restart takes its own place again; "
    "shorten session.timeout.ms below the time "
    "between crashes; and let the supervisor back off (Kubernetes' CrashLoopBackOff grows to 5 "
    "minutes).",
    example="crash: {member: 1, restart_after: 2s}, every: 20s\nsession.timeout.ms: 45s          # "
    "two or three ghosts at any time",
    source="GroupMetadataManager.expireClassicGroupMemberHeartbeat; "
    "ClassicGroup.hasAllMembersJoined.",
)


def is_loop(action: Action, session: int) -> bool:
    """Does this crash repeat faster than the session?"""
    return action.times >= 3 and action.every_us is not None and action.every_us < session


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, _, dynamic in crashes_with_return(scenario):
        if (
            dynamic
            and action.every_us is not None
            and is_loop(action, max(session_us(scenario, c) for c in dynamic))
        ):
            session = max(session_us(scenario, c) for c in dynamic)
            yield Finding(
                f"{say_names(dynamic)} {verb(dynamic, 'crashes', 'crash')} every "
                f"{say(action.every_us)}, sooner than the session of "
                f"{say(session)} runs out: about "
                f"{-(-session // action.every_us)} ghosts are in the group at any time, and each "
                "rebalance waits for them — write a "
                "group.instance.id, or shorten session.timeout.ms",
                place_of(action),
            )
    for fault in scenario.random_faults:
        if fault.kind != "crash":
            continue
        dynamic = strangers(scenario, fault.consumers)
        if not dynamic:
            continue
        session = max(session_us(scenario, c) for c in dynamic)
        between = fault.mean_between_us / len(fault.consumers)  # each target has crashes of its own
        if between < session:
            yield Finding(
                f"random crashes come every {say(between)} on average over {say_names(dynamic)}, "
                f"sooner than the session of {say(session)} runs "
                "out: there nearly always is a ghost that rebalances wait for — write a "
                "group.instance.id, or shorten "
                "session.timeout.ms",
                Place("story", key="random_faults"),
            )
