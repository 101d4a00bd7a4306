"""Dynamic instances that are restarted: close() leaves no classic group."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import is_static, named, say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of
from rebalsim.lint.streams_facts import applications, is_classic

RULE = Rule(
    id="streams-restart-waits-for-session",
    heading="Kafka Streams",
    title="A restarted instance's tasks wait for its whole session",
    what="Dynamic instances of the classic protocol are restarted, and their close does not leave "
    "the group.",
    why="KafkaStreams.close() never leaves the group, unless CloseOptions tell it to. The "
    "restarted process comes as a new member, and the coordinator waits for the old one: its "
    "tasks stand still for session.timeout.ms (45 s by default), however fast the restart is.",
    fix="Give instances a group.instance.id, or close with CloseOptions that leave the group "
    "(close: leave).",
    example='rolling_bounce: {members: all, down: 5s}\n# → config: {group.instance.id: "{name}"}',
    source="StreamsConfig: internal.leave.group.on.close; KIP-812, KIP-1153.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for _, app, _ in applications(scenario):
        if not is_classic(app) or app.close == "leave":
            continue
        for action, deed in deeds_of(scenario, RollingBounce):
            waits = [c for c in named(scenario, deed.consumers) if not is_static(c)]
            if waits:
                session = max(c.config.session_timeout_us for c in waits)
                yield Finding(
                    "close() leaves no classic group: each restarted instance's tasks stand still "
                    f"for the session of {say(session)}, however fast it is back — "
                    'write group.instance.id: "{name}", or close: leave',
                    place_of(action),
                    fix=(("group.instance.id", '"{name}"'),),
                )
