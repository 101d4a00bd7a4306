"""Auto-commit with long batches: a crash or an expulsion hands whole batches out again."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, full_batch, say, say_names, work_of
from rebalsim.lint.figures import usual_batch_us
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.rules.heavy_batch import LIMIT_US

RULE = Rule(
    id="auto-commit-long-batches",
    heading="Handlers and commits",
    title="Auto-commit waits for batches that take longer than its interval",
    what="Commits are automatic and a full batch takes longer than auto.commit.interval.ms. "
    "(Batches of more than 10 s are heavy-batch's, "
    "which says this too.)",
    why="Auto-commit runs inside poll() only: between two polls nothing is committed, whatever "
    "auto.commit.interval.ms says. When a member "
    "dies or is expelled in the middle of a batch, all of the batch that it had handled is "
    "delivered again to the next owner.",
    fix="Lower max.poll.records so that a batch is shorter than auto.commit.interval.ms, or "
    "commit each batch yourself (commit: "
    "sync-batch) and make the handler idempotent: at least once means that it will happen.",
    example="enable.auto.commit: true\nauto.commit.interval.ms: 5s\nmax.poll.records: 500        "
    "  # "
    "× 15 ms = 7.5 s without any commit",
    source="ConsumerCoordinator.maybeAutoCommitOffsetsAsync, called from ConsumerCoordinator.poll.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def figures(c: Consumer) -> tuple[Handler, int, int, object]:
        config = c.config
        return c.handler, config.auto_commit_interval_us, config.max_poll_records, work_of(c)

    consumers = [c for c in everyone(scenario) if c.commits_itself]
    for (handler, interval, *_), who in alike(consumers, figures):
        records = full_batch(scenario, who[0])
        usual = usual_batch_us(scenario, handler, records)
        if records < 2 or not interval < usual <= LIMIT_US:
            continue
        fewer = max(1, int(records * interval / 2 / usual))
        yield Finding(
            f"auto-commit comes only between batches, and a full batch of {say_names(who)} "
            f"({records} records) takes about {say(usual)}, "
            f"longer than auto.commit.interval.ms {say(interval)}: a crash delivers up to "
            f"{records} handled records again — write "
            f"max.poll.records: {fewer}, or commit: sync-batch",
            Place("consumer", who[0].name, "max.poll.records|per_record|handler"),
            fix=(("max.poll.records", str(fewer)),),
        )
