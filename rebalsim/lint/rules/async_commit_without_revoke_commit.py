"""Asynchronous commits and none on revoke: the last ones are lost when partitions move."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.commit_style import CommitOnRevoke, CommitStyle
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, full_batch, say_names, work_of
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.words.lists import verb

RULE = Rule(
    id="async-commit-without-revoke-commit",
    heading="Handlers and commits",
    title="Asynchronous commits, and none on revoke",
    what="The handler commits asynchronously and commits nothing in onPartitionsRevoked.",
    why="commitAsync is sent once and never retried: it fails silently while the group "
    "rebalances or the coordinator moves. Without a "
    "synchronous commit in onPartitionsRevoked nothing makes up for it, and the next owner "
    "starts from the last one that arrived.",
    fix="Keep commitAsync for the usual batches and add one commitSync on revoke "
    "(commit_on_revoke: once).",
    example="commit: async\ncommit_on_revoke: none         # → once",
    source="ConsumerCoordinator.commitOffsetsAsync (no retry); ConsumerRebalanceListener's "
    "documentation asks for the commit on revoke.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    careless = [
        c
        for c in everyone(scenario)
        if c.handler.commit is CommitStyle.ASYNC
        and c.handler.commit_on_revoke is CommitOnRevoke.NONE
    ]
    for _, who in alike(careless, lambda c: (c.config.max_poll_records, work_of(c))):
        records = full_batch(scenario, who[0])
        yield Finding(
            f"{say_names(who)} {verb(who, 'commits', 'commit')} asynchronously and not on "
            "revoke: a commit that fails as partitions move is "
            f"not repeated, and up to "
            f"{max(1, records)} handled records a batch come again — write commit_on_revoke: once",
            Place("consumer", who[0].name, "commit_on_revoke"),
            fix=(("handler.commit_on_revoke", "once"),),
        )
