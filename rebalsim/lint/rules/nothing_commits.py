"""Nobody commits: every change of owner starts where auto.offset.reset says."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.commit_style import CommitOnRevoke
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, everyone, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.words.lists import verb

RULE = Rule(
    id="nothing-commits",
    heading="Handlers and commits",
    title="Nobody commits offsets",
    what="enable.auto.commit is false and the handler commits neither after records or batches "
    "nor on revoke.",
    why="Without a committed offset each new owner of a partition starts where auto.offset.reset "
    "says: at the end (latest), and all that "
    "arrived during the pause is skipped in silence, or at the beginning (earliest), and "
    "everything is handled again.",
    fix="Commit after each batch (commit: sync-batch), or let the client do it "
    "(enable.auto.commit: true).",
    example=(
        "enable.auto.commit: false\n"
        "commit: none\n"
        "# each rebalance loses or repeats records → commit: sync-batch"
    ),
    source="ConsumerCoordinator.initWithCommittedOffsetsIfNeeded; SubscriptionState resets "
    "positions that have no offset.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    silent = [
        c
        for c in everyone(scenario)
        if not c.config.enable_auto_commit
        and not c.handler.commit.is_of_the_application
        and c.handler.commit_on_revoke is CommitOnRevoke.NONE
    ]
    for reset, who in alike(silent, lambda c: c.config.auto_offset_reset):
        outcome = {
            "latest": "skips what arrived during the pause",
            "earliest": "handles the whole partition again",
        }.get(reset, "stops with NoOffsetForPartitionException")
        yield Finding(
            f"{say_names(who)} never {verb(who, 'commits', 'commit')} (enable.auto.commit is "
            "false, the handler commits nothing): with "
            f"auto.offset.reset {reset} every "
            f"new owner {outcome} — write commit: sync-batch",
            Place("consumer", who[0].name, "commit"),
            fix=(("handler.commit", "sync-batch"),),
        )
