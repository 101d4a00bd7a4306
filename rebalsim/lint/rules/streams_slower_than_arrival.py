"""An application whose threads together are slower than records arrive: it never catches up."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.draws import mean_of
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.streams import StreamsApp, StreamsPart
from rebalsim.lint.facts import average_rate
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import all_tasks, applications, place, tasks_of

RULE = Rule(
    id="streams-slower-than-arrival",
    heading="Kafka Streams",
    title="Records arrive faster than an application's threads handle them",
    what="What arrives in a second, at what a record costs in each sub-topology, with what "
    "punctuators take, is more than a second of each thread that has a task.",
    why="Such a lag grows without any rebalance, and what a pause adds to it stays for good: tasks "
    "restored in no time are as far behind as before.",
    fix="Run more threads or instances (up to one thread for each task), make processing quicker, or "
    "check the rates.",
    example="topics: orders at 1200/s\nhandler: 5ms, 3 threads    # 600/s at best",
    source="Arithmetic; a stream thread processes its tasks' records one after another.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        threads = min(len(members) * app.config.num_stream_threads, all_tasks(scenario, app))
        needed = sum(_busy(scenario, app, part) for part in app.parts)
        if threads and needed > threads:
            yield Finding(
                f"processing what arrives in a second takes {needed:.1f} s, and there are {threads} "
                f"threads with tasks: the lag grows, rebalance or not — run at least "
                f"{int(needed) + 1} threads on as many tasks, or make processing quicker",
                place(group),
            )


def _busy(scenario: Scenario, app: StreamsApp, part: StreamsPart) -> float:
    """Seconds of work that a second brings."""
    rates = {topic.name: average_rate(scenario, topic) for topic in scenario.topics}
    for _ in app.repartition_topics:
        for name, _count in app.repartition_topics:
            writers = [each for each in app.parts if name in each.writes_to]
            rates[name] = sum(rates.get(s, 0.0) for writer in writers for s in writer.sources)
    cost = mean_of(app.per_record if part.per_record is None else part.per_record)
    called = sum(mean_of(each.takes) / each.every_us for each in part.punctuators)
    arriving = sum(rates.get(name, 0.0) for name in part.sources)
    return arriving * cost / 1e6 + called * tasks_of(scenario, app, part)
