"""Who is there as the script goes on, so that "c3" means who it says, and what actions ask of them.

Who exists when follows from the file alone: joins, scalings, leaves and bounces in their order. An
action may name only whom the script has brought in before it.
"""

from __future__ import annotations

from typing import Any, TypeVar

from rebalsim.domain.consumer import Consumer
from rebalsim.scenario.common_language import MAX_CONSUMERS
from rebalsim.scenario.connect_actions import Connectors
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Named, Written, build
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest

D = TypeVar("D")

_HINTS = 200  # after so many unknown names nobody reads what each was meant to be
MAX_NAMED = 250_000  # members × actions, above which a story is a mistake


def names_of(found: list[tuple[Roster, Seat]]) -> tuple[str, ...]:
    """The members' names."""
    return tuple(s.name for _, s in found)


class ScriptCast:
    """Who is there, and which topics and connectors, as the script goes on."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver
        self.out = resolver.out
        self.partitions = {name: topic.partitions for name, topic in resolver.topics.items()}
        self.exists = {name: topic.exists_from_start for name, topic in resolver.topics.items()}
        self.unknown: list[tuple[Node, str, Roster | None]] = []
        self.connectors = Connectors.of(resolver.connect, resolver.out)
        self.deployed = 0  # how often a member was given other settings
        self.named = 0  # how often a member was named by an action
        # an entry could not be read, so who exists is not known for sure
        self.is_incomplete = False

    def explain_unknown(self) -> None:
        """Who was named but not there: perhaps only too early."""
        if self.is_incomplete:
            return
        for number, (node, name, roster) in enumerate(self.unknown):
            if self._is_unsure_of_members(roster):
                continue
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

    def _is_unsure_of_members(self, roster: Roster | None) -> bool:
        """Whether the group itself could not be read (any of them, where none is named): then a
        member that is missing is the same mistake once more.
        """
        story = self.resolver.story
        several = story.get("groups")
        blocks = [story.get(key) for key in ("group", "connect") if key in story.at]
        if isinstance(several, Named):
            named = several.values
            blocks += [named[roster.group]] if roster and roster.group in named else named.values()
        elif "groups" in story.at:
            blocks.append(None)
        return not blocks or any(not isinstance(b, Written) or b.is_bad for b in blocks)

    def group_named(self, name: str, node: Node) -> Roster | None:
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

    def group_of(self, written: Written) -> Roster | None:
        return self.group_named(written.get("group", ""), written.at.get("group", written.node))

    def seats_of(
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
        rosters = list(self.resolver.rosters.values())
        only = self.group_of(written) if "group" in written else None
        if "group" in written and only is None:
            return []
        if only is None and len(rosters) == 1:
            only = rosters[0]
        running = [(r, s) for r in rosters if only in (None, r) for s in r.running]
        if "process" in written:
            return self._of_process(written, running)
        if "members" not in written and not default_all:
            if "members" not in written.at:
                write = "add members: c0, or members: all"
                self.out.add(written.node, f"Who is meant is not said — {write}")
            return []
        targets: tuple[tuple[Any, Node], ...] = written.get("members", ())
        if targets:
            return self._of_targets(targets, only, together)
        if not running and not self.is_incomplete:
            what = "Nobody is left in the group at this point of the script"
            self.out.add(written.node, f"{what} — put this before the last one leaves")
        return running

    def _of_process(
        self, written: Written, running: list[tuple[Roster, Seat]]
    ) -> list[tuple[Roster, Seat]]:
        """All of a process that runs."""
        if "members" in written:
            self.out.add(
                written.at["process"], "process stands beside members — write one of the two"
            )
        name = written.get("process")
        found = [(r, s) for r, s in running if s.process == name]
        if not found and not self.is_incomplete:
            rosters = self.resolver.rosters.values()
            known = dict.fromkeys(s.process for r in rosters for s in r.seats.values() if s.process)
            self.out.add(
                written.at["process"],
                f"There is no process '{shorten(name)}' — "
                f"{or_nearest(name, known, 'give members a process, or the group per_process')}",
            )
        return found

    def _of_targets(
        self, targets: tuple[tuple[Any, Node], ...], only: Roster | None, together: bool
    ) -> list[tuple[Roster, Seat]]:
        """The members that are named, each once; with them, where asked, whoever shares their
        process.
        """
        seats = [self._seat(target, node, only) for target, node in targets]
        found = list({each[1].name: each for each in seats if each is not None}.values())
        if together:
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

    def new_seat(
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

    def check_static_id(self, roster: Roster, seat: Seat) -> None:
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

    def new_name(self, roster: Roster) -> tuple[str, int]:
        return roster.next_name(self.resolver.seats)

    def has_room(self, wanted: int, node: Node) -> bool:
        if len(self.resolver.seats) + wanted > MAX_CONSUMERS:
            self.out.add(
                node, f"With this the story has more than {MAX_CONSUMERS:,} members — write fewer"
            )
            return False
        return True

    def started(self, roster: Roster, seat: Seat) -> Consumer:
        """A consumer that an action starts: it does not start by itself."""
        return self.resolver.consumer(roster, seat, starts=False)

    def only_consumers(
        self, found: list[tuple[Roster, Seat]], written: Written, what: str
    ) -> list[tuple[Roster, Seat]]:
        """The members among these that have a handler. Connect's workers have none, which is said
        where they are named.
        """
        mine = [(r, s) for r, s in found if self.resolver.is_of_workers(r)]
        if mine and written.get("members"):
            self.out.add(
                written.node,
                f"{shorten(mine[0][1].name)} is a Connect worker, which has {what} — freeze it, or "
                "give its connectors a longer stop or poll",
            )
        return [each for each in found if each not in mine]

    def at_broker(self, deed: type[D], written: Written) -> D | None:
        """What is done to a broker, named by its id or as the one that coordinates a group; None
        where there is no such.
        """
        if written.get("broker") is not None:
            return build(deed, written) if self.has_broker(written) else None
        roster = self.group_of(written)
        return build(deed, written, group=roster.group) if roster is not None else None

    def has_broker(self, written: Written) -> bool:
        ids = [b.id for b in self.resolver.cluster.brokers]
        if written.get("broker") not in ids:
            self.out.add(
                written.at["broker"],
                f"There is no broker {written.get('broker')} — "
                f"{or_nearest(str(written.get('broker')), map(str, ids))}",
            )
            return False
        return True

    def topic_of(self, written: Written, is_new: bool = False) -> str | None:
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

    def everybody(self, entry: Written) -> tuple[str, ...]:
        """Chance strikes whoever is there at the time: with `all`, those too who join later."""
        if entry.get("members"):
            return names_of(self.seats_ever(entry))
        rosters = self.resolver.rosters
        only = self.group_of(entry) if "group" in entry else None
        return tuple(
            s.name for r in rosters.values() if only in (None, r) for s in r.seats.values()
        )

    def seats_ever(self, entry: Written) -> list[tuple[Roster, Seat]]:
        for roster in self.resolver.rosters.values():
            for seat in roster.seats.values():
                seat.gone_line = 0
        found = self.seats_of(entry)
        self.explain_unknown()
        self.unknown.clear()
        return found
