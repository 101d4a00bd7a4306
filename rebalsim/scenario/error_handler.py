"""`error_handler:`, what Spring's container does with a record whose handling throws."""

from __future__ import annotations

from typing import Any

from rebalsim.domain.consumer import ErrorHandler
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import BAD, Duration, Field, Number, Section, Whole, build
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import say_us


class ErrorHandlerBlock(Section):
    """The block as what it describes."""

    def _read(self, node: Node, out: Problems) -> Any:
        written = super()._read(node, out)
        return BAD if written is BAD or written.is_bad else build(ErrorHandler, written)

    def say(self, value: Any) -> str:
        waits = f", {say_us(value.back_off_us)} apart" if value.back_off_us else ""
        more = f" × {value.multiplier:g}" if value.multiplier != 1 else ""
        return f"{value.attempts} attempts{waits}{more}"


ERROR_HANDLER = ErrorHandlerBlock(
    "error_handler",
    (
        Field("attempts", Whole(1, 100_000), "In all.", target="attempts"),
        Field("backOff", Duration(), "Waited before the next one.", target="back_off_us"),
        Field(
            "multiplier", Number(1, 100), "Each wait so many times the last.", target="multiplier"
        ),
        Field("maxInterval", Duration(), "And never longer.", target="most_us"),
    ),
    "Spring's DefaultErrorHandler. It waits in the consumer's thread, then seeks and polls again.",
    allows_nothing=True,
)
