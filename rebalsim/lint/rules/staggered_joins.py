"""Members that join one after another, each after the group has settled: one rebalance each."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Join, Scale
from rebalsim.lint.facts import at_start, group_of, heartbeat_us, is_classic, protocol_of, say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import of_action, place_of

RULE = Rule(
    id="staggered-joins",
    heading="Deploys and scaling",
    title="Joining one by one costs a rebalance each",
    what="Three or more consumers join a running classic group with a stagger of at least a "
    "heartbeat interval.",
    why="Joins that reach the coordinator while a rebalance is still collecting members share "
    "it. With a stagger longer than members need "
    "to hear of it (one heartbeat interval), each newcomer starts a rebalance of its own: eager "
    "groups stop each time, cooperative "
    "ones take two rounds each time, and partitions move to one newcomer only to move on to the "
    "next.",
    fix="Start the newcomers together (stagger: 0s), or at least within a heartbeat interval.",
    example=(
        "scale: {to: 10, stagger: 10s}\n"
        "# from 4: 6 rebalances (12 rounds when cooperative) → stagger: 0s"
    ),
    source="GroupMetadataManager.prepareRebalance: a join while PreparingRebalance is taken into "
    "the same generation.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    counts = {g.name: len(at_start(g)) for g in scenario.groups}
    for action in scenario.script:
        deed = action.deed
        joining: tuple[Consumer, ...] = ()
        if isinstance(deed, Join):
            joining = deed.consumers
            for c in joining:
                counts[c.group] = counts.get(c.group, 0) + 1
        elif isinstance(deed, Scale):
            joining = deed.joiners[: max(0, deed.to - counts.get(deed.group, 0))]
            counts[deed.group] = deed.to
        if not isinstance(deed, Join | Scale) or len(joining) < 3:
            continue
        first = joining[0]
        if (
            is_classic(first)
            and deed.stagger_us >= heartbeat_us(scenario, first)
            and at_start(group_of(scenario, first.group))
        ):
            rounds = (
                f", {2 * len(joining)} rounds in all" if protocol_of(first) == "cooperative" else ""
            )
            yield Finding(
                f"{len(joining)} consumers join {say(deed.stagger_us)} apart, longer than the "
                "others need to hear of it "
                f"({say(heartbeat_us(scenario, first))}): {len(joining)} rebalances{rounds} "
                "instead of one — write stagger: 0s",
                place_of(action),
                fix=((of_action(action, "stagger"), "0s"),),
            )
