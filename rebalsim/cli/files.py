"""Files that commands write, as their options name them."""

from __future__ import annotations

from typing import Any

import click

from rebalsim.outside.writing import write_text

__all__ = ["OutputFile", "write_text"]


class OutputFile(click.Path):
    """A file to be written. An empty name, as of a shell variable that is not set, is no way of
    leaving the option out.
    """

    def __init__(self) -> None:
        super().__init__(dir_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not value:
            self.fail("the name of the file is empty.", param, ctx)
        return super().convert(value, param, ctx)
