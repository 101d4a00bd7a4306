"""A surge pod with the id of the pod it replaces: two live members with one id, and one of them
is fenced.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import is_classic, is_static, named
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of
from rebalsim.words.lists import plural

RULE = Rule(
    id="surge-shares-static-id",
    heading="Static members",
    title="A surge pod starts with an instance id that is still in use",
    what="A bounce with surge starts consumers whose group.instance.id belongs to a consumer that "
    "has not stopped yet.",
    why="Within a group an instance id has one owner. Under the classic protocol the newcomer "
    "takes it over and the old consumer, still at "
    "work, gets FENCED_INSTANCE_ID and dies with what it has not committed. Under the consumer "
    "protocol it is the newcomer that is "
    "refused (UNRELEASED_INSTANCE_ID) and dies.",
    fix="Restart static members in place, without surge (a StatefulSet does); or give surge pods "
    "no group.instance.id.",
    example=(
        'group.instance.id: "orders-{n}"\n'
        "rolling_bounce: {as: deployment, surge: 1}\n"
        "# new orders-0 beside old orders-0"
    ),
    source="GroupMetadataManager (static join replaces the member; KIP-848: "
    "UnreleasedInstanceIdException); KIP-345.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, RollingBounce):
        if not deed.surge:
            continue
        statics = [c for c in named(scenario, deed.consumers) if is_static(c)]
        old = {c.config.group_instance_id: c for c in statics}
        shared = [c for c in deed.surge_consumers if c.config.group_instance_id in old]
        if shared:
            first, its_id = shared[0], shared[0].config.group_instance_id
            outcome = (
                f"the old {old[its_id].name} is fenced (FENCED_INSTANCE_ID) while it works"
                if is_classic(first)
                else f"the new {first.name} is refused (UNRELEASED_INSTANCE_ID)"
            )
            yield Finding(
                f"surge starts {plural(len(shared), 'consumer')} with an instance id still in "
                f"use (such as {its_id}): {outcome} — write surge: 0 for static members, or "
                "leave group.instance.id out",
                place_of(action),
            )
