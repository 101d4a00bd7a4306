"""The default list [range, cooperative-sticky] (or any such mix) runs eager."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import COOPERATIVE, alike, everyone, is_classic, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of

RULE = Rule(
    id="default-list-runs-eager",
    heading="Assignors and groups",
    title="A list with cooperative-sticky and an eager assignor runs eager",
    what="partition.assignment.strategy names cooperative-sticky together with an assignor that "
    "is eager only (as Kafka's default list, "
    "[range, cooperative-sticky], does), and the script does not go on to cooperative-sticky "
    "alone. In the variant `eager`, which is "
    "there to show it, only where the file itself gives the list.",
    why="A client takes part in the highest protocol that all of its assignors support. One "
    "eager assignor in the list makes it eager: "
    "all partitions of all members stop at each rebalance, although cooperative-sticky is "
    "configured. The list exists as a step of a "
    "migration, and many stay on it without knowing.",
    fix="Write cooperative-sticky alone. On a running group that uses the default list one "
    "rolling bounce does it; from range alone it "
    "takes two (first the list, then cooperative-sticky alone).",
    example="partition.assignment.strategy: [range, cooperative-sticky]\n# → [cooperative-sticky]",
    source="ConsumerCoordinator's constructor (highest protocol common to all assignors); KIP-429.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    migrating = {
        c.name
        for _, deed in deeds_of(scenario, RollingBounce)
        for c in deed.deploy.consumers
        if c.config.partition_assignment_strategy == (COOPERATIVE,) or not is_classic(c)
    }
    mixed = [
        c
        for c in everyone(scenario)
        if is_classic(c)
        and c.name not in migrating
        and {COOPERATIVE} < set(c.config.partition_assignment_strategy)
    ]
    for listed, who in alike(mixed, lambda c: c.config.partition_assignment_strategy):
        yield Finding(
            f"partition.assignment.strategy [{', '.join(listed)}] runs eager, cooperative-sticky "
            "in it or not: each rebalance stops every "
            f"partition of {say_names(who)} — write partition.assignment.strategy: "
            "[cooperative-sticky]",
            Place("consumer", who[0].name, "partition.assignment.strategy"),
            only_if_said=scenario.variant == "eager",
            fix=(("partition.assignment.strategy", "[cooperative-sticky]"),),
        )
