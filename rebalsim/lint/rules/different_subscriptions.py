"""Members of one group read different topics: each topic's troubles rebalance them all."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, at_start, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="different-subscriptions",
    heading="Assignors and groups",
    title="Members of one group read different topics",
    what="Members of one group start with different subscriptions.",
    why="A group rebalances as a whole: a deploy of those that read one topic stops (eager) or "
    "disturbs (cooperative) those that read "
    "another, although no partition could move between them. The sticky assignors use their "
    "general algorithm then, which is slower "
    "and balances less well.",
    fix="Give applications that read different topics a group of their own each.",
    example="a: topics: [orders]\nb: topics: [billing]               # one group → two",
    source="AbstractStickyAssignor (constrained and general algorithm); one rebalance per group, "
    "whatever the topics.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    def subscription(c: Consumer) -> tuple[tuple[str, ...], str | None]:
        return tuple(sorted(c.topics)), c.pattern

    for group in scenario.groups:
        kinds = list(alike(at_start(group), subscription))
        if len(kinds) > 1:
            told = "; ".join(
                f"{say_names(who)}: {', '.join(topics) or pattern}"
                for (topics, pattern), who in kinds[:3]
            )
            yield Finding(
                f"group {group.name} has {len(kinds)} different subscriptions "
                f"({told}{' …' if len(kinds) > 3 else ''}): whatever happens to "
                "one of them rebalances the others too — give each a group of its own",
                Place("group", group.name, "topics"),
            )
