"""Stream threads that have nothing to do."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import all_tasks, applications, place

RULE = Rule(
    id="streams-threads-without-task",
    heading="Kafka Streams",
    title="More stream threads than tasks",
    what="All instances' threads together are more than the application's tasks.",
    why="A task is worked on by one thread, and there is a task for each partition of a "
    "sub-topology's largest source. A thread more is a member more: it takes part in each "
    "rebalance, holds it up with its heartbeat, and processes nothing.",
    fix="Run fewer threads (num.stream.threads) or instances, or give the topics more partitions.",
    example="topics: {orders: 6}\nmembers: 4\nstreams: {config: {num.stream.threads: 4}}   # → 1",
    source="Kafka Streams, architecture: tasks are the unit of parallelism.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        tasks = all_tasks(scenario, app)
        threads = len(members) * app.config.num_stream_threads
        if threads > tasks > 0:
            yield Finding(
                f"{threads} threads share {tasks} tasks, so {threads - tasks} of them have none — "
                "write a smaller num.stream.threads, or run fewer instances",
                place(group),
                fix=(("streams.config.num.stream.threads", str(max(1, tasks // len(members)))),),
            )
