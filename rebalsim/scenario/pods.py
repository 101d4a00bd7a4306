"""A pod's own words in `life:`: probes and limits as Kubernetes writes them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from rebalsim.domain.draws import Draw
from rebalsim.domain.pods import Looks
from rebalsim.scenario.document import Node, Scalar
from rebalsim.scenario.kinds import BAD, Duration, Field, Kind, Schema, Section, Whole
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import say_us

_MILLI = re.compile(r"(\d{1,7})m")


class Cores(Kind):
    """CPU as Kubernetes writes it: `500m`, `0.5`, `2`."""

    says = "cores such as 500m, 0.5 or 2"

    def _read(self, node: Node, out: Problems) -> Any:
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, str) and (found := _MILLI.fullmatch(value)):
            value = int(found.group(1)) / 1000
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return self.wrong(node, out)
        if not 0.01 <= value <= 1000:
            return self.wrong(node, out)
        return float(value)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        number: Schema = {"type": "number", "minimum": 0.01, "maximum": 1000}
        return {"anyOf": [number, {"type": "string", "pattern": f"^(?:{_MILLI.pattern})$"}]}

    def say(self, value: Any) -> str:
        return f"{round(value * 1000)}m" if value < 1 else f"{value:g}"


class ProbeBlock(Section):
    """A probe of the kubelet's: when it looks, and how often it may be disappointed."""

    def _read(self, node: Node, out: Problems) -> Any:
        written = super()._read(node, out)
        if written is BAD or written.is_bad:
            return BAD
        return looks_of(written)

    def say(self, value: Any) -> str:
        return (
            f"every {say_us(value.period_us)}, gives up {say_us(value.gives_up_us)} after the start"
        )


def looks_of(written: Any, is_of_assignment: bool = False) -> Looks:
    """How often and for how long a probe looks, with Kubernetes' own defaults."""
    given = Looks()
    return Looks(
        written.get("initialDelaySeconds", given.initial_delay_us),
        written.get("periodSeconds", given.period_us),
        written.get("failureThreshold", given.failures),
        written.get("successThreshold", given.successes),
        is_of_assignment,
    )


STARTUP = ProbeBlock(
    "startupProbe",
    (
        Field("initialDelaySeconds", Duration(), "The first look.", default="0s"),
        Field("periodSeconds", Duration(least=1), "And the next ones.", default="10s"),
        Field("failureThreshold", Whole(1, 1000), "So many looks in all.", default="3"),
    ),
    "Holds the other probes back until the process runs.",
    allows_nothing=True,
)


def slowed(draw: Draw, factor: float) -> Draw:
    """What takes so many times as long: every shape's figures are times."""
    if factor == 1.0:
        return draw
    return replace(
        draw,
        a=draw.a * factor,
        b=draw.b * factor,
        values=tuple(v * factor for v in draw.values),
        tail_us=draw.tail_us * factor,
    )
