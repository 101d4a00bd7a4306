"""A bounce that swaps assignors without one in common: the first restarted member is refused."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import RollingBounce
from rebalsim.lint.facts import everyone, is_classic
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, place_of

RULE = Rule(
    id="direct-assignor-swap",
    heading="Assignors and groups",
    title="A rolling deploy shares no assignor with the members still running",
    what="A bounce brings consumers back with an assignor list that has nothing in common with "
    "the lists of members not yet restarted.",
    why="The coordinator accepts a JoinGroup only if one of its assignors is supported by every "
    "member. The first restarted member gets "
    "INCONSISTENT_GROUP_PROTOCOL, which ends its consumer; so does each of its restarts, until "
    "the last old member is gone.",
    fix="Deploy in two bounces: first a list with both ([cooperative-sticky, range]), then the "
    "new one alone. Or stop the whole group.",
    example=(
        "deploy: {partition.assignment.strategy: [cooperative-sticky]}\n"
        "# over members with [range]\n"
        "# → first [cooperative-sticky, range], then [cooperative-sticky]"
    ),
    source="ClassicGroup.supportsProtocols; KIP-429 (upgrade path).",
)


def _offered(consumers: Iterable[Consumer]) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The group and the assignors of each that uses the classic protocol."""
    return {
        c.name: (c.group, c.config.partition_assignment_strategy)
        for c in consumers
        if is_classic(c)
    }


def find(scenario: Scenario) -> Iterator[Finding]:
    lists = _offered(c for group in scenario.groups for c in group.consumers)
    everybody = {c.name: c for c in everyone(scenario)}
    for action, deed in deeds_of(scenario, RollingBounce):
        coming = (*deed.deploy.consumers, *deed.surge_consumers)
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for consumer in coming:
            new = consumer.config.partition_assignment_strategy
            if not is_classic(consumer) or (consumer.group, new) in seen:
                continue
            seen.add((consumer.group, new))
            common = _supported_by_others(consumer, lists, everybody)
            if common and not {*common} & {*new}:
                yield _finding(consumer, common, place_of(action))
                break
        for c in coming:
            lists.pop(c.name, None)
        lists.update(_offered(coming))
        for name in deed.consumers if deed.surge_consumers else ():
            lists.pop(name, None)


def _supported_by_others(
    consumer: Consumer,
    lists: Mapping[str, tuple[str, tuple[str, ...]]],
    everybody: Container[str],
) -> list[str]:
    """The assignors that all other members of its group support, in the order of the first."""
    others = [
        listed
        for name, (group, listed) in lists.items()
        if group == consumer.group and name != consumer.name and name in everybody
    ]
    first = others[0] if others else ()
    return [name for name in first if all(name in listed for listed in others)]


def _finding(consumer: Consumer, common: list[str], place: Place) -> Finding:
    new = consumer.config.partition_assignment_strategy
    return Finding(
        f"{consumer.name} comes back with partition.assignment.strategy "
        f"[{', '.join(new)}], while the others still support only "
        f"[{', '.join(common)}]: its JoinGroup is refused "
        "(INCONSISTENT_GROUP_PROTOCOL) and its consumer dies — deploy "
        f"[{', '.join(dict.fromkeys((*new, *common)))}] first, then "
        f"[{', '.join(new)}] in a second bounce",
        place,
    )
