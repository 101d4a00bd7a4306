"""Facts of a Kafka Streams application that several rules ask for: its tasks, what of its state a
task has, and how long that takes to restore.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Group, Scenario
from rebalsim.domain.streams import StreamsApp, StreamsPart
from rebalsim.lint.facts import at_start
from rebalsim.lint.finding import Place

RECORD_US = 2.0  # what a restored record costs beside its bytes


def applications(scenario: Scenario) -> Iterator[tuple[Group, StreamsApp, list[Consumer]]]:
    """Each application with its instances at the start."""
    for group in scenario.groups:
        if group.streams is not None:
            yield group, group.streams, list(at_start(group))


def place(group: Group) -> Place:
    """The application, where its group is written."""
    return Place("group", group.name, "streams")


def tasks_of(scenario: Scenario, app: StreamsApp, part: StreamsPart) -> int:
    """A task for each partition of its largest source."""
    counts = {topic.name: topic.partitions for topic in scenario.topics}
    counts.update(app.repartition_topics)
    return max((counts.get(name, 0) for name in part.sources), default=0)


def all_tasks(scenario: Scenario, app: StreamsApp) -> int:
    return sum(tasks_of(scenario, app, part) for part in app.parts)


def records_of_a_task(scenario: Scenario, app: StreamsApp) -> int:
    """Changelog records of the task that has the most."""
    return max(
        (
            sum(store.records for store in part.stores) // max(1, tasks_of(scenario, app, part))
            for part in app.parts
        ),
        default=0,
    )


def restore_us(scenario: Scenario, app: StreamsApp) -> int:
    """From nothing, the task that takes the longest."""
    longest = 0.0
    for part in app.parts:
        tasks = max(1, tasks_of(scenario, app, part))
        for_all = sum(
            store.records * (RECORD_US + store.record_bytes * SECOND / app.restore_bytes_per_second)
            for store in part.stores
        )
        longest = max(longest, for_all / tasks)
    return int(longest)


def is_classic(app: StreamsApp) -> bool:
    return app.config.uses_classic_protocol
