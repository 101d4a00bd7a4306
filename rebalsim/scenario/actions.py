"""The script as written → actions on named consumers. Walks the script in order and keeps the
roster, so that "c3" means who it says.

Who exists when follows from the file alone: joins, scalings, leaves and bounces in their order.
An action may name only whom the script has brought in before it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rebalsim.domain import script as deeds
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import NOTHING
from rebalsim.domain.ids import partition_named
from rebalsim.domain.script import Action, Deed, Overlay, RandomFault, When
from rebalsim.scenario.autoscaling import read_autoscale
from rebalsim.scenario.connect_actions import Connectors
from rebalsim.scenario.connect_language import CONNECT_DEEDS
from rebalsim.scenario.document import Node, shorten
from rebalsim.scenario.kinds import Written, build
from rebalsim.scenario.kubernetes_actions import KubernetesActions
from rebalsim.scenario.language import MAX_CONSUMERS, MAX_PARTITIONS
from rebalsim.scenario.patterns import bad_pattern
from rebalsim.scenario.profiles import broker_profile, first_that_may_leave_static, say_client
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.streams import deployed_config
from rebalsim.words.nearest import or_nearest

_HINTS = 200  # after so many unknown names nobody reads what each was meant to be
MAX_DEPLOYED = 60_000  # members × deploys, over all variants
MAX_NAMED = 250_000  # members × actions, above which a story is a mistake
_SHARE_THAT_KUBERNETES_TAKES = 0.25


def read_script(
    resolver: Resolver, horizon_us: int
) -> tuple[tuple[Action, ...], tuple[RandomFault, ...]]:
    """The story's script and its random faults."""
    reader = ScriptReader(resolver, horizon_us)
    return (
        reader.read(resolver.story.get("script", ())),
        reader.read_faults(resolver.story.get("random_faults", ())),
    )


class ScriptReader:
    """Turns the script of one variant into actions."""

    def __init__(self, resolver: Resolver, horizon_us: int) -> None:
        self.resolver = resolver
        self.out = resolver.out
        self.horizon_us = horizon_us
        self.partitions = {name: topic.partitions for name, topic in resolver.topics.items()}
        self.exists = {name: topic.exists_from_start for name, topic in resolver.topics.items()}
        self.unknown: list[tuple[Node, str, Roster | None]] = []
        self.connectors = Connectors.of(resolver.connect, resolver.out)
        self.deployed = 0  # how often a member was given other settings
        self.named = 0  # how often a member was named by an action
        self.is_incomplete = (
            False  # an entry could not be read, so who exists is not known for sure
        )
        self.readers: dict[str, Callable[[Written, int], Deed | None]] = {
            "join": self._join,
            "scale": self._scale,
            "leave": self._leave,
            "crash": self._crash,
            "freeze": self._freeze,
            "hang": self._hang,
            "poison": self._poison,
            "slow": self._slow,
            "rolling_bounce": self._bounce,
            "deploy": self._deploy,
            "cut": self._cut,
            "add_latency": self._delay,
            "broker_restart": self._of_broker(deeds.BrokerRestart),
            "broker_busy": self._of_broker(deeds.BrokerBusy),
            "broker_upgrade": self._broker_upgrade,
            "coordinator_failover": self._failover,
            "add_partitions": self._add_partitions,
            "create_topic": self._create_topic,
            "delete_topic": self._delete_topic,
            "subscribe": self._subscribe,
            "enforce_rebalance": self._enforce,
            "set_rate": self._set_rate,
            "autoscale": self._autoscale,
            **KubernetesActions(self).readers,
            **{kind: self._to_connectors(kind) for kind in CONNECT_DEEDS},
        }

    # ------------------------------------------------------------------------------------- the list

    def read(self, entries: tuple[Written, ...]) -> tuple[Action, ...]:
        ids: dict[str, int] = {}
        moments: list[
            tuple[int, int, int, Action | None, Written, str]
        ] = []  # when, which entry, which repeat
        last_us, last_line = 0, 0
        for number, entry in enumerate(entries):
            line = entry.node.line
            at = entry.get("at")
            if "at" in entry and at is not None and "after" not in entry.at:
                if at < last_us:
                    self.out.add(
                        entry.at["at"],
                        f"at: {say_us(at)} comes after the action at {say_us(last_us)} (line "
                        f"{last_line}) — put the"
                        " script in order of time",
                    )
                else:
                    last_us, last_line = at, line
            if entry.is_bad:
                self.is_incomplete = True
                if "id" in entry:
                    ids[entry.get("id")] = line
                continue
            name = next(n for n in entry.section.exactly_one if n in entry)
            shape = self._timing(entry, name, ids)
            if "id" in entry:
                if entry.get("id") in ids:
                    self.out.add(
                        entry.at["id"],
                        f"The id '{entry.get('id')}' is taken by the action on line "
                        f"{ids[entry.get('id')]} — choose another",
                    )
                ids[entry.get("id")] = line
            if shape is None:  # it happens at some time, so that whom it brings is known
                moments.append((last_us, number, 0, None, entry, name))
                continue
            moments += [
                (last_us + i * (shape.every_us or 0), number, i, once, entry, name)
                for i, once in enumerate(self._repeats(shape, entry, name))
            ]
        actions: list[Action] = []
        for *_, shape, entry, name in sorted(moments, key=lambda m: m[:3]):
            deed = self.readers[name](entry.get(name), entry.node.line)
            if deed is not None and shape is not None:
                actions.append(replace(shape, deed=deed))
        self._explain_unknown()
        return tuple(actions)

    def _timing(self, entry: Written, name: str, ids: dict[str, int]) -> Action | None:
        """The action's time, with a deed yet to come."""
        add = self.out.add
        at, after, when = entry.get("at"), entry.get("after"), entry.get("when")
        if "at" not in entry and "after" not in entry and "when" not in entry:
            add(
                entry.node,
                f"{name} does not say when — add at: 1m, after: ID, or when: group is stable",
            )
            return None
        if "at" in entry and "after" in entry:
            add(entry.at["after"], "after stands beside at — write at alone, or after with delay")
            return None
        if "delay" in entry and "after" not in entry:
            add(entry.at["delay"], "delay goes with after — write at: for a moment of the story")
        if after is not None and after not in ids:
            add(
                entry.at["after"],
                f"No action before this one has the id '{shorten(after)}' —"
                f" {or_nearest(after, ids, 'give that action id: ' + shorten(after))}",
            )
        condition = None
        if when is not None:
            group = self._group_named(when[0], entry.at["when"])
            if group is None:
                return None
            condition = When(group.group, when[1], when[2])
        at_us = entry.get("delay", 0) if after is not None else (at or 0)
        every = entry.get("every")
        times = entry.get("times")
        if every is None and (times or 1) > 1:
            add(entry.at["times"], f"times: {times} needs to know how far apart — add every: 1m")
        last = at_us + (every or 0) * ((times or 1) - 1)
        if after is None and last >= self.horizon_us:
            story = self.resolver.story
            node = story.at.get("horizon", entry.at.get("at", entry.node))
            what = f"{name} on line {entry.node.line}"
            said = f"The horizon {say_us(self.horizon_us)}" + (
                "" if "horizon" in story.at else " (the default)"
            )
            moment = (
                f"at {say_us(at_us)}" if last == at_us else f"for the last time at {say_us(last)}"
            )
            add(
                node,
                f"{said} comes before {what} {moment} — write horizon: "
                f"{say_us(_rounded_up(last))} or more",
            )
        if times is None:
            times = max(1, math.ceil((self.horizon_us - at_us) / every)) if every is not None else 1
        return Action(
            deed=_LATER,
            at_us=at_us,
            after=after,
            when=condition,
            every_us=every,
            times=times if every is not None else 1,
            jitter_us=entry.get("jitter", 0),
            id=entry.get("id", ""),
            line=entry.node.line,
        )

    def _repeats(self, action: Action, entry: Written, name: str) -> list[Action]:
        """A repeated join brings other members each time, and so does a repeated bounce to new
        names: these are told one by one.
        """
        brings_new = name == "join" or entry.get(name).get("as") == "deployment"
        if action.every_us is None or action.times == 1 or not brings_new:
            return [action]
        if action.times > MAX_CONSUMERS:
            self.out.add(
                entry.at.get("times", entry.node),
                f"With this the story has more than {MAX_CONSUMERS:,} members — repeat it less "
                "often",
            )
            return []
        return [
            replace(
                action,
                at_us=action.at_us + i * action.every_us,
                every_us=None,
                times=1,
                id=f"{action.id}.{i + 1}" if action.id and i else action.id,
            )
            for i in range(action.times)
        ]

    def _explain_unknown(self) -> None:
        """Who was named but not there: perhaps only too early."""
        if self.is_incomplete:
            return
        for number, (node, name, roster) in enumerate(self.unknown):
            seats = self.resolver.seats if roster is None else roster.seats
            found = seats.get(name) or (
                seats.get(roster.prefix + name) if roster is not None else None
            )
            if found is not None:
                self.out.add(
                    node,
                    f"'{shorten(name)}' joins only later, with line {found.node.line} — put this "
                    "after it",
                )
            else:
                known = (
                    [s.removeprefix(roster.prefix) if roster is not None else s for s in seats]
                    if number < _HINTS
                    else []
                )
                self.out.add(
                    node,
                    f"There is no member '{shorten(name)}' — "
                    f"{or_nearest(name, known, '' if known else 'name one that is there')}",
                )

    # ------------------------------------------------------------------------------------------ who

    def _group_named(self, name: str, node: Node) -> Roster | None:
        rosters = self.resolver.rosters
        if not name:
            if len(rosters) > 1:
                self.out.add(
                    node,
                    f"There are {len(rosters)} groups, and which one is meant is not said — add "
                    f"group: {next(iter(rosters))}",
                )
            return next(iter(rosters.values())) if len(rosters) == 1 else None
        if name not in rosters:
            self.out.add(node, f"There is no group '{shorten(name)}' — {or_nearest(name, rosters)}")
            return None
        return rosters[name]

    def _group_of(self, written: Written) -> Roster | None:
        return self._group_named(written.get("group", ""), written.at.get("group", written.node))

    def _seats(
        self, written: Written, default_all: bool = False, together: bool = False
    ) -> list[tuple[Roster, Seat]]:
        """The consumers that an action means; `together` adds those who share their process."""
        if self.named > MAX_NAMED:
            return []  # which is told already
        found = self._found(written, default_all, together)
        self.named += len(found)
        if self.named > MAX_NAMED:
            self.out.add(
                written.node,
                f"By here the script has named members {MAX_NAMED:,} times — write fewer "
                "actions, or fewer members",
            )
        return found

    def _found(
        self, written: Written, default_all: bool, together: bool
    ) -> list[tuple[Roster, Seat]]:
        rosters = self.resolver.rosters
        only = (
            self._group_of(written)
            if "group" in written
            else next(iter(rosters.values()))
            if len(rosters) == 1
            else None
        )
        if "group" in written and only is None:
            return []
        found: list[tuple[Roster, Seat]] = []
        if "process" in written:
            if "members" in written:
                self.out.add(
                    written.at["process"], "process stands beside members — write one of the two"
                )
            name = written.get("process")
            found = [
                (r, s)
                for r in rosters.values()
                if only in (None, r)
                for s in r.running
                if s.process == name
            ]
            if not found and not self.is_incomplete:
                known = dict.fromkeys(
                    s.process for r in rosters.values() for s in r.seats.values() if s.process
                )
                self.out.add(
                    written.at["process"],
                    f"There is no process '{shorten(name)}' —"
                    " "
                    f"{or_nearest(name, known, 'give members a process, or the group per_process')}",
                )
            return found
        if "members" not in written:
            if not default_all:
                if "members" not in written.at:
                    self.out.add(
                        written.node, "Who is meant is not said — add members: c0, or members: all"
                    )
                return []
            targets: tuple[tuple[Any, Node], ...] = ()
        else:
            targets = written.get("members")
        if not targets:
            found = [(r, s) for r in rosters.values() if only in (None, r) for s in r.running]
            if not found and not self.is_incomplete:
                self.out.add(
                    written.node,
                    "Nobody is left in the group at this point of the script — put this before "
                    "the last one leaves",
                )
            return found
        for target, node in targets:
            seat = self._seat(target, node, only)
            if seat is not None:
                found.append(seat)
        found = list({s.name: (r, s) for r, s in found}.values())
        if together and found:
            named = {s.name: None for _, s in found}
            for roster in dict.fromkeys(r for r, _ in found):
                everybody = roster.together_with([s for r, s in found if r is roster])
                found += [(roster, s) for s in everybody if s.name not in named]
        return found

    def _seat(self, target: Any, node: Node, only: Roster | None) -> tuple[Roster, Seat] | None:
        if isinstance(target, int):
            if only is None:
                self.out.add(
                    node,
                    f"There are {len(self.resolver.rosters)} groups, and number {target} could "
                    "be of any — add group:, or write"
                    " the member's name",
                )
                return None
            seats = list(only.seats.values())
            if target >= len(seats):
                if not self.is_incomplete:
                    self.out.add(
                        node,
                        f"There is no member number {target} — the group has {len(seats)} so "
                        "far, counted from 0",
                    )
                return None
            return self._alive(seats[target], node, only)
        for roster in [only] if only is not None else list(self.resolver.rosters.values()):
            seat = roster.seats.get(target) or (
                roster.seats.get(roster.prefix + target) if only is not None else None
            )
            if seat is not None:
                return self._alive(seat, node, roster)
        self.unknown.append((node, target, only))
        return None

    def _alive(self, seat: Seat, node: Node, roster: Roster) -> tuple[Roster, Seat] | None:
        if seat.gone_line:
            self.out.add(
                node,
                f"{seat.name} is not there any more: {seat.gone_how} on line {seat.gone_line} — "
                "name somebody else, or move this before it",
            )
            return None
        return roster, seat

    def _names(self, seats: list[tuple[Roster, Seat]]) -> tuple[str, ...]:
        return tuple(s.name for _, s in seats)

    # ----------------------------------------------------------------------------- coming and going

    def _new_seat(
        self,
        roster: Roster,
        name: str,
        number: int,
        layers: tuple[Written, ...],
        node: Node,
        written: Written | None,
    ) -> Seat:
        process = written.get("process", "") if written is not None else ""
        rack = written.get("rack", "") if written is not None else ""
        seat = roster.add(
            name,
            number,
            roster.base + layers + self.resolver.override(roster, name),
            node,
            process,
            rack,
        )
        self.resolver.seats[name] = seat
        return seat

    def _check_static_id(self, roster: Roster, seat: Seat) -> None:
        """A newcomer whose id is taken would fence its holder."""
        written = self.resolver.parts_of(roster, seat).written.get("config")
        static = self.resolver.consumer(roster, seat).config.group_instance_id
        if static is None:
            return
        if not roster.static_ids:
            roster.static_ids = {
                c: s.name
                for s in roster.seats.values()
                if s is not seat
                and (c := self.resolver.consumer(roster, s).config.group_instance_id) is not None
            }
        holder = roster.static_ids.setdefault(static, seat.name)
        if holder != seat.name and roster.seats[holder].is_running:
            self.out.add(
                written.at["group.instance.id"],
                f"{seat.name}, which joins on line {seat.node.line}, would be "
                f"'{shorten(static)}' as {holder} is,"
                ' and fence it — make the id differ, as in "orders-{n}", or give the join an id '
                "of its own if that is the story",
            )

    def _new_name(self, roster: Roster) -> tuple[str, int]:
        return roster.next_name(self.resolver.seats)

    def _has_room(self, wanted: int, node: Node) -> bool:
        if len(self.resolver.seats) + wanted > MAX_CONSUMERS:
            self.out.add(
                node, f"With this the story has more than {MAX_CONSUMERS:,} members — write fewer"
            )
            return False
        return True

    def _started(self, roster: Roster, seat: Seat) -> Consumer:
        """A consumer that an action starts: it does not start by itself."""
        return self.resolver.consumer(roster, seat, starts=False)

    def _join(self, written: Written, line: int) -> Deed | None:
        roster = self._group_of(written)
        if roster is None:
            self.is_incomplete = True
            return None
        layers = self.resolver.layers(written)
        names = written.get("names")
        if names is not None and "count" in written and written.get("count") != len(names):
            self.out.add(
                written.at["count"],
                f"count: {written.get('count')} goes against {len(names)} names — leave one of "
                "the two out",
            )
        if "names" not in written.at and "count" not in written.at:
            self.out.add(
                written.node, "How many join is not said — write join: 1, or join: {names: [new-0]}"
            )
            self.is_incomplete = True
            return None
        wanted = len(names) if names is not None else written.get("count", 1)
        if not self._has_room(wanted, written.node):
            self.is_incomplete = True
            return None
        seats: list[Seat] = []
        for i in range(wanted):
            if names is None:
                name, number = self._new_name(roster)
            else:
                name, number = names[i], roster.spare
                known = roster.seats.get(name) or self.resolver.seats.get(name)
                if known is not None and not known.is_running and name in roster.seats:
                    known.is_running, known.gone_line = True, 0
                    seats.append(known)
                    continue
                if known is not None:
                    self.out.add(
                        written.at["names"],
                        f"{name} is in the group already (line {known.node.line}) — a new member "
                        "needs a name of its own",
                    )
                    continue
                roster.spare += 1
            seats.append(self._new_seat(roster, name, number, layers, written.node, written))
            if all(
                _instance_id(layer) is None for layer in layers
            ):  # a join that names the id itself means it: a story of fencing
                self._check_static_id(roster, seats[-1])
        return (
            build(
                deeds.Join,
                None,
                consumers=tuple(self._started(roster, s) for s in seats),
                stagger_us=written.get("stagger", 0),
            )
            if seats
            else None
        )

    def _scale(self, written: Written, line: int) -> Deed | None:
        roster = self._group_of(written)
        if roster is None:
            return None
        to = written.get("to")
        running = roster.running
        joiners: list[Seat] = []
        if to > len(running):
            if not self._has_room(to - len(running), written.node):
                self.is_incomplete = True
                return None
            back = [
                s for s in roster.seats.values() if not s.is_running and s.gone_how != "replaced"
            ]
            for seat in back[: to - len(running)]:
                seat.is_running, seat.gone_line = True, 0
                joiners.append(seat)
            while len(joiners) < to - len(running):
                name, number = self._new_name(roster)
                joiners.append(self._new_seat(roster, name, number, (), written.node, None))
                self._check_static_id(roster, joiners[-1])
        else:
            for seat in running[to:]:
                seat.is_running, seat.gone_line, seat.gone_how = (
                    False,
                    line,
                    f"the group is scaled to {to}",
                )
        return build(
            deeds.Scale,
            written,
            group=roster.group,
            joiners=tuple(self._started(roster, s) for s in joiners),
        )

    def _autoscale(self, written: Written, line: int) -> Deed | None:
        """Whom the autoscaler may start: those that are away by then, and as many new ones as it
        may ever want. None of them counts as running: that is decided as the story goes.
        """
        roster = self._group_of(written)
        if roster is None:
            return None
        wanted = written.get("maxReplicaCount", 10) - len(roster.running)
        if wanted > 0 and not self._has_room(wanted, written.node):
            self.is_incomplete = True
            return None
        seats = [s for s in roster.seats.values() if s.gone_how != "replaced"]
        for _ in range(max(0, wanted)):
            name, number = self._new_name(roster)
            seat = self._new_seat(roster, name, number, (), written.node, None)
            seat.is_running, seat.gone_line = False, line
            seat.gone_how = "only the autoscaler starts it"
            seats.append(seat)
        return read_autoscale(written, roster.group, tuple(self._started(roster, s) for s in seats))

    def _leave(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written)
        if written.get("option", "default") == "leave":
            self._check_can_leave(found, written)
        for _, seat in found:
            seat.is_running, seat.gone_line, seat.gone_how = False, line, "it leaves"
        return build(deeds.Leave, written, consumers=self._names(found)) if found else None

    def _check_can_leave(self, found: list[tuple[Roster, Seat]], written: Written) -> None:
        """A static member leaves on close only where close() has an option for it (KIP-1092):
        what it is may change with a deploy before this.
        """
        for roster, seat in found:
            spec = self.resolver.consumer(roster, seat)
            if spec.config.group_instance_id is None or spec.habits.may_leave_static:
                continue
            if newer := first_that_may_leave_static(spec.client):
                whose = f"a {say_client(spec.client)} client {spec.client_version}"
                then = f'write client_version: "{newer}", or leave option out'
            else:
                whose, then = f"{spec.client}", "leave option out"
            self.out.add(
                written.at["option"],
                f"{shorten(seat.name)} is static, and {whose} has no option with which a static "
                "member leaves when it closes"
                f" (Java's has since 4.1) — {then}",
            )
            return

    def _crash(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written, together=True)
        if "restart_after" not in written.at:
            for _, seat in found:
                seat.is_running, seat.gone_line, seat.gone_how = False, line, "it crashes"
        return build(deeds.Crash, written, consumers=self._names(found)) if found else None

    # ------------------------------------------------------------------------------------ suffering

    def _freeze(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written, together=True)
        return deeds.Freeze(self._names(found), written.get("for")) if found else None

    def _only_consumers(
        self, found: list[tuple[Roster, Seat]], written: Written, what: str
    ) -> list[tuple[Roster, Seat]]:
        """Those that have a handler; Connect's workers, where they are named, have none."""
        mine = [(r, s) for r, s in found if self.resolver.is_of_workers(r)]
        if mine and written.get("members"):
            self.out.add(
                written.node,
                f"{shorten(mine[0][1].name)} is a Connect worker, which has {what} — freeze it, or "
                "give its connectors a longer stop or poll",
            )
        return [each for each in found if each not in mine]

    def _hang(self, written: Written, line: int) -> Deed | None:
        found = self._only_consumers(self._seats(written), written, "no handler to hang")
        return deeds.Hang(self._names(found), written.get("for")) if found else None

    def _slow(self, written: Written, line: int) -> Deed | None:
        found = self._only_consumers(
            self._seats(written, default_all=True), written, "no handler to slow down"
        )
        return build(deeds.Slow, written, consumers=self._names(found)) if found else None

    def _poison(self, written: Written, line: int) -> Deed | None:
        partition = partition_named(written.get("partition"))
        node = written.at["partition"]
        count = self.partitions.get(partition.topic)
        if count is None:
            self.out.add(
                node,
                f"There is no topic '{shorten(partition.topic)}' — "
                f"{or_nearest(partition.topic, self.partitions)}",
            )
            return None
        if partition.number >= count:
            self.out.add(
                node,
                f"{shorten(partition.topic)} has {count} partitions so far, {partition.topic}-0 "
                f"to {partition.topic}-{count - 1} —"
                " write one of them",
            )
            return None
        return deeds.Poison(
            partition.topic,
            partition.number,
            written.get("offset"),
            written.get("for"),
            written.get("times"),
        )

    def _cut(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written, together=True)
        return (
            deeds.Cut(self._names(found), written.get("from") == "brokers", written.get("for"))
            if found
            else None
        )

    def _delay(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written, default_all=True)
        return build(deeds.Delay, written, consumers=self._names(found)) if found else None

    # -------------------------------------------------------------------------------------- deploys

    def _bounce(self, written: Written, line: int) -> Deed | None:
        return self._roll(written, line, None)

    def _deploy(self, written: Written, line: int) -> Deed | None:
        if not any(
            name in written
            for name in (
                "client",
                "client_version",
                "config",
                "rack",
                "topics",
                "pattern",
                "handler",
                "listener",
                "state",
                "life",
                "assignor_cost",
                "worker",
                "streams",
            )
        ):
            self.out.add(
                written.node,
                "What is deployed is not said — add config: {…}, or write rolling_bounce for a "
                "restart alone",
            )
        return self._roll(written, line, written)

    def _deploys_too_many(self, node: Node, members: int) -> bool:
        """Each member that is given other settings is worked out anew, in every variant."""
        variants = self.resolver.story.get("replay", ())
        most = max(MAX_CONSUMERS, MAX_DEPLOYED // max(len(variants), 1))
        self.deployed += members
        if self.deployed > most:
            self.out.add(
                node,
                f"By here the script has deployed members {self.deployed:,} times — write at most "
                f"{most:,}: fewer deploys, members or variants",
            )
        return self.deployed > most

    def _roll(self, written: Written, line: int, deployed: Written | None) -> Deed | None:
        found = self._seats(written, default_all=True, together=True)
        if not found:
            return None
        if deployed is not None and self._deploys_too_many(written.node, len(found)):
            return None
        how = written.get("as", "in-place")
        rosters = list(dict.fromkeys(r for r, _ in found))
        if len(rosters) > 1:
            self.out.add(
                written.node,
                f"There are {len(rosters)} groups, and a bounce is of one — add group: "
                f"{rosters[0].group}",
            )
            return None
        roster = rosters[0]
        seats = [s for _, s in found]
        if deployed is not None and not written.get("members"):
            roster.deployed_to_all.append(deployed)
        pods = len(dict.fromkeys(s.process or s.name for s in seats))
        unavailable, surge = self._limits(written, how, pods)
        order = written.get("order", "reversed" if how == "statefulset" else "as-listed")
        if order == "reversed":
            seats.reverse()
        if deployed is not None:
            for seat in seats:
                seat.deployed.append(deployed)
        overlay: tuple[Consumer, ...] = ()
        replacements: list[Seat] = []
        if how == "deployment":
            if not self._has_room(len(seats), written.node):
                return None
            replacements = self._replacements(roster, seats, written.node, line)
        elif deployed is not None:
            overlay = tuple(self._started(roster, s) for s in seats)
        streams = (
            None
            if deployed is None
            else deployed_config(self.resolver, roster.streams, seats[0].deployed)
        )
        return build(
            deeds.RollingBounce,
            None,
            consumers=tuple(s.name for s in seats),
            max_unavailable=unavailable,
            surge=surge,
            surge_consumers=tuple(self._started(roster, s) for s in replacements),
            down=written.get("down"),
            ready_after_us=written.get("ready_after", 0),
            ready_when_assigned=written.get("ready_when") == "assigned",
            settle_us=written.get("settle", 0),
            deploy=Overlay(overlay, streams),
        )

    def _replacements(self, roster: Roster, seats: list[Seat], node: Node, line: int) -> list[Seat]:
        """Pods with new names in the place of these, which are gone from here on."""
        replacements: list[Seat] = []
        pod_names: dict[str, str] = {}
        for old in seats:
            name, number = self._new_name(roster)
            process = ""
            if old.process:
                process = pod_names.setdefault(
                    old.process, f"{roster.prefix}p{len(roster.seats) // roster.per_process}"
                )
            new = Seat(
                name,
                number,
                process,
                old.pod if not old.process else len(roster.seats) // roster.per_process,
                old.within,
                old.rack,
                tuple(layer for layer in old.layers),
                node,
                deployed=list(old.deployed),
            )
            if not old.process:
                new.pod = len(roster.seats)
            roster.seats[name] = new
            self.resolver.seats[name] = new
            replacements.append(new)
            old.is_running, old.gone_line, old.gone_how = False, line, "replaced"
        return replacements

    def _limits(self, written: Written, how: str, pods: int) -> tuple[int, int]:
        """How many may be away and how many more may run, rounded as Kubernetes does:
        unavailable down, surge up.
        """
        is_deployment = how == "deployment"
        count, share = written.get(
            "max_unavailable", (None, _SHARE_THAT_KUBERNETES_TAKES) if is_deployment else (1, None)
        )
        unavailable = count if count is not None else math.floor(pods * share)
        count, share = written.get(
            "surge", (None, _SHARE_THAT_KUBERNETES_TAKES) if is_deployment else (0, None)
        )
        surge = count if count is not None else math.ceil(pods * share)
        if "surge" in written and surge and not is_deployment:
            self.out.add(
                written.at["surge"],
                f"surge: {surge} needs new names, which only a deployment has — add as: "
                "deployment, or leave it out",
            )
        elif surge > pods:
            self.out.add(
                written.at["surge"],
                f"surge: {surge} is more than the {pods} that are bounced — write at most {pods}",
            )
        if unavailable > pods and "max_unavailable" in written:
            self.out.add(
                written.at["max_unavailable"],
                f"max_unavailable: {unavailable} is more than the {pods} that are bounced — "
                f"write at most {pods}",
            )
        if unavailable == 0 and surge == 0:
            if "max_unavailable" in written and share is None and not is_deployment:
                self.out.add(
                    written.at["max_unavailable"],
                    "Nobody may be away and nobody may come in addition, so this bounce would "
                    "never move"
                    " — allow one of the two",
                )
            unavailable = 1
        return unavailable, surge

    # --------------------------------------------------------------------------- brokers and topics

    def _broker(self, written: Written) -> bool:
        ids = [b.id for b in self.resolver.cluster.brokers]
        if written.get("broker") not in ids:
            self.out.add(
                written.at["broker"],
                f"There is no broker {written.get('broker')} — "
                f"{or_nearest(str(written.get('broker')), map(str, ids))}",
            )
            return False
        return True

    def _of_broker(self, kind: type[Any]) -> Callable[[Written, int], Deed | None]:
        """What is done to one broker, or to the one that coordinates a group."""

        def made(written: Written, line: int) -> Deed | None:
            if written.get("broker") is not None:
                return build(kind, written) if self._broker(written) else None
            roster = self._group_of(written)
            return build(kind, written, group=roster.group) if roster is not None else None

        return made

    def _broker_upgrade(self, written: Written, line: int) -> Deed | None:
        found = broker_profile(written.get("to"))
        if isinstance(found, str):
            self.out.add(written.at["to"], found)
            return None
        was = self.resolver.brokers_now
        if found.is_older_than(was):
            self.out.add(
                written.at["to"],
                f"Kafka {found.version} is older than the {was.version} that the brokers have by then — "
                "write a later version",
            )
        self.resolver.brokers_now = found
        return build(
            deeds.BrokerUpgrade,
            None,
            kafka=found.version,
            down=written.get("down"),
            settle_us=written.get("settle", 0),
            load=written.get("load", NOTHING),
            habits=found.habits,
        )

    def _failover(self, written: Written, line: int) -> Deed | None:
        roster = self._group_of(written)
        return build(deeds.Failover, written, group=roster.group) if roster is not None else None

    def _topic(self, written: Written, is_new: bool = False) -> str | None:
        name = written.get("topic")
        if name is None:
            if len(self.partitions) == 1:
                return next(iter(self.partitions))
            self.out.add(
                written.node,
                f"There are {len(self.partitions)} topics, and which one is meant is not said — "
                "add topic:"
                f" {next(iter(self.partitions), 'orders')}",
            )
            return None
        if name not in self.partitions:
            hint = (
                "write it under topics:, with exists: false"
                if is_new
                else or_nearest(name, self.partitions, "write it under topics:")
            )
            self.out.add(written.at["topic"], f"There is no topic '{shorten(name)}' — {hint}")
            return None
        return str(name)

    def _add_partitions(self, written: Written, line: int) -> Deed | None:
        topic = self._topic(written)
        if topic is None:
            return None
        to, has = written.get("to"), self.partitions[topic]
        if to <= has:
            self.out.add(
                written.at["to"],
                f"{topic} has {has} partitions already, and partitions are never taken away — "
                f"write more than {has}",
            )
            return None
        self.partitions[topic] = to
        if sum(self.partitions.values()) > MAX_PARTITIONS:
            self.out.add(
                written.at["to"],
                f"With this the topics have more than {MAX_PARTITIONS:,} partitions — write fewer",
            )
        return deeds.AddPartitions(topic, to)

    def _create_topic(self, written: Written, line: int) -> Deed | None:
        topic = self._topic(written, is_new=True)
        if topic is None:
            return None
        if self.exists[topic]:
            self.out.add(
                written.at["topic"],
                f"{topic} exists at this point — add exists: false to it under topics:",
            )
            return None
        self.exists[topic] = True
        return deeds.CreateTopic(topic)

    def _delete_topic(self, written: Written, line: int) -> Deed | None:
        topic = self._topic(written)
        if topic is None:
            return None
        if not self.exists[topic]:
            self.out.add(
                written.at["topic"], f"{topic} does not exist at this point — create it before"
            )
            return None
        self.exists[topic] = False
        return deeds.DeleteTopic(topic)

    def _subscribe(self, written: Written, line: int) -> Deed | None:
        found = self._only_consumers(
            self._seats(written, default_all=True), written, "no subscription"
        )
        pattern = written.get("pattern")
        if pattern is None and "topics" not in written.at:
            self.out.add(
                written.node,
                "To what they subscribe is not said — add topics: [orders], or pattern:",
            )
            return None
        if pattern is not None and (why := bad_pattern(pattern)):
            self.out.add(written.at["pattern"], why)
            return None
        if pattern is not None and not any(re.fullmatch(pattern, t) for t in self.partitions):
            self.out.add(
                written.at["pattern"],
                f"'{shorten(pattern)}' matches no topic of this story — the topics are "
                f"{', '.join(list(self.partitions)[:8])}",
            )
        for topic in written.get("topics", ()):
            if topic not in self.partitions:
                self.out.add(
                    written.at["topics"],
                    f"There is no topic '{shorten(topic)}' — "
                    f"{or_nearest(topic, self.partitions, 'write it under topics:')}",
                )
        return (
            deeds.Subscribe(self._names(found), tuple(written.get("topics", ())), pattern)
            if found
            else None
        )

    def _enforce(self, written: Written, line: int) -> Deed | None:
        found = self._seats(written, default_all=True)
        return deeds.EnforceRebalance(self._names(found)) if found else None

    def _set_rate(self, written: Written, line: int) -> Deed | None:
        topic = self._topic(written)
        if topic is None:
            return None
        value, is_each = written.get("rate")
        return deeds.SetRate(topic, value * self.partitions[topic] if is_each else value)

    def _to_connectors(self, kind: str) -> Callable[[Written, int], Deed | None]:
        return lambda written, line: self.connectors.deed(kind, written)

    # --------------------------------------------------------------------------------------- chance

    def read_faults(self, entries: tuple[Written, ...]) -> tuple[RandomFault, ...]:
        made = []
        for entry in entries:
            if entry.is_bad:
                continue
            found = self._everybody(entry)
            until = entry.get("until")
            if until is not None and until <= entry.get("from", 0):
                self.out.add(
                    entry.at["until"],
                    f"until: {say_us(until)} is not after from: {say_us(entry.get('from', 0))} — "
                    "write a later moment",
                )
            if found:
                made.append(
                    RandomFault(
                        entry.get("kind"),
                        found,
                        entry.get("about_every"),
                        entry.get("for"),
                        entry.get("from", 0),
                        until,
                    )
                )
        return tuple(made)

    def _everybody(self, entry: Written) -> tuple[str, ...]:
        """Chance strikes whoever is there at the time: with `all`, those too who join later."""
        if entry.get("members"):
            return self._names(self._seats_ever(entry))
        rosters = self.resolver.rosters
        only = self._group_of(entry) if "group" in entry else None
        return tuple(
            s.name for r in rosters.values() if only in (None, r) for s in r.seats.values()
        )

    def _seats_ever(self, entry: Written) -> list[tuple[Roster, Seat]]:
        for roster in self.resolver.rosters.values():
            for seat in roster.seats.values():
                seat.gone_line = 0
        found = self._seats(entry)
        self._explain_unknown()
        self.unknown.clear()
        return found


_LATER: Any = None


def _instance_id(layer: Written) -> Any:
    config = layer.get("config")
    return config.get("group.instance.id") if config is not None else None


def _rounded_up(us: int) -> int:
    """A round horizon after this moment."""
    minute = 60_000_000
    return (us // minute + 1) * minute
