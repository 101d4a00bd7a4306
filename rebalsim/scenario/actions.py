"""The script as written → actions on named consumers, in order: who is there is the cast's to keep,
and what an entry means is its action's file to say (`script_actions/`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rebalsim.domain.scenario import Group
from rebalsim.domain.script import Action, RandomFault, When
from rebalsim.scenario.common_language import MAX_CONSUMERS
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.script_action import all_actions
from rebalsim.scenario.script_cast import ScriptCast
from rebalsim.scenario.source import shorten
from rebalsim.scenario.streams_in_script import check_script
from rebalsim.words.nearest import or_nearest


def read_script(
    resolver: Resolver, groups: Sequence[Group], horizon_us: int
) -> tuple[tuple[Action, ...], tuple[RandomFault, ...]]:
    """The story's script and its random faults."""
    reader = ScriptReader(resolver, horizon_us)
    actions = reader.read(resolver.story.get("script", ()))
    faults = reader.read_faults(resolver.story.get("random_faults", ()))
    check_script(resolver, groups, actions)
    return actions, faults


def _moment_of(entry: Written) -> int | None:
    """The instant that is written, where nothing else says when."""
    at: int | None = entry.get("at") if "at" in entry and "after" not in entry.at else None
    return at


class ScriptReader:
    """Turns the script of one variant into actions."""

    def __init__(self, resolver: Resolver, horizon_us: int) -> None:
        self.resolver = resolver
        self.out = resolver.out
        self.horizon_us = horizon_us
        self.cast = ScriptCast(resolver)
        self.actions = all_actions()

    def read(self, entries: tuple[Written, ...]) -> tuple[Action, ...]:
        ids: dict[str, int] = {}
        # by when it happens, then by its entry, then by its repeat
        moments: list[tuple[int, int, int, Action | None, Written, str]] = []
        last_us, last_line = 0, 0
        for number, entry in enumerate(entries):
            line = entry.node.line
            if (at := _moment_of(entry)) is not None and at < last_us:
                self.out.add(
                    entry.at["at"],
                    f"at: {say_us(at)} comes after the action at {say_us(last_us)} (line "
                    f"{last_line}) — put the script in order of time",
                )
            elif at is not None:
                last_us, last_line = at, line
            if entry.is_bad:
                self.cast.is_incomplete = True
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
            # it will happen at some time, so the members it brings are known from here on
            if shape is None:
                moments.append((last_us, number, 0, None, entry, name))
                continue
            moments += [
                (last_us + i * (shape.every_us or 0), number, i, once, entry, name)
                for i, once in enumerate(self._repeats(shape, entry, name))
            ]
        actions: list[Action] = []
        for *_, shape, entry, name in sorted(moments, key=lambda m: m[:3]):
            deed = self.actions[name].read(self.cast, entry.get(name), entry.node.line)
            if deed is not None and shape is not None:
                actions.append(replace(shape, deed=deed))
        self.cast.explain_unknown()
        return tuple(actions)

    def _timing(self, entry: Written, name: str, ids: dict[str, int]) -> Action | None:
        """When the action happens; its deed is read later."""
        at, after, when = entry.get("at"), entry.get("after"), entry.get("when")
        if not self._has_moment(entry, name, ids):
            return None
        condition = None
        if when is not None:
            group = self.cast.group_named(when[0], entry.at["when"])
            if group is None:
                return None
            condition = When(group.group, when[1], when[2])
        at_us = entry.get("delay", 0) if after is not None else (at or 0)
        every, times = entry.get("every"), entry.get("times")
        if every is None and (times or 1) > 1:
            self.out.add(
                entry.at["times"], f"times: {times} needs to know how far apart — add every: 1m"
            )
        last_us = at_us + (every or 0) * ((times or 1) - 1)
        if after is None and last_us >= self.horizon_us:
            self._is_too_late(entry, name, at_us, last_us)
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

    def _has_moment(self, entry: Written, name: str, ids: dict[str, int]) -> bool:
        """Whether it says when, once."""
        add, at, after = self.out.add, entry.at, entry.get("after")
        if not {"at", "after", "when"} & entry.values.keys():
            says = f"{name} does not say when — add at: 1m, after: ID, or when: group is stable"
            add(entry.node, says)
            return False
        if "at" in entry and "after" in entry:
            add(at["after"], "after stands beside at — write at alone, or after with delay")
            return False
        if "delay" in entry and "after" not in entry:
            add(at["delay"], "delay goes with after — write at: for a moment of the story")
        if after is not None and after not in ids:
            what_else = or_nearest(after, ids, f"give that action id: {shorten(after)}")
            says = f"No action before this one has the id '{shorten(after)}' — {what_else}"
            add(at["after"], says)
        return True

    def _is_too_late(self, entry: Written, name: str, at_us: int, last_us: int) -> None:
        """Whether the story ends before the action begins."""
        at = self.resolver.story.at
        default = "" if "horizon" in at else " (the default)"
        moment = f"at {say_us(at_us)}"
        moment = moment if last_us == at_us else f"for the last time at {say_us(last_us)}"
        self.out.add(
            at.get("horizon", entry.at.get("at", entry.node)),
            f"The horizon {say_us(self.horizon_us)}{default} comes before {name} on line "
            f"{entry.node.line} {moment} — write horizon: {say_us(_rounded_up(last_us))} or more",
        )

    def _repeats(self, action: Action, entry: Written, name: str) -> list[Action]:
        """A repeated join brings other members each time, and so does a repeated bounce to new
        names: these are told one by one.
        """
        brings_new = self.actions[name].brings_new or entry.get(name).get("as") == "deployment"
        if action.every_us is None or action.times == 1 or not brings_new:
            return [action]
        if action.times > MAX_CONSUMERS:
            what = f"With this the story has more than {MAX_CONSUMERS:,} members"
            self.out.add(entry.at.get("times", entry.node), f"{what} — repeat it less often")
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

    def read_faults(self, entries: tuple[Written, ...]) -> tuple[RandomFault, ...]:
        made = []
        for entry in entries:
            if entry.is_bad:
                continue
            found = self.cast.everybody(entry)
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


_LATER: Any = None


def _rounded_up(us: int) -> int:
    """A round figure for a horizon that lies after this moment."""
    minute = 60_000_000
    return (us // minute + 1) * minute
