"""Scaling static members down: nobody says goodbye, and the session has to run out."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.deed import Deed
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Join, Leave, Scale
from rebalsim.lint.facts import (
    at_start,
    group_of,
    is_static,
    named,
    say,
    say_names,
    session_us,
    share_of,
)
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import place_of

RULE = Rule(
    id="static-scale-down",
    heading="Static members",
    title="Static members that leave for good are waited for",
    what="The script lets static members leave, or scales a group of static members down, without "
    "the close option `leave`.",
    why="close() of a static member sends no LeaveGroup, since it is expected back. Nobody reads "
    "its partitions until its session runs "
    "out; only then does the group rebalance.",
    fix="Close with the option `leave` (KafkaConsumer.close(CloseOptions), Kafka 4.1 and newer), "
    "or remove the member with "
    "Admin.removeMembersFromConsumerGroup when you scale down.",
    example=(
        "leave: {member: orders-3}\n"
        "# session.timeout.ms: 60s: 60 s without a reader\n"
        "# → leave: {member: orders-3, option: leave}"
    ),
    source="AbstractCoordinator.maybeLeaveGroup; KIP-345, KIP-1092.",
)


class _Roster:
    """Who is there, in the order of joining, as the script goes on."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.counts = {g.name: len(at_start(g)) for g in scenario.groups}
        self.order = {g.name: [c.name for c in g.consumers] for g in scenario.groups}

    def gone_by(self, deed: Deed) -> list[str]:
        """Who goes by this deed, and sends no LeaveGroup if static."""
        if isinstance(deed, Join):
            for c in deed.consumers:
                self.counts[c.group] = self.counts.get(c.group, 0) + 1
                self.order.setdefault(c.group, []).append(c.name)
        elif isinstance(deed, Scale):
            return self._scaled(deed)
        elif isinstance(deed, Leave):
            for c in named(self.scenario, deed.consumers):
                self.counts[c.group] = self.counts.get(c.group, 0) - 1
                if c.name in self.order.get(c.group, []):
                    self.order[c.group].remove(c.name)
            return [] if deed.option == "leave" else list(deed.consumers)
        return []

    def _scaled(self, deed: Scale) -> list[str]:
        now, names = self.counts.get(deed.group, 0), self.order.get(deed.group, [])
        self.counts[deed.group] = deed.to
        if deed.to < now:
            gone = names[-(now - deed.to) :]
            self.order[deed.group] = names[: len(names) - len(gone)]
            return gone
        self.order[deed.group] = names + [c.name for c in deed.joiners[: deed.to - now]]
        return []


def find(scenario: Scenario) -> Iterator[Finding]:
    roster = _Roster(scenario)
    for action in scenario.script:
        gone = roster.gone_by(action.deed)
        static = [c for c in named(scenario, gone) if is_static(c)]
        if static:
            session = max(session_us(scenario, c) for c in static)
            share = (
                len(static) * share_of(scenario, static[0])
                if group_of(scenario, static[0].group).consumers
                else 0
            )
            yield Finding(
                f"{say_names(static)} {'is' if len(static) == 1 else 'are'} static and "
                f"close{'s' if len(static) == 1 else ''} without "
                f"LeaveGroup: about {share} partition{'s' if share != 1 else ''} without a "
                f"reader for up to {say(session)}, until the session "
                "runs out — let them leave with option: leave",
                place_of(action),
            )
