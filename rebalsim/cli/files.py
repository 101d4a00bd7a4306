"""Files that commands write, as their options name them."""

from __future__ import annotations

import click

from rebalsim.outside.writing import write_new, write_text

__all__ = ["OUTPUT_FILE", "write_new", "write_text"]

OUTPUT_FILE = click.Path(dir_okay=False)
