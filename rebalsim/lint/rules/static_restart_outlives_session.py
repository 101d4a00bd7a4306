"""Static members whose restart takes longer than their session: the promise of no rebalance is
not kept.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import Draw
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash, RollingBounce
from rebalsim.lint.facts import (
    alike,
    heartbeat_us,
    is_static,
    named,
    round_up,
    say,
    say_names,
    say_setting,
    session_key,
    session_us,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import place_of, restart_us

RULE = Rule(
    id="static-restart-outlives-session",
    heading="Static members",
    title="Static members come back after their session ran out",
    what="A bounce, or a crash with restart, keeps a static member away (down time and start time "
    "at their likely worst, plus the age of "
    "its last heartbeat) for longer than its session.",
    why="The countdown runs from the last heartbeat, which is up to an interval older than the "
    "stop. When it ends first, the coordinator "
    "removes the member and rebalances; its return is a second rebalance. That is the worst of "
    "both: the pause of a whole session, "
    "and the disturbances of a dynamic member besides.",
    fix="Make session.timeout.ms longer than the slowest restart (95th percentile or worse) plus "
    "a heartbeat; the broker allows up to "
    "group.max.session.timeout.ms (30 minutes). Or make the restart quicker.",
    example="session.timeout.ms: 10s\nlife: {start: 15s}\nrolling_bounce: {down: 2s}       # → "
    "session.timeout.ms: 25s",
    source="GroupMetadataManager.expireClassicGroupMemberHeartbeat treats static members like "
    "dynamic ones; KIP-345.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action in scenario.script:
        deed = action.deed
        down: Draw | None
        if isinstance(deed, RollingBounce) and not deed.surge_consumers:
            down = deed.down
        elif isinstance(deed, Crash) and deed.restart_after is not None:
            down = deed.restart_after
        else:
            continue
        static = [c for c in named(scenario, deed.consumers) if is_static(c)]
        away_at_worst = 0.0 if down is None else high(down)

        def figures(c: Consumer, away: float = away_at_worst) -> tuple[float, int, int]:
            return restart_us(c, away), heartbeat_us(scenario, c), session_us(scenario, c)

        for (away, beat, session), who in alike(static, figures):
            if away + beat > session:
                needed = round_up(1.25 * away + beat, 5 * SECOND)
                yield Finding(
                    f"{say_names(who)} may be away for {say(away)}, and the last heartbeat "
                    f"before is up to {say(beat)} old: more than the "
                    f"session of {say(session)}, so the group rebalances without "
                    f"{'it' if len(who) == 1 else 'each'} and once more on its "
                    f"return — write {session_key(who[0])}: {say_setting(needed)}",
                    place_of(action),
                    fix=((session_key(who[0]), say_setting(needed)),),
                )
