"""The options that say which seeds a maker's command plays: from which one on, and how many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def of_seeds(count: int) -> Callable[[F], F]:
    """`--from SEED` and `--count N`, given to the command as `first` and `count`."""

    def decorate(command: F) -> F:
        many = click.option(
            "--count",
            type=click.IntRange(1, 1_000_000_000),
            default=count,
            show_default=True,
            metavar="N",
            help="How many.",
        )
        first = click.option(
            "--from",
            "first",
            type=click.IntRange(0, 2**53),
            default=0,
            show_default=True,
            metavar="SEED",
            help="The first one: give each machine a range of its own.",
        )
        return first(many(command))

    return decorate
