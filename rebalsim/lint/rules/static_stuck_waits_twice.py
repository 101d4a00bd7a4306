"""A static member whose handler hangs past max.poll.interval.ms: nobody takes over until its
session is out as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Hang
from rebalsim.lint.facts import (
    alike,
    is_static,
    named,
    say,
    say_names,
    session_key,
    session_us,
    share_of,
    work_of,
)
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import strikes_of
from rebalsim.words.lists import verb

RULE = Rule(
    id="static-stuck-waits-twice",
    heading="Static members",
    title="A stuck static member is taken over only after its session, too",
    what="A static member's handler hangs (in the script or at random) for longer than "
    "max.poll.interval.ms.",
    why="A dynamic member leaves the group when its max.poll.interval.ms is over, and its "
    "partitions move. A static member only stops its "
    "heartbeats: it is expected back under its id, so its partitions stay with it until its "
    "session has run out as well. Both timers are "
    "paid, one after the other.",
    fix="Keep both short: max.poll.interval.ms two or three times the worst batch, the session "
    "as long as a restart. Bound the handler's own "
    "waits, so that it does not come to that.",
    example='group.instance.id: "{name}"\nmax.poll.interval.ms: 5m\nsession.timeout.ms: 60s       '
    "  "
    "# stuck: nobody takes over for 6 minutes",
    source="AbstractCoordinator.maybeLeaveGroup (dynamic members only); under the consumer "
    "protocol "
    "it leaves with epoch −2, which keeps them.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[int, int, object]:
        return c.config.max_poll_interval_us, session_us(scenario, c), work_of(c)

    for hang in strikes_of(scenario, Hang):
        for (limit, session, _), who in alike(
            [c for c in named(scenario, hang.consumers) if is_static(c)], figures
        ):
            if high(hang.for_) > limit:
                share = share_of(scenario, who[0])
                yield Finding(
                    f"{say_names(who)} {verb(who, 'is', 'are')} static and may hang for "
                    f"{say(high(hang.for_))}, past max.poll.interval.ms {say(limit)}: "
                    f"{share} partition{'s' if share != 1 else ''} of each "
                    f"{'are' if share != 1 else 'is'} taken over only when the session of "
                    f"{say(session)} is out as well, {say(min(high(hang.for_), limit + session))} "
                    "after it got stuck — shorten max.poll.interval.ms and "
                    f"{session_key(who[0])}",
                    hang.place,
                )
