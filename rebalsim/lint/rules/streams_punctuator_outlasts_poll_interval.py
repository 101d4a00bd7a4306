"""Punctuators that keep a stream thread from poll() for longer than max.poll.interval.ms."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import round_up, say, say_setting
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import applications, place, tasks_of

RULE = Rule(
    id="streams-punctuator-outlasts-poll-interval",
    heading="Kafka Streams",
    title="Punctuators outlast max.poll.interval.ms",
    what="A punctuator's calls for all of a thread's tasks, one after another, take longer than "
    "max.poll.interval.ms.",
    why="Punctuators run in the stream thread, and are called for all of its tasks before it polls "
    "again. Nothing else runs in it meanwhile; past max.poll.interval.ms it is thrown out of the "
    "group, its tasks move, and whoever gets them punctuates as well.",
    fix="Do less in a call, or do it outside the thread; run more threads, so that each has fewer "
    "tasks; or raise max.poll.interval.ms above such a round.",
    example="punctuators: [{every: 10m, takes: 30s}]\nmax.poll.interval.ms: 1m   # 3 tasks → 2m",
    source="TaskManager.punctuate goes through all running tasks within "
    "StreamThread.runOnceWithoutProcessingThreads, between two polls.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        threads = len(members) * app.config.num_stream_threads
        if not threads:
            continue
        limit = min(member.config.max_poll_interval_us for member in members)
        for part in app.parts:
            tasks = -(-tasks_of(scenario, app, part) // threads)
            for each in part.punctuators:
                took = int(tasks * high(each.takes))
                if took > limit:
                    needed = max(MINUTE, round_up(took, 10_000_000))
                    yield Finding(
                        f"a punctuator takes up to {say(took)} for a thread's {tasks} tasks, longer "
                        f"than max.poll.interval.ms {say(limit)}: the thread is thrown out each "
                        f"time — write max.poll.interval.ms: {say_setting(needed)}, or do less in a "
                        "call",
                        place(group),
                    )
