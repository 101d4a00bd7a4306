"""A Streams application with a large store, and no standby of it."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import applications, place, restore_us

LIMIT_US = 1 * MINUTE

RULE = Rule(
    id="streams-store-without-standby",
    heading="Kafka Streams",
    title="A large store, and no standby of it",
    what="Restoring a task's stores from nothing takes longer than a minute, and there are no "
    "standbys.",
    why="When an instance is lost with its disk, or stays away, its tasks stand still until "
    "somebody has read their changelogs from the beginning; nobody else has a copy. A standby "
    "follows the changelog all along, and takes over as soon as the session has run out.",
    fix="Write num.standby.replicas: 1 (streams.num.standby.replicas of the group under the "
    "streams protocol).",
    example="streams:\n  topology: [{source: orders, store: 60GB}]\n"
    "  config: {num.standby.replicas: 0}   # → 1",
    source="Kafka Streams: num.standby.replicas; KIP-441.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        took = restore_us(scenario, app)
        if took > LIMIT_US and app.config.standbys == 0 and len(members) > 1:
            yield Finding(
                f"a task's state takes {say(took)} to restore from nothing, and nobody has a copy "
                f"of it — write {app.config.standbys_key}: 1",
                place(group),
                fix=((f"streams.config.{app.config.standbys_key}", "1"),),
            )
