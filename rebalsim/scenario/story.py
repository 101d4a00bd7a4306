"""A story: a scenario file that was read, from which each variant's `Scenario` can be had, with any
setting overridden.

Nothing here opens files. `scenario()` remembers what it resolved; `with_overrides()` shares all
that an override leaves alone, so a sweep can ask for thousands of neighbours of one story.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.errors import Problem
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.actions import read_script
from rebalsim.scenario.budgets import read_budgets
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, parse
from rebalsim.scenario.expectations import read_expectations
from rebalsim.scenario.kinds import BAD, Written
from rebalsim.scenario.language import SCENARIO
from rebalsim.scenario.overrides import Override, override, put
from rebalsim.scenario.place_of import place_of
from rebalsim.scenario.problems import MOST, Problems, TooMany, enough, in_order
from rebalsim.scenario.replay_language import REPLAY
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.source import Source
from rebalsim.scenario.starts import begins_settled
from rebalsim.scenario.variants import DEFAULT_REPLAY, Variant, variants_of
from rebalsim.words.nearest import or_nearest

MAX_RESOLVED = 100_000  # members × variants, above which a story is a mistake


class Story:
    """One scenario file as written, with its overrides."""

    def __init__(
        self,
        root: Mapping,
        source: Source,
        overrides: tuple[Override, ...] = (),
        code_from: str = "",
        found: tuple[Problem, ...] = (),
    ) -> None:
        self.file = source.name
        self.source_lines: tuple[str, ...] = tuple(source.lines)
        self.overrides = overrides
        self.code_from = code_from  # of own assignors; empty: no code may be run
        self._source = source
        self._root = root
        self._found = found  # problems of the text itself
        self._problems = Problems()
        self._digest = ""
        try:
            self._read()
        except TooMany as e:
            raise TooMany(enough([*found, *e.problems])) from None
        self._scenarios: dict[str, Scenario] = {}
        self._begun: dict[str, Scenario] = {}  # … as they are played
        self._resolvers: dict[str, Resolver] = {}
        self._found_by_variant: dict[str, list[Problem]] = {}

    def _read(self) -> None:
        changed = self._root
        for one in self.overrides:
            changed = override(changed, one, self._problems)
        self._changed = changed
        self._written: Written = SCENARIO.read(changed, self._problems)
        self._all: tuple[Variant, ...] = variants_of(self._written)
        self.variants: tuple[str, ...] = tuple(v.name for v in self._all)
        known = tuple(dict.fromkeys((*self.variants, *self._named_by_file())))
        self.budgets: tuple[Budget, ...] = self._fitted(
            read_budgets(self._written.get("budgets"), known, self._problems)
        )
        self.expectations: tuple[Expectation, ...] = read_expectations(
            self._written.get("expect"), known, self._problems
        )

    def _named_by_file(self) -> tuple[str, ...]:
        """The variants of the file itself: budgets may be on those that an override leaves out,
        and are then not asked.
        """
        if self._root is self._changed or self._root.entries.get(
            "replay"
        ) is self._changed.entries.get("replay"):
            return ()
        node = self._root.entries.get("replay")
        if node is None:
            return DEFAULT_REPLAY
        found = REPLAY.read(node, Problems())
        return () if found is BAD else tuple(name for name, _, _ in found)

    def _fitted(self, budgets: tuple[Budget, ...]) -> tuple[Budget, ...]:
        """The budgets on metrics that exist; what is wrong with the others is a problem."""
        if not budgets:
            return ()
        # the registry is only worth its import where there are budgets
        from rebalsim.scenario.metric_names import fitted

        good: list[Budget] = []
        for budget in budgets:
            made = fitted(budget)
            if isinstance(made, str):
                self._problems.items.append(
                    self.problem(budget.line, budget.column, made, len(budget.metric))
                )
            else:
                good.append(made)
        return tuple(good)

    # --------------------------------------------------------------------------------- what it says

    @property
    def title(self) -> str:
        return str(self._written.get("title", ""))

    @property
    def description(self) -> str:
        return str(self._written.get("description", "")).strip()

    @property
    def seed(self) -> int:
        return int(self._written.get("seed", 1))

    @property
    def runs(self) -> int:
        return int(self._written.get("runs", 1))

    @property
    def written(self) -> Written:
        """The file as read, with the overrides: for `show`, and for rules that ask what a file
        says rather than what it means.
        """
        return self._written

    @property
    def digest(self) -> str:
        """Of what the file says: comments, layout and quoting do not change it."""
        if not self._digest:
            self._digest = hashlib.sha256(print_of(self._changed).encode()).hexdigest()[:16]
        return self._digest

    # ------------------------------------------------------------------------------------- variants

    def scenario(self, variant: str = "") -> Scenario:
        """The story as meant in this variant (the first one, if none is named). Raises
        ProblemsError with all its problems.
        """
        name = variant or self.variants[0]
        if name not in self._scenarios:
            self._resolve(name)
        problems = Problems()
        problems.items = [
            *self._found,
            *self._problems.items,
            *self._found_by_variant.get(name, ()),
        ]
        problems.raise_if_any()
        if name not in self._begun:
            self._begun[name] = self._begun_of(name)
        return self._begun[name]

    def _begun_of(self, name: str) -> Scenario:
        """The variant with its beginning, where the file does not say it: settled, if all
        variants can begin so, for they are held against each other.
        """
        made = self._scenarios[name]
        if "start" in self._resolvers[name].story or not begins_settled(made):
            return made
        if len(self._all) * len(self._resolvers[name].seats) <= MAX_RESOLVED:
            for other in self.variants:
                if other not in self._scenarios:
                    self._resolve(other)
                if not begins_settled(self._scenarios[other]):
                    return made
        return replace(made, start="settled")

    def heading(self, variant: str) -> str:
        """The variant with its assignor: `eager (range)`."""
        return self.scenario(variant).heading

    def resolver(self, variant: str) -> Resolver:
        """How the variant was resolved: for `show`, which tells where values come from."""
        if variant not in self._resolvers:
            self._resolve(variant)
        return self._resolvers[variant]

    def _resolve(self, name: str) -> None:
        try:
            self._resolved(name)
        except TooMany as e:
            raise TooMany(enough([*self._found, *self._problems.items, *e.problems])) from None

    def _with_sets_of(self, variant: Variant, problems: Problems) -> Written:
        """The story as read with the variant's own settings in it, and the command line's over
        them.
        """
        changed = self._root
        for path, value in variant.sets:
            wrong = Problems()
            changed = put(changed, path.text, value, path.source, wrong)
            # a path's problems stand at the path
            problems.items += [path.problem(p.message) for p in wrong.items]
        for one in self.overrides:
            changed = override(changed, one, problems)
        written: Written = SCENARIO.read(changed, problems)
        return written

    def _resolved(self, name: str) -> None:
        variant = next((v for v in self._all if v.name == name), None)
        if variant is None:
            from rebalsim.domain.errors import InputError

            raise InputError(
                f"The story {self.file} has no variant '{name}' — {or_nearest(name, self.variants)}"
            )
        problems = Problems()
        written = self._with_sets_of(variant, problems) if variant.sets else self._written
        resolver = Resolver(written, variant, self.code_from, problems)
        self._scenarios[name] = resolver.scenario(
            self.budgets, self.expectations, self.digest, self.file, read_script
        )
        self._resolvers[name] = resolver
        self._found_by_variant[name] = problems.items

    # ------------------------------------------------------------------------------------- problems

    def problems(self) -> tuple[Problem, ...]:
        """Everything that is wrong, in any variant, and then the warnings; in the file's order."""
        items = [*self._found, *self._problems.items]
        for number, variant in enumerate(self._all):
            if variant.name not in self._scenarios:
                self._resolve(variant.name)
            items += self._found_by_variant[variant.name]
            if (
                number == 0
                and (members := len(self._resolvers[variant.name].seats)) * len(self._all)
                > MAX_RESOLVED
            ):
                node = self._written.at.get("replay", self._written.node)
                items.append(
                    node.problem(
                        f"{len(self._all)} variants of {members:,} members are more than "
                        f"{MAX_RESOLVED:,} together — replay fewer"
                    )
                )
                return in_order(items)
        self._check_references(items)
        return in_order(items)

    def check(self) -> Story:
        """This story, or ProblemsError if anything is wrong in any variant."""
        problems = Problems()
        problems.items = list(self.problems())
        problems.raise_if_any()
        return self

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """What the loader finds worth saying though the story can be played."""
        return tuple(p for p in self.problems() if p.is_warning)

    def problem(
        self,
        line: int,
        column: int,
        message: str,
        width: int = 1,
        is_warning: bool = False,
        rule: str = "",
    ) -> Problem:
        """A problem at a place in this file, with the source line: for rules, and for budgets
        whose metric or unit is wrong.
        """
        return self._source.problem(line, column, message, width, is_warning, rule)

    def place_of(
        self, kind: str, name: str = "", key: str = "", variant: str = ""
    ) -> tuple[int, int, str, int]:
        """Where a value stands in this file, as (line, column, source line, width): for rules,
        which judge resolved scenarios.

        `kind` is consumer, group, topic, cluster or story, `key` as the file spells it (Kafka's
        name where Kafka has one); of several
        parted by `|` the first that is there. What the file does not say is placed at the nearest
        thing that it does: the block, the group, the first line.
        """
        node = place_of(self._written, self.resolver(variant or self.variants[0]), kind, name, key)
        if node.source is not self._source:
            node = (
                self._written.at.get("replay")
                or self._written.at.get("group")
                or self._written.at.get("groups")
                or self._written.at.get("connect")
                or self._root
            )
            node = node if node.source is self._source else self._root
        return (
            node.line,
            node.column,
            self.source_lines[node.line - 1] if node.line <= len(self.source_lines) else "",
            node.width,
        )

    def says(self, consumer: str, key: str, variant: str = "") -> bool:
        """Whether the file itself gives this consumer this Kafka setting, rather than a stock
        variant or a default.
        """
        resolver = self.resolver(variant or self.variants[0])
        seat = resolver.seats.get(consumer)
        for roster in resolver.rosters.values():
            if seat is not None and roster.seats.get(consumer) is seat:
                config = resolver.parts_of(roster, seat).written.get("config")
                return (
                    config is not None
                    and key in config.at
                    and config.at[key].source is self._source
                )
        return False

    def _check_references(self, items: list[Problem]) -> None:
        """Budgets may name an action, a topic or a member, expectations a partition and a
        member.
        """
        if not self.budgets and not self.expectations:
            return
        first = self._resolvers[self.variants[0]]
        ids = [w.get("id") for w in self._written.get("script", ()) if "id" in w]
        members = {name: None for v in self.variants for name in self._resolvers[v].seats}
        for budget in self.budgets[:MOST]:
            named = (
                ("action", (budget.action,) if budget.action else (), ids),
                ("topic", budget.topics, first.topics),
                ("member", budget.members, list(members)),
            )
            for what, names, known in named:
                unknown = [name for name in names if name not in known]
                items += [self._named_in_vain(budget, what, name, known) for name in unknown]
        for fact in self.expectations[:MOST]:
            for why in _wrong_names(fact, first.topics, members, first.rosters):
                items.append(self.problem(fact.line, fact.column, why, len(fact.text)))

    def _named_in_vain(self, budget: Budget, what: str, name: str, known: Iterable[str]) -> Problem:
        return self.problem(
            budget.line,
            budget.column,
            f"The budget {budget.metric} names the {what} '{name}', which this story does not have — "
            f"{or_nearest(name, known)}",
            len(budget.metric),
        )

    def with_overrides(self, overrides: Iterable[Override]) -> Story:
        """The same story with these settings (`"group.members=5"` or `("group.members", 5)`) on top
        of those it has already.

        Cheap: the parsed file is shared, and only what changed is read again. Problems come with
        `scenario()` or `check()`.
        """
        return Story(
            self._root, self._source, (*self.overrides, *overrides), self.code_from, self._found
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Sent to another process as its text, and read again there."""
        return _read_again, (self._source.name, self._source.text, self.overrides, self.code_from)


def _read_again(name: str, text: str, overrides: tuple[Override, ...], code_from: str) -> Story:
    source = Source(name, text)
    root, found = parse(text, source)
    assert isinstance(root, Mapping)
    return Story(root, source, overrides, code_from, tuple(found))


def print_of(node: Node) -> str:
    """A node's values without layout; remembered, so that neighbours in a sweep cost only their
    difference.
    """
    if node.print_ is None:
        if isinstance(node, Mapping):
            node.print_ = (
                "{" + ",".join(f"{k!r}:{print_of(v)}" for k, v in node.entries.items()) + "}"
            )
        elif isinstance(node, Sequence):
            node.print_ = "[" + ",".join(map(print_of, node.items)) + "]"
        else:
            assert isinstance(node, Scalar)
            node.print_ = repr(node.value) if not node.trap else repr(node.text)
        if len(node.print_) > 256:
            node.print_ = "#" + hashlib.sha256(node.print_.encode()).hexdigest()
    return node.print_


__all__ = ["BAD", "Story", "print_of"]


_OF_A_PARTITION = ("owned-by", "unowned")
_OF_A_MEMBER = ("fenced", "not-fenced", "removed", "not-removed", "gone")
_OF_A_GROUP = ("stable", "empty", "no-rebalance")


def _wrong_names(
    fact: Expectation, topics: Collection[str], members: Collection[str], groups: Collection[str]
) -> Iterator[str]:
    """What a fact names that the story does not have."""
    if fact.fact in _OF_A_PARTITION:
        topic, _, number = fact.subject.rpartition("-")
        if topic not in topics or not number.isdigit():
            yield (
                f"'{fact.subject}' is no partition of this story — write one such as "
                f"{next(iter(topics), 'orders')}-0"
            )
    who = fact.subject if fact.fact in _OF_A_MEMBER else ""
    who = fact.object if fact.fact == "owned-by" else who
    if who and who not in members:
        yield f"There is no member '{who}' — {or_nearest(who, members)}"
    group = fact.subject if fact.fact in _OF_A_GROUP else ""
    if group and group not in groups and group != "group":
        yield f"There is no group '{group}' — {or_nearest(group, groups)}"
