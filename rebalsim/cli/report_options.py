"""Options of every command that tells of pauses, and what they lead to: which forms are written
where, which part is shown, how wide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from rebalsim.cli import forms, terminal
from rebalsim.cli.files import OUTPUT_FILE
from rebalsim.cli.options import width_option
from rebalsim.domain.errors import InputError
from rebalsim.reports.forms.form import Subject
from rebalsim.reports.report import Report
from rebalsim.reports.view import View

F = TypeVar("F", bound=Callable[..., Any])


class Instant(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A moment since the start: `41s`, `1m30s`, or as reports write it, `1:30` and `1:30.250`."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return int(value) if isinstance(value, int) else instant(str(value))


def instant(text: str) -> int:
    """The moment in µs. Raises InputError that says what to write."""
    from rebalsim.scenario.quantities import duration, why_no_duration

    told = duration(text.strip())
    if told is not None:
        return round(told)
    parts = text.strip().split(":")
    try:
        if len(parts) in (2, 3) and all(p.replace(".", "", 1).isdecimal() for p in parts):
            return round(sum(float(p) * 60.0**i for i, p in enumerate(reversed(parts))) * 1_000_000)
    except (ValueError, OverflowError):
        pass
    why = why_no_duration(text)
    if why and " — " in why:  # it gives its own advice
        raise InputError(why)
    raise InputError(
        f"{why or repr(text) + ' is no moment'} — a moment is written 41s, 1m30s or 1:30.250"
    )


INSTANT = Instant()


def view_options(function: F) -> F:
    """--from --to --partition --member --ascii --width, gathered by `view_from`."""
    for option in reversed(
        (
            click.option(
                "--from",
                "from_us",
                type=INSTANT,
                metavar="TIME",
                help="Show from this moment on, as in 41s or 1:30.",
            ),
            click.option(
                "--to", "until_us", type=INSTANT, metavar="TIME", help="Show until this moment."
            ),
            click.option(
                "--partition",
                "partitions",
                multiple=True,
                metavar="NAME",
                help="Show these only: orders-3, orders, orders-1*. Repeatable.",
            ),
            click.option(
                "--member",
                "members",
                multiple=True,
                metavar="NAME",
                help="Show what these members held only. Repeatable.",
            ),
            click.option(
                "--ascii", "is_ascii", is_flag=True, help="Plain ASCII instead of box characters."
            ),
            width_option,
        )
    ):
        function = option(function)
    return function


def form_options(function: F) -> F:
    """An option for each form that tells of runs, and --trace FILE; written by `emit`."""
    trace = click.option(
        "--trace", "trace_file", type=OUTPUT_FILE, metavar="FILE", help="Every event that happened."
    )
    return forms.options_of(Subject.RUNS)(trace(function))


def view_from(options: Mapping[str, Any]) -> View:
    """The view that the options and the terminal mean."""
    view = View(
        width=terminal.width_of(options.get("width")),
        is_ascii=bool(options.get("is_ascii")) or terminal.is_ascii_only(),
        is_coloured=terminal.is_coloured(),
        from_us=options.get("from_us"),
        until_us=options.get("until_us"),
        partitions=tuple(options.get("partitions") or ()),
        members=tuple(options.get("members") or ()),
    )
    if view.from_us is not None and view.until_us is not None and view.from_us >= view.until_us:
        raise InputError("--from is not before --to — the window is empty")
    return view


def check_view(report: Report, view: View) -> None:
    """A zoom on what is not there is an error, with the nearest thing."""
    if view.from_us is not None and view.from_us >= report.horizon_us:
        from rebalsim.words.times import say_instant

        raise InputError(
            f"--from {say_instant(view.from_us)} is after the end: the observation stops at "
            f"{say_instant(report.horizon_us)}"
        )
    lanes = [lane for v in report.variants for lane in v.analysis.lanes]
    for partition in view.partitions:
        only = View(partitions=(partition,))
        if not any(only.shows(lane) for lane in lanes):
            raise InputError(
                f"There is no partition '{partition}' — "
                f"{_near(partition, [str(lane.partition) for lane in lanes])}"
            )
    members = [m.consumer for v in report.variants for m in v.analysis.members]
    for member in view.members:
        if not any(View(members=(member,)).shows_member(name) for name in members):
            raise InputError(f"There is no member '{member}' — {_near(member, members)}")


def _near(name: str, known: list[str]) -> str:
    from rebalsim.words.nearest import did_you_mean

    if meant := did_you_mean(name, known):
        return meant
    return (
        f"there is {', '.join(list(dict.fromkeys(known))[:5])}" if known else "there is none at all"
    )


def emit(report: Report, options: Mapping[str, Any], view: View) -> None:
    """Writes the files that were asked for, and the one form that goes to stdout."""
    form = forms.printed_form(Subject.RUNS, options)
    check_view(report, view)
    if form is None:
        from rebalsim.reports.to_terminal import render

        text = terminal.as_told(render(report, view))
        write_files(report, options, view)
        click.echo(text, nl=False, color=view.is_coloured or None)
    else:
        write_files(report, options, view)
        forms.print_form(form, Subject.RUNS, report, view)


def write_files(report: Report, options: Mapping[str, Any], view: View) -> None:
    """The forms that go to files, and --trace."""
    for _ in forms.write_files(Subject.RUNS, report, options, view):
        pass
    if options.get("trace_file"):
        from rebalsim.trace.jsonl import write_trace

        for v in report.variants:
            if not v.analysis.trace.events:
                raise InputError(
                    f"{v.file}: is a result without its events — --trace needs a scenario, a "
                    "trace, a recording or logs"
                )
            write_trace(v.analysis.trace, trace_path(options["trace_file"], report, v.name))


def trace_path(name: str, report: Report, variant: str) -> Path:
    """The file itself for one trace; with several, `.VARIANT.SEED` before the suffix, one file
    each.
    """
    path = Path(name)
    if len(report.variants) == 1:
        return path
    suffix = ".jsonl.gz" if path.name.endswith(".jsonl.gz") else path.suffix
    stem = path.name.removesuffix(suffix) if suffix else path.name
    seed = next(v.analysis.header.seed for v in report.variants if v.name == variant)
    safe_name = "".join(c if c.isalnum() or c in "-_" else "-" for c in variant)
    return path.with_name(f"{stem}.{safe_name}{'' if seed is None else f'.{seed}'}{suffix}")
