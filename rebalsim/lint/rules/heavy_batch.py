"""Many records a poll with a heavy handler: every rebalance waits for the batch at hand."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, full_batch, say, say_names, work_of
from rebalsim.lint.figures import usual_batch_us, worst_batch_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

LIMIT_US = 10 * SECOND

RULE = Rule(
    id="heavy-batch",
    heading="Handlers and commits",
    title="A full batch keeps the poll loop busy for long",
    what="A full batch (max.poll.records at the handler's mean cost) takes longer than 10 s, "
    "though it fits into max.poll.interval.ms.",
    why="A client takes part in a rebalance only inside poll(). A member that hears of one at "
    "its heartbeat finishes its batch first; all "
    "others stand at the barrier until it does (eager: without their partitions). A cooperative "
    "hand-over needs up to four polls a "
    "round, so it takes about three batches. With auto-commit nothing is committed meanwhile "
    "either.",
    fix="Lower max.poll.records until a full batch takes a few seconds. Throughput hardly "
    "changes: records come from the client's "
    "buffer, not from a fetch per poll.",
    example=("max.poll.records: 500          # × 40 ms a record = 20 s a batch\n# → 125: 5 s"),
    source="KafkaConsumer.poll drives ConsumerCoordinator.poll; max.poll.records only slices what "
    "the Fetcher has buffered.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for (handler, limit, *_), who in alike(
        [c for c in everyone(scenario) if c.awaits_poll],
        lambda c: (c.handler, c.config.max_poll_interval_us, c.config.max_poll_records, work_of(c)),
    ):
        records = full_batch(scenario, who[0])
        usual = usual_batch_us(scenario, handler, records)
        if records < 2 or usual <= LIMIT_US or worst_batch_us(scenario, handler, records) > limit:
            # one record that takes so long can't be helped by fewer records; a batch beyond the
            # limit has a rule of its own
            continue
        fewer = max(1, int(records * 5 * SECOND / usual))
        uncommitted = (
            f", with nothing committed meanwhile ({records} records come twice after a crash)"
            if who[0].commits_itself
            else ""
        )
        yield Finding(
            f"max.poll.records {who[0].config.max_poll_records} makes a full batch of "
            f"{say_names(who)} ({records} records) take about "
            f"{say(usual)}, and every rebalance waits for it{uncommitted} — write "
            f"max.poll.records: {fewer}",
            Place("consumer", who[0].name, "max.poll.records|per_record|handler"),
            fix=(("max.poll.records", str(fewer)),),
        )
