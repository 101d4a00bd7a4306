"""A static member that dies for good blocks its partitions for the whole of a long session."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash, RollingBounce
from rebalsim.lint.facts import (
    alike,
    everyone,
    heartbeat_us,
    is_classic,
    is_static,
    round_up,
    say,
    say_names,
    say_setting,
    session_key,
    session_us,
    share_of,
    work_of,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import restart_us

LONG_US = 2 * MINUTE

RULE = Rule(
    id="static-long-session",
    heading="Static members",
    title="A dead static member blocks its partitions for long",
    what="A static member's session is longer than 2 minutes and longer than three times what its "
    "restarts in the script need.",
    why="A static member that is gone is expected back until its session runs out, whether it "
    "was closed, killed or scaled away. Until "
    "then nobody reads its partitions. A session that is longer than restarts need buys nothing "
    "and is paid for at each real death.",
    fix="Set session.timeout.ms to the slowest restart plus a margin. To be rid of a dead one "
    "sooner, remove it by hand "
    "(Admin.removeMembersFromConsumerGroup) or start a replacement with the same id.",
    example=("session.timeout.ms: 30m\n# a pod that is evicted for good: 30 minutes of silence"),
    source="KIP-345; GroupMetadataManager: removal only by session expiry, LeaveGroup or the admin "
    "client.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    needed: dict[str, float] = {}
    for action in scenario.script:
        deed = action.deed
        if isinstance(deed, RollingBounce):
            away = 0.0 if deed.down is None else high(deed.down)
        elif isinstance(deed, Crash) and deed.restart_after is not None:
            away = high(deed.restart_after)
        else:
            continue
        for name in deed.consumers:
            needed[name] = max(needed.get(name, 0.0), away)
    static = [c for c in everyone(scenario) if is_static(c)]
    for (session, need, _), who in alike(
        static,
        lambda c: (session_us(scenario, c), restart_us(c, needed.get(c.name, 0.0)), work_of(c)),
    ):
        if session > LONG_US and session > 3 * need:
            suggestion = max(
                MINUTE, round_up(1.25 * need + heartbeat_us(scenario, who[0]), 5 * SECOND)
            )
            share = share_of(scenario, who[0])
            yield Finding(
                f"{session_key(who[0])} {say(session)} for static "
                f"member{'s' if len(who) > 1 else ''} {say_names(who)}: when one dies for good, "
                f"its {share} partition{'s are' if share != 1 else ' is'} read by nobody for up "
                f"to {say(session)}, and a restart needs "
                f"{say(need) if need else 'no such time here'} — write {session_key(who[0])}: "
                f"{say_setting(suggestion)}",
                Place("consumer", who[0].name, "session.timeout.ms|group.instance.id")
                if is_classic(who[0])
                else Place("cluster", key=session_key(who[0])),
                fix=((session_key(who[0]), say_setting(suggestion)),),
            )
