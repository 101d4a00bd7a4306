"""As written → as meant: one variant of a story as a `Scenario`, with every default filled in, and
everything that cannot be.

For each consumer the layers are laid upon each other: the group's template, the group, the
member's template, the member, its override, the variant, and what the script has deployed by
then. Equal stacks of layers are resolved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.draws import constantly
from rebalsim.domain.scenario import (
    Group,
    Scenario,
)
from rebalsim.domain.script import Action, RandomFault
from rebalsim.domain.script_shift import longest_heartbeat, room_of
from rebalsim.scenario.common_language import MAX_CONSUMERS
from rebalsim.scenario.connect import cluster_of, sinks_of
from rebalsim.scenario.document import Mapping, Node
from rebalsim.scenario.kinds import Written, build
from rebalsim.scenario.member_checks import MemberChecks
from rebalsim.scenario.member_language import CONNECT
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quick_replace import replaced
from rebalsim.scenario.resolve_members import MemberResolver
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.source import shorten
from rebalsim.scenario.starts import why_cold
from rebalsim.scenario.streams import (
    app_of,
    heading_of,
    warn_of_consumers_own,
    written_app,
)
from rebalsim.scenario.variants import Variant
from rebalsim.words.nearest import nearest, or_nearest

ReadScript = Callable[
    ["Resolver", Sequence[Group], int], tuple[tuple[Action, ...], tuple[RandomFault, ...]]
]


class Resolver(MemberResolver):
    """Resolves one variant of a story. Problems are collected; the scenario is only good where
    there are none.
    """

    def __init__(self, story: Written, variant: Variant, code_from: str, out: Problems) -> None:
        super().__init__(story, variant, code_from, out)
        self.rosters: dict[str, Roster] = {}
        self.seats: dict[str, Seat] = {}
        self.templates: dict[str, Written] = (
            story.get("templates").values if "templates" in story else {}
        )

    def scenario(
        self,
        budgets: tuple[Budget, ...],
        expectations: tuple[Expectation, ...],
        digest: str,
        file: str,
        read_script: ReadScript,
    ) -> Scenario:
        """The whole; the script is read last, for it speaks of what the rest names."""
        self.cluster = self._cluster()
        self.checks = MemberChecks(self.out, self.story, self.variant, self.cluster, self.code_from)
        self.topics = self._topics()
        groups = self._groups()
        horizon_us = self.story.get("horizon", Scenario.__dataclass_fields__["horizon_us"].default)
        actions, faults = read_script(self, groups, horizon_us)
        self._check_links()
        made = build(
            Scenario,
            self.story,
            variant=self.variant.name,
            heading=self._heading(groups),
            cluster=self.cluster,
            machine=self._machine(),
            topics=tuple(self.topics.values()),
            groups=groups,
            connect=self.connect,
            script=actions,
            random_faults=faults,
            budgets=budgets,
            expectations=expectations,
            digest=digest,
            file=file,
            code_from=self.code_from,
            notes=tuple(self.notes),
            description=str(self.story.get("description", "")).strip(),
        )
        if made.start == "settled" and (why := why_cold(made)):
            self.out.add(
                self.story.at["start"],
                f"{why} — write start: cold, or have the script's join start whoever comes later",
            )
        if self.story.get("heartbeat_phase") == "as-written":
            return made
        return replace(made, shift_within_us=min(longest_heartbeat(made), room_of(made)))

    def _heading(self, groups: tuple[Group, ...]) -> str:
        said: dict[str, None] = {}
        for group in groups:
            if group.streams is not None:
                said[heading_of(group.streams)] = None
                continue
            for consumer in group.consumers:
                config = consumer.config
                if consumer.worker is not None:
                    said[consumer.worker.connect_protocol] = None
                elif config.uses_consumer_protocol:
                    said[
                        config.group_remote_assignor
                        or self.cluster.config.group_consumer_assignors[0]
                    ] = None
                elif self.variant.base in ("eager", "cooperative"):
                    said[config.partition_assignment_strategy[0]] = None
                else:
                    said["+".join(config.partition_assignment_strategy)] = None
        names = list(said)
        listed = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        return f"{self.variant.name} ({listed})" if listed else self.variant.name

    def _check_links(self) -> None:
        racks = dict.fromkeys(
            [b.rack for b in self.cluster.brokers if b.rack]
            + [s.rack for s in self.seats.values() if s.rack]
        )
        brokers = [f"broker-{b.id}" for b in self.cluster.brokers]
        written = self.story.get("cluster")
        for link in written.get("links", ()) if written is not None else ():
            for end in link.get("between", ()):
                if end not in self.seats and end not in racks and end not in brokers:
                    self.out.add(
                        link.at["between"],
                        f"'{shorten(end)}' is no consumer, broker or rack of this story —"
                        f" {or_nearest(end, [*self.seats, *brokers, *racks])}",
                    )

    def _groups(self) -> tuple[Group, ...]:
        named = self._named()
        is_several = len(named) > 1
        for name, written in named.items():
            self._roster(name, written, f"{name}-" if is_several else "")
        connect = self.story.get("connect")
        if connect is not None and "workers" in connect:
            self._connect(connect, named)
        return tuple(
            [self._group(name, roster, named[name]) for name, roster in self.rosters.items()]
        )

    def _named(self) -> dict[str, Written]:
        """The consumer groups by name."""
        one, several = self.story.get("group"), self.story.get("groups")
        if "group" in self.story.at and "groups" in self.story.at:
            self.out.add(
                self.story.at["groups"],
                "Both group and groups are here — move the one into the other",
            )
        if one is not None:
            return {one.get("name", "group"): one}
        if several is None:
            if not self._has_group_in_mind():
                self.out.add(self.story.node, "There is no group — write group: {members: 3}")
            return {}
        for name, written in several.values.items():
            if "name" in written:
                self.out.add(
                    written.at["name"],
                    f"The group has its name from its key, {name} — leave this out",
                )
        return dict(several.values)

    def _connect(self, connect: Written, named: dict[str, Written]) -> None:
        """The workers' group, beside the others."""
        name = connect.get("name", "connect")
        if name in named:
            self.out.add(
                connect.at.get("name", connect.node),
                f"There is a consumer group {name} already — give the workers' group another name",
            )
        named[name] = connect
        self._roster(name, connect, "")
        self.connect = (cluster_of(self, name, connect, sinks_of(self, connect)),)

    def _group(self, name: str, roster: Roster, written: Written) -> Group:
        is_connect = written.section is CONNECT
        roster.streams = None if is_connect else written_app(self, written)
        stagger = written.get("stagger", 0)
        consumers = []
        for place, seat in enumerate(roster.seats.values()):
            consumer = self.consumer(roster, seat)
            if stagger and "starts_at" not in self.parts_of(roster, seat).written:
                consumer = replaced(consumer, {"starts_at": constantly(place * stagger)})
            seat.is_running = consumer.starts_at is not None
            consumers.append(consumer)
        self.checks.members(roster, consumers, self.parts_of)
        app = None if is_connect else app_of(self, written, consumers)
        if app is not None:
            warn_of_consumers_own(self, written)
        else:
            self._warn_of_tags(roster)
        return Group(name, tuple(consumers), app)

    def _warn_of_tags(self, roster: Roster) -> None:
        """Tags are Kafka Streams'."""
        for seat in roster.seats.values():
            block = self.parts_of(roster, seat).written
            if "client.tag" in block.at:
                self.out.warn(
                    block.at["client.tag"],
                    "client.tag is a setting of Kafka Streams, and this group is no application of "
                    "it — leave it out",
                )

    def _roster(self, group: str, written: Written, prefix: str) -> None:
        overrides: dict[str, Written] = (
            written.get("overrides").values if "overrides" in written else {}
        )
        letter = "w" if written.section is CONNECT else "c"
        listed = written.get("workers" if written.section is CONNECT else "members", ())
        patterned = [name for name, _, _, _ in listed if "{n}" in name]
        roster = Roster(
            group,
            prefix,
            patterned[-1] if patterned else f"{prefix}{letter}{{n}}",
            written.get("per_process", 1),
            written.get("racks", ()),
        )
        roster.base = self.layers(written)
        roster.overrides = {name: self.layers(block) for name, block in overrides.items()}
        self.rosters[group] = roster
        if len(self.seats) + sum(count for _, count, _, _ in listed) > MAX_CONSUMERS:
            self.out.add(
                written.at["members"],
                f"There are more than {MAX_CONSUMERS:,} members in this story — write fewer",
            )
            return
        for member in listed:
            self._seat(roster, member, f"{prefix}{letter}{{n}}")
        roster.spare = next(
            (count for name, count, _, _ in reversed(listed) if "{n}" in name), len(roster.seats)
        )
        for name in overrides:
            is_there = name in self.seats or f"{prefix}{name}" in self.seats
            if not is_there and not self._may_join(name, roster):
                known = [s.removeprefix(prefix) for s in roster.seats]
                self.out.add(
                    written.get("overrides").node.keys[name],
                    f"There is no member '{shorten(name)}' in this group — "
                    f"{or_nearest(name, known)}",
                )

    def _seat(
        self, roster: Roster, member: tuple[str, int, Written | None, Node], usual: str
    ) -> None:
        """The seats of one entry: a member, or as many as it counts."""
        pattern, count, block, node = member
        own = self.layers(block) if block is not None else ()
        process = block.get("process", "") if block is not None else ""
        rack = block.get("rack", "") if block is not None else ""
        for index in range(count):
            name = (pattern or usual).replace("{n}", str(index))
            number = index if not pattern or "{n}" in pattern else len(roster.seats)
            if name in self.seats:
                self.out.add(
                    node,
                    f"There are two members named {name} — names are unique in a story; give "
                    "one of them another",
                )
                continue
            layers = roster.base + own + self.override(roster, name)
            self.seats[name] = roster.add(name, number, layers, node, process, rack)

    def override(self, roster: Roster, name: str) -> tuple[Written, ...]:
        return (
            roster.overrides.get(name)
            or roster.overrides.get(name.removeprefix(roster.prefix))
            or ()
        )

    def _may_join(self, name: str, roster: Roster) -> bool:
        head, _, tail = roster.pattern.partition("{n}")
        head = head.removeprefix(roster.prefix)
        middle = name.removeprefix(roster.prefix)
        return (
            middle.startswith(head)
            and middle.endswith(tail)
            and middle[len(head) : len(middle) - len(tail)].isdigit()
        )

    def layers(self, block: Written) -> tuple[Written, ...]:
        """A block preceded by the template it begins with."""
        name = block.get("template")
        if name is None:
            return (block,)
        template = self.templates.get(name)
        if template is None:
            self.out.add(
                block.at["template"],
                f"There is no template '{shorten(name)}' — "
                f"{or_nearest(name, self.templates, 'write it under templates:')}",
            )
            return (block,)
        return (template, block)

    def _has_group_in_mind(self) -> bool:
        """Whether there is one that could not be read, or a key that was meant to be it: both were
        told of already.
        """
        if any(key in self.story.at for key in ("group", "groups", "connect")):
            return True
        node = self.story.node
        written = node.entries if isinstance(node, Mapping) else {}
        unknown = [key for key in written if key not in self.story.section.fields]
        return any(nearest(key, ("group", "groups")) for key in unknown)
