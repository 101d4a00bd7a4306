"""A point's number → its values and the settings they put on the base scenario. Pure arithmetic
and named streams: any worker can ask for any point.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from rebalsim.domain.draws import Draw
from rebalsim.domain.sweep import Base, Plan, SampledAxis
from rebalsim.scenario.axes import Amount
from rebalsim.scenario.condition import Condition, Value, parse_condition
from rebalsim.scenario.grid import digits_of
from rebalsim.simulation.randomness import Randomness

_FINE = 1e6  # numbers are drawn in millionths: streams draw whole numbers


# an axis' name, its step as people write it, as a number, and the settings that make it
StepSaid = tuple[str, str, float | None, tuple[tuple[str, str], ...]]


class Points:
    """A plan's points. Values are numbers (µs for durations) or words; what an axis says stands
    beside it as text.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.radices = plan.radices
        kinds = {a.name: a.kind for a in plan.every_axis} | {"variant": "text", "scenario": "text"}
        conditions = [parse_condition(text, kinds) for text in plan.where]
        self._of_point: list[Condition] = [c for c in conditions if "variant" not in c.names]
        self._of_variant: list[Condition] = [c for c in conditions if "variant" in c.names]
        self._draws = {a.name: _scaled(a) for a in plan.sampled}
        self._streams = Randomness(0)

    def base(self, point: int) -> Base:
        return self.plan.bases[digits_of(point, self.radices)[0]]

    def labels(self, point: int) -> dict[str, str]:
        """What each axis says at this point, as people write it."""
        return {name: text for name, text, _, _ in self._steps(point)}

    def values(self, point: int) -> dict[str, Value]:
        """What each axis measures at this point; words where it measures nothing."""
        values: dict[str, Value] = {
            name: text if number is None else number for name, text, number, _ in self._steps(point)
        }
        values["scenario"] = self.base(point).name
        return values

    def settings(self, point: int) -> tuple[tuple[str, str], ...]:
        """path → value, in the plan's order: what all points set, then the axes."""
        return (
            *self.plan.settings,
            *(setting for _, _, _, settings in self._steps(point) for setting in settings),
        )

    def is_played(self, point: int) -> bool:
        """Whether the point meets the conditions that do not ask for the variant."""
        if not self._of_point:
            return True
        values = self.values(point)
        return all(c.holds(values) for c in self._of_point)

    def variants(self, point: int, variants: tuple[str, ...]) -> tuple[str, ...]:
        """The variants with which the point meets the conditions that ask for the variant."""
        if not self._of_variant:
            return variants
        values = self.values(point)
        return tuple(
            v for v in variants if all(c.holds({**values, "variant": v}) for c in self._of_variant)
        )

    @functools.lru_cache(maxsize=4)  # noqa: B019   one per plan and process
    def _steps(self, point: int) -> tuple[StepSaid, ...]:
        digits = digits_of(point, self.radices)
        found: list[StepSaid] = []
        for axis, digit in zip(self.plan.axes, digits[1:]):
            step = axis.steps[digit]
            number = None if axis.kind == "text" else step.number
            found.append((axis.name, step.label, number, step.settings))
        for sampled in self.plan.sampled:
            drawn = self._streams.stream(f"axis/{sampled.name}").draw_at(
                self._draws[sampled.name], digits[-1]
            )
            number = float(drawn) if sampled.kind == "duration" else drawn / _FINE
            if sampled.is_whole:
                number = float(round(number))
            text = Amount(sampled.kind, number, sampled.suffix).write(number, sampled.is_whole)
            found.append((sampled.name, text, number, ((sampled.path, text),)))
        return tuple(found)


def _scaled(axis: SampledAxis) -> Draw:
    draw = axis.draw
    if axis.kind == "duration":
        return draw
    return replace(
        draw, a=draw.a * _FINE, b=draw.b * _FINE, values=tuple(v * _FINE for v in draw.values)
    )
