"""One instance id in two groups: harmless to Kafka, and nearly always a copied setting."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import everyone
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

RULE = Rule(
    id="static-id-in-two-groups",
    heading="Static members",
    title="One instance id is used in two groups",
    what="The same group.instance.id appears in more than one group. (Twice within one group is "
    "an error, not a warning.)",
    why="Kafka keeps instance ids per group, so nobody is fenced by it. But it usually means "
    "that one application's settings were copied "
    "to another: broker logs and admin tools name members by that id, and on the day when both "
    "use one group.id they fence each other.",
    fix="Let the id begin with the application's or the group's name.",
    example=(
        'group.instance.id: "consumer-{n}"\n'
        '# in orders and in billing → "orders-{n}", "billing-{n}"'
    ),
    source="ClassicGroup keeps its static members by instance id; KIP-345.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    groups: dict[str, dict[str, str]] = {}
    for consumer in everyone(scenario):
        if consumer.config.group_instance_id is not None:
            groups.setdefault(consumer.config.group_instance_id, {}).setdefault(
                consumer.group, consumer.name
            )
    shared = [(instance, found) for instance, found in groups.items() if len(found) > 1]
    if shared:
        instance, found = shared[0]
        more = f" (and {len(shared) - 1} more ids)" if len(shared) > 1 else ""
        yield Finding(
            f"group.instance.id {instance} is used in groups {' and '.join(found)}{more}: "
            "nothing is fenced across groups, but it looks copied "
            "— begin the id with the group's name",
            Place("consumer", list(found.values())[1], "group.instance.id"),
        )
