"""A surge bounce of dynamic members: a join and a leave per pod, at different times."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import is_static, named, protocol_of
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, of_action, place_of

RULE = Rule(
    id="surge-of-dynamic-members",
    heading="Deploys and scaling",
    title="A surge bounce moves partitions twice per pod",
    what="A rolling bounce with surge, as a Deployment does it, replaces dynamic members a few at "
    "a time.",
    why="The new pod joins while the old one still runs: one disturbance, and partitions move to "
    "it. Later the old one leaves: another "
    "one, and partitions move again, some of them to pods that will be replaced next. With "
    "cooperative members a join takes two "
    "rounds (give up, take over). Eager ones stop the whole group each time.",
    fix="Where a short stop is acceptable, replace all pods at once (surge as large as the "
    "group): the joins merge into one or two "
    "rebalances. Else run a StatefulSet with group.instance.id from the pod's name, restarted in "
    "place.",
    example=("rolling_bounce: {as: deployment, surge: 3}\n# 12 pods: up to 24 disturbances"),
    source="GroupMetadataManager: prepareRebalance on each join and on each leave; KIP-429 for the "
    "second round.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, RollingBounce):
        if not deed.surge:
            continue
        leaving = [c for c in named(scenario, deed.consumers) if not is_static(c)]
        if len(leaving) < 2 or deed.surge >= len(leaving):
            continue
        count = 2 * len(leaving) * max(1, action.times)
        cooperative = protocol_of(leaving[0]) == "cooperative"
        yield Finding(
            f"a surge of {deed.surge} over {len(leaving)} dynamic members makes up to {count} "
            "disturbances "
            f"({'joins of two rounds each' if cooperative else 'a join'} and a leave per pod), "
            "and partitions move to pods that are replaced "
            f"next — surge all {len(leaving)} at once, or restart static members in place",
            place_of(action),
            fix=((of_action(action, "surge"), str(len(leaving))),),
        )
