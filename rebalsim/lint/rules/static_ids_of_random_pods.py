"""Static ids that a replaced pod does not take over: each restart leaves a ghost that owns
partitions.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import is_classic, is_static, named, say, session_us
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of

RULE = Rule(
    id="static-ids-of-random-pods",
    heading="Static members",
    title="Replaced static members leave ghosts",
    what="A bounce replaces static members by consumers with other instance ids, as it is when "
    "group.instance.id is taken from a "
    "Deployment's random pod names.",
    why="A static member sends no LeaveGroup when it closes; it is expected back under the same "
    "id. A pod with a new id is a new member, "
    "and the old id stays in the group until its session runs out: its partitions are read by "
    "nobody, and the rebalance that the new "
    "pod triggers waits at the barrier for the ghost. Static membership then makes each deploy "
    "worse than dynamic members would.",
    fix="Use a StatefulSet, whose pod names stay; or leave group.instance.id out in a Deployment.",
    example=("group.instance.id: ${POD_NAME}\n# orders-7d9f4-x2x9k: new with each rollout"),
    source="ConsumerCoordinator / AbstractCoordinator.maybeLeaveGroup (dynamic members only); "
    "KIP-345.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, RollingBounce):
        back = {c.name for c in deed.deploy.consumers}
        new = (*deed.surge_consumers, *deed.deploy.consumers)
        new_ids = {c.config.group_instance_id for c in new}
        ghosts = [
            c
            for c in named(scenario, deed.consumers)
            if is_static(c)
            and c.config.group_instance_id not in new_ids
            and (deed.surge_consumers or c.name in back)
        ]
        if ghosts:
            session = max(session_us(scenario, c) for c in ghosts)
            barrier = " and holds the barrier" if is_classic(ghosts[0]) else ""
            yield Finding(
                f"{len(ghosts)} static member{'s' if len(ghosts) > 1 else ''} "
                f"come{'' if len(ghosts) > 1 else 's'} back under another "
                f"group.instance.id: each old id (such as {ghosts[0].config.group_instance_id}) "
                "stays as a ghost that owns its partitions"
                f"{barrier} for up to {say(session)} — use ids that outlive the pod (a "
                "StatefulSet), or no group.instance.id",
                place_of(action),
            )
