"""Eager and cooperative members side by side: the cooperative ones' second round stops the eager
ones again.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import alike, at_start, is_classic, protocol_of, say_names
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="mixed-protocols",
    heading="Assignors and groups",
    title="Eager and cooperative members in one group",
    what="Members of one group start with assignor lists of which some run eager and some "
    "cooperative.",
    why="Each client follows its own protocol, whatever assignor the group chose. At every "
    "rebalance the eager ones stop all of their "
    "partitions; whenever a cooperative one has to give something up, its second round stops the "
    "eager ones once more. That is worse "
    "than either protocol alone. It is meant to last for one bounce of a migration only.",
    fix="Give all members the same list: cooperative-sticky alone.",
    example="a: [cooperative-sticky, range]   # eager\nb: [cooperative-sticky]          # "
    "cooperative",
    source="ConsumerCoordinator.onJoinPrepare and onJoinComplete act by the client's own protocol; "
    "KIP-429.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for group in scenario.groups:
        kinds = dict(alike([c for c in at_start(group) if is_classic(c)], protocol_of))
        if len(kinds) > 1:
            eager, cooperative = kinds["eager"], kinds["cooperative"]
            yield Finding(
                f"{say_names(eager)} run{'s' if len(eager) == 1 else ''} eager and "
                f"{say_names(cooperative)} cooperative in group {group.name}: "
                "every hand-over between cooperative members stops the eager ones twice — write "
                "partition.assignment.strategy: "
                "[cooperative-sticky] for all",
                Place("consumer", eager[0].name, "partition.assignment.strategy"),
            )
