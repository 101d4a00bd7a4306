"""The scenario's script, carried out: each action at its time, after another one, or once a
condition holds; again where it repeats.

What the deeds are is told in the deeds folder, a file per kind. Here is only when they are done,
and who waits for that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from rebalsim.domain.script import Action
from rebalsim.simulation.conditions import Condition
from rebalsim.simulation.deeds import carry_out
from rebalsim.simulation.engine import SCRIPT, Steps
from rebalsim.simulation.random_faults import RandomFaults
from rebalsim.trace.events import ScriptActed

if TYPE_CHECKING:
    from rebalsim.simulation.ports import Client, World


class Script:
    """Who does what to whom, and when."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.engine = world.engine
        self.waiting: list[Condition] = []  # conditions that somebody waits for
        self._after: dict[str, list[_Named]] = {}  # id → the actions that begin when it is done
        self._left: dict[str, int] = {}  # id → how many of its repeats are not done yet
        self._watchers: dict[
            str, list[Callable[[], object]]
        ] = {}  # consumer → who wants to know that it exited or was assigned

    def begin(self) -> None:
        """Everything that has a time of its own; the rest waits for what it names."""
        for number, action in enumerate(self.world.scenario.script, 1):
            named = _Named(action, number)
            if action.id:
                self._left[action.id] = self._left.get(action.id, 0) + action.times
            if action.after is not None:
                self._after.setdefault(action.after, []).append(named)
            else:
                self._plan(named, self.world.shift_us if action.has_moment else 0)
        if self.world.scenario.random_faults:
            RandomFaults(self.world).begin()

    # ----------------------------------------------------------------------------------------- when

    def _plan(self, named: _Named, from_us: int) -> None:
        action = named.action
        for i in range(action.times):
            at = from_us + action.at_us + i * (action.every_us or 0)
            if action.jitter_us:
                at += int(
                    self.world.randomness.stream(f"jitter/{named.name}").unit() * action.jitter_us
                )
            self.engine.at(at, SCRIPT, self._due, named)

    def _due(self, named: _Named) -> None:
        when = named.action.when
        if when is None:
            self._act(named)
        else:
            condition = Condition(self.world, when, lambda: self._act(named))
            self.waiting.append(condition)
            condition.look()

    def _act(self, named: _Named) -> None:
        self.engine.begin(self.action(named))

    def action(self, named: _Named) -> Steps:
        """One action from its beginning to its end, and what follows upon it."""
        yield from carry_out(self.world, named.name, named.action.deed)
        ident = named.action.id
        if ident:
            self._left[ident] -= 1
            if not self._left[ident]:
                for waiting in self._after.pop(ident, ()):
                    self._plan(waiting, self.engine.now)

    # ----------------------------------------------------------------------------- told and noticed

    def tell(
        self, name: str, kind: str, text: str, targets: tuple[str, ...], until_us: int = -1
    ) -> None:
        """An action takes effect."""
        self.world.tell(ScriptActed(self.engine.now, name, kind, text, targets, until_us))

    def watch(self, consumer: str, then: Callable[[], object]) -> None:
        """Call this once, when the consumer exits or has been assigned."""
        self._watchers.setdefault(consumer, []).append(then)

    def noticed(self, consumer: Client) -> None:
        """A consumer exited, or its assigned callback is over."""
        for then in self._watchers.pop(consumer.name, ()):
            then()

    def changed(self) -> None:
        """A group's state changed, or somebody caught up: conditions are looked at again."""
        for condition in list(self.waiting):
            condition.look()


class _Named:
    """An action with the name by which marks and causes know it: its id, or its kind and place
    in the script.
    """

    __slots__ = ("action", "name")

    def __init__(self, action: Action, number: int) -> None:
        self.action = action
        self.name = action.id or f"{_dashed(type(action.deed).__name__)}-{number}"


def _dashed(name: str) -> str:
    return "".join(
        [f"-{letter.lower()}" if letter.isupper() else letter for letter in name]
    ).lstrip("-")
