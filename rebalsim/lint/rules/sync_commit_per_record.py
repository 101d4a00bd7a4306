"""A synchronous commit after each record: the round trip becomes part of every record's cost."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, full_batch, say, say_names, work_of
from rebalsim.lint.figures import commit_round_trip_us, mean
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.words.lists import verb

RULE = Rule(
    id="sync-commit-per-record",
    heading="Handlers and commits",
    title="A synchronous commit after each record",
    what="The handler commits synchronously per record (commit: sync-record).",
    why="Each commit is a request to the coordinator that waits for its log, so a record costs a "
    "round trip more than its work. That "
    "bounds the throughput of a member, makes batches long (and rebalances wait for them), and "
    "loads __consumer_offsets with a write "
    "per record. It saves at most the duplicates of one batch.",
    fix="Commit once a batch (commit: sync-batch) and commit on revoke; make the handler "
    "idempotent, which it must be anyway.",
    example=("commit: sync-record\n# 500 records × 4 ms = 2 s of every batch spent on commits"),
    source="KafkaConsumer.commitSync blocks until OffsetCommit is answered; the broker answers "
    "once "
    "the write is committed.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    consumers = [c for c in everyone(scenario) if c.handler.commit is CommitStyle.EACH_RECORD]
    trip = commit_round_trip_us(scenario)
    for (handler, *_), who in alike(
        consumers, lambda c: (c.handler, c.config.max_poll_records, work_of(c))
    ):
        records = max(1, full_batch(scenario, who[0]))
        most = 1e6 / max(1.0, trip + mean(handler.per_record))
        yield Finding(
            f"{say_names(who)} {verb(who, 'commits', 'commit')} synchronously after each record, "
            f"about {say(trip)} each time: "
            f"{say(records * trip)} of a batch of "
            f"{records}, and no member handles more than {most:,.0f} records/s — write commit: "
            "sync-batch",
            Place("consumer", who[0].name, "commit|handler"),
            fix=(("handler.commit", "sync-batch"),),
        )
