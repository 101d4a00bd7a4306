"""Consumer protocol: a killed static member that restarts quickly is refused until its old
session is over.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash
from rebalsim.lint.facts import is_classic, is_static, named, say, say_names, session_us
from rebalsim.lint.figures import low
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of
from rebalsim.words.lists import verb

RULE = Rule(
    id="static-kill-consumer-protocol",
    heading="Static members",
    title="A killed static member is refused when it comes back early",
    what="Under the consumer protocol (KIP-848) a static member crashes and is restarted before "
    "its session is over.",
    why="The coordinator gives an instance id to a newcomer only when its owner has left (epoch "
    "−2, sent by a clean close). A killed owner "
    "has not; its successor gets UNRELEASED_INSTANCE_ID, which is fatal, restart after restart, "
    "until the session "
    "(group.consumer.session.timeout.ms, 45 s at least) runs out. The classic protocol does the "
    "opposite: the newcomer wins.",
    fix="Run crash-prone members without group.instance.id under the consumer protocol, or count "
    "on a whole session of pause per kill, "
    "and let the supervisor restart the process until it is accepted.",
    example="group.protocol: consumer\ngroup.instance.id: orders-0\ncrash: {member: 0, "
    "restart_after: 5s}          # refused for 40 s",
    source="GroupMetadataManager.throwIfInstanceIdIsUnreleased; KIP-848.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, Crash):
        if deed.restart_after is None:
            continue
        static = [c for c in named(scenario, deed.consumers) if is_static(c) and not is_classic(c)]
        early = [
            c
            for c in static
            if low(deed.restart_after) + low(c.life.start) < session_us(scenario, c)
        ]
        if early:
            back = low(deed.restart_after) + low(early[0].life.start)
            session = session_us(scenario, early[0])
            yield Finding(
                f"{say_names(early)} {verb(early, 'is', 'are')} back {say(back)} after the kill, "
                "but under the consumer protocol an instance id is "
                f"released only with the session ({say(session)}): refused "
                f"(UNRELEASED_INSTANCE_ID) for up to {say(session - back)} — leave "
                "group.instance.id out, or restart later",
                place_of(action),
            )
