"""A killed dynamic member is replaced quickly: the replacement opens a rebalance that waits for
the dead one.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import at_start, group_of, protocol_of, say, say_names, session_us
from rebalsim.lint.figures import low
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.rules.crash_loop import is_loop
from rebalsim.lint.script_facts import crashes_with_return, place_of
from rebalsim.words.lists import verb

RULE = Rule(
    id="restart-before-session-ends",
    heading="Faults",
    title="The replacement of a crashed member waits for its ghost",
    what="A dynamic member of a classic group crashes and is started again before its old session "
    "has run out.",
    why="The new process is a new member. Its join opens a rebalance at once, and the barrier "
    "waits for every known member, the dead one "
    "among them, until that one's session runs out. Eager members have given up their partitions "
    "by then: a crash of one becomes a "
    "pause of all, for the rest of the session.",
    fix="Give members a group.instance.id (the replacement then takes the old place without a "
    "rebalance), or shorten session.timeout.ms. "
    "Cooperative members at least go on reading while they wait.",
    example=(
        "session.timeout.ms: 45s\n"
        "crash: {member: 1, restart_after: 5s}\n"
        "# everybody waits for about 40 s (eager)"
    ),
    source="ClassicGroup.hasAllMembersJoined; "
    "GroupMetadataManager.expireClassicGroupMemberHeartbeat.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, away, dynamic in crashes_with_return(scenario):
        early = [c for c in dynamic if low(away) + low(c.life.start) < session_us(scenario, c)]
        if not early or is_loop(action, max(session_us(scenario, c) for c in early)):
            continue
        back = low(away) + low(early[0].life.start)
        # the join timer ends the wait too: it is the longest max.poll.interval.ms of the group
        longest = max(
            (c.config.max_poll_interval_us for c in at_start(group_of(scenario, early[0].group))),
            default=early[0].config.max_poll_interval_us,
        )
        wait = min(session_us(scenario, early[0]) - back, longest)
        who = (
            "all partitions of the group stand still"
            if protocol_of(early[0]) == "eager"
            else "the dead member's partitions stand still"
        )
        yield Finding(
            f"{say_names(early)} {verb(early, 'is', 'are')} back {say(back)} after the crash, "
            "while the dead member stays as a ghost for the session of "
            f"{say(session_us(scenario, early[0]))}: the rebalance that this opens waits for the "
            f"ghost, and {who} for up to {say(wait)} — write a "
            "group.instance.id, or shorten session.timeout.ms",
            place_of(action),
            fix=(("group.instance.id", '"{name}"'),),
        )
