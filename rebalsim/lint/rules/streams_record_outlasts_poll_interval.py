"""Records that take so long that a stream thread does not come back to poll() in time."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import round_up, say, say_setting
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.streams_facts import all_tasks, applications, place

RULE = Rule(
    id="streams-record-outlasts-poll-interval",
    heading="Kafka Streams",
    title="Processing outlasts max.poll.interval.ms",
    what="A likely worst record of each of a thread's tasks, one after another, takes longer than "
    "half of max.poll.interval.ms.",
    why="A stream thread does not process all that poll() brought at one go: it goes round its "
    "tasks, and polls again as soon as half of max.poll.interval.ms is over. It looks at the clock "
    "after each round only, so the last one may take the other half and more: then the thread is "
    "thrown out, its tasks move, and whoever gets them meets the same records.",
    fix="Raise max.poll.interval.ms above twice such a round, take slow calls out of the thread, or "
    "run more threads, so that each has fewer tasks.",
    example="handler: {per_record: 20s}\nmax.poll.interval.ms: 1m        # 3 tasks a thread → 2m",
    source="StreamThread.runOnceWithoutProcessingThreads: the loop ends when half of "
    "max.poll.interval.ms has passed since poll().",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group, app, members in applications(scenario):
        threads = len(members) * app.config.num_stream_threads
        if not threads:
            continue
        tasks = -(-all_tasks(scenario, app) // threads)
        limit = min(member.config.max_poll_interval_us for member in members)
        costs = (app.per_record if p.per_record is None else p.per_record for p in app.parts)
        took = int(tasks * max(map(high, costs), default=0.0))
        if took * 2 > limit:
            needed = max(MINUTE, round_up(2 * took, 10_000_000))
            yield Finding(
                f"a round of a thread's {tasks} tasks takes up to {say(took)}, and the clock is "
                f"looked at after it only: longer than half of max.poll.interval.ms {say(limit)} — "
                f"write max.poll.interval.ms: {say_setting(needed)}",
                place(group),
            )
