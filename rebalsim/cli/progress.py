"""Signs of life on stderr while something takes long: a bar or a count on a terminal, elsewhere a
line now and then, so that a build's log tells what it waits for.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from rebalsim.cli.streams import beneath
from rebalsim.domain.instants import SECOND
from rebalsim.words.times import say_duration

FIRST_SIGN_S = 10.0  # in a log
SOON_S = 0.3  # on a terminal: what takes less needs none
_WIDTH = 30


@contextmanager
def progress(total: int) -> Iterator[Callable[[], None]]:
    """A step a run: a bar on a terminal where there is something to wait for; elsewhere a line at
    longer and longer intervals.
    """
    if total < 20:
        yield lambda: None
    elif sys.stderr.isatty():
        with click.progressbar(
            length=total, label=f"{total:,} runs", file=beneath(sys.stderr), show_pos=True
        ) as bar:
            yield lambda: bar.update(1)
    else:
        lines, done = _Lines(), [0]

        def step() -> None:
            done[0] += 1
            lines.tell(lambda took: _rate(done[0], total, took) if done[0] < total else "")

        yield step


def forewarn(said: str) -> None:
    """That something takes long, said before it begins."""
    click.echo(said, err=True)


def _rate(done: int, total: int, took: float) -> str:
    left = took / done * (total - done)
    return (
        f"{done:,} of {total:,} runs · {done / took:,.0f}/s · "
        f"{say_duration(round(left) * SECOND)} left"
    )


class _Lines:
    """For a log: the first line after ten seconds, each of the next after half as long again."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.next = FIRST_SIGN_S

    def tell(self, said: Callable[[float], str]) -> None:
        """Whatever is said after so many seconds, where it is time for it; nothing for nothing."""
        took = time.monotonic() - self.began
        if took >= self.next and (line := said(took)):
            self.next = took * 1.5
            click.echo(line, err=True)


class Signs:
    """Of work in two parts: runs that are played, and remedies that are tried in more of them."""

    def __init__(self) -> None:
        self.is_terminal = sys.stderr.isatty()
        self.is_shown = False
        self.lines = _Lines()

    def played(self, done: int, total: int) -> None:
        """So many of all runs are done."""
        filled = "#" * (_WIDTH * done // max(1, total))
        if self.is_terminal and total > 1:
            self._show(f"[{filled:-<{_WIDTH}}] {done:,} of {total:,} runs")
        elif not self.is_terminal and done < total:
            self.lines.tell(lambda took: _rate(done, total, took))

    def trying(self, file: str, events: int, most: int) -> None:
        """What could help a story's broken budgets is tried, and so many events of the most that
        this may cost are played.
        """
        said = f"trying what could help: {min(events, most):,} of at most {most:,} events played"
        if self.is_terminal:
            self._show(said)
        else:
            self.lines.tell(lambda _: f"{file}: {said} (--advise off leaves this out)")

    def searching(self, events: int, most: int) -> None:
        """So many events of the most that a search may play are played."""
        said = f"{min(events, most):,} of at most {most:,} events played"
        if self.is_terminal:
            self._show(said)
        else:
            self.lines.tell(lambda _: f"  {said}")

    def _show(self, said: str) -> None:
        if self.is_shown or time.monotonic() - self.lines.began > SOON_S:
            self.is_shown = True
            click.echo(f"\r  {said:<76}", nl=False, err=True)

    def clear(self) -> None:
        """What was shown goes, so that the answer stands alone."""
        if self.is_shown:
            click.echo("\r" + " " * 78 + "\r", nl=False, err=True)


@contextmanager
def signs() -> Iterator[Signs]:
    """Signs of life for as long as the work takes."""
    shown = Signs()
    try:
        yield shown
    finally:
        shown.clear()
