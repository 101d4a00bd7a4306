"""More standbys wanted than there are other instances."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import applications, place

RULE = Rule(
    id="streams-standbys-without-instance",
    heading="Kafka Streams",
    title="More standbys than other instances",
    what="Each task shall have as many standbys as there are instances, or more.",
    why="A copy on the instance that has the task itself would be lost with it, so Kafka puts "
    "none there: with n instances at most n - 1 standbys find a place. The rest is a warning in "
    "the log, and one instance less is one copy less.",
    fix="Ask for fewer standbys, or run more instances; stream threads do not count.",
    example="members: 2\nstreams: {config: {num.standby.replicas: 2}}   # → 1",
    source="HighAvailabilityTaskAssignor and StickyTaskAssignor: 'Unable to assign … of … standby "
    "tasks'.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        wanted, instances = app.config.standbys, len(members)
        if instances and wanted >= instances:
            yield Finding(
                f"{wanted} standbys of each task find no place on {instances} instances (Kafka logs "
                f"“Unable to assign {wanted - instances + 1} of {wanted} standby tasks”) — write "
                f"{app.config.standbys_key}: {instances - 1}",
                place(group),
                fix=((f"streams.config.{app.config.standbys_key}", str(instances - 1)),),
            )
