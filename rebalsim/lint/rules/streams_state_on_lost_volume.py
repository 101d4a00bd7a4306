"""State in a directory that does not survive a restart."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash, RollingBounce
from rebalsim.lint.facts import say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import place_of
from rebalsim.lint.streams_facts import applications, restore_us

LIMIT_US = 10 * SECOND

RULE = Rule(
    id="streams-state-on-lost-volume",
    heading="Kafka Streams",
    title="State that does not survive a restart",
    what="An instance is restarted, its state directory is lost with it (volume: lost, as an "
    "emptyDir is), and restoring a task takes longer than 10 s.",
    why="The checkpoint in the state directory is what makes a restart cheap: without it each task "
    "is restored from the beginning of its changelog. Static ids make it worse, since the "
    "instance is given its tasks back at once, and without their state.",
    fix="Keep the state directory on a volume (a StatefulSet's volumeClaimTemplates), and keep a "
    "standby.",
    example="streams: {topology: [{source: orders, store: 6GB}], volume: lost}   # → kept",
    source="Kafka Streams: state.dir and its .checkpoint files.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for _, app, _ in applications(scenario):
        took = restore_us(scenario, app)
        if app.volume != "lost" or took <= LIMIT_US:
            continue
        for action in scenario.script:
            deed = action.deed
            returns = isinstance(deed, Crash) and deed.restart_after is not None
            if returns or isinstance(deed, RollingBounce):
                yield Finding(
                    f"who is restarted comes back without its state: {say(took)} for each task — "
                    "write volume: kept (a StatefulSet with a volume)",
                    place_of(action),
                    fix=(("streams.volume", "kept"),),
                )
