"""`rebalsim compare A B`: what got better or worse from A to B, per partition and in total, and
by which phase.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from rebalsim import __version__
from rebalsim.cli import exits
from rebalsim.cli.options import allow_code_option, seed_option, set_option, variant_option
from rebalsim.cli.report_options import emit, form_options, view_from, view_options
from rebalsim.domain.errors import InputError

if TYPE_CHECKING:
    from rebalsim.reports.report import Report, VariantReport


@click.command(
    "compare",
    epilog="Examples: rebalsim compare old.yaml new.yaml · rebalsim compare recording.json "
    "story.yaml --variant eager",
)
@click.argument("before", metavar="A", type=click.Path())
@click.argument("after", metavar="B", type=click.Path())
@variant_option
@form_options
@view_options
@set_option
@seed_option
@allow_code_option
def command(
    before: str,
    after: str,
    variant: str | None,
    overrides: tuple[str, ...],
    seed: int | None,
    allow_code: bool,
    **options: Any,
) -> int:
    """Say what changed from A to B: per partition and in total what got better or worse, and by
    which phase.

    A and B are scenarios (played with the same seed), traces, recordings or folders of client
    logs, in any mix. Variants are held against those of the same name; --variant picks one.
    --set goes to both.

    It only tells: `check --baseline` judges what has become worse, and `run` holds the variants of
    one story side by side.
    """
    view = view_from(options)
    emit(compared(before, after, variant, overrides, seed, allow_code), options, view)
    return exits.WITHIN


def _opened(
    name: str, variant: str | None, overrides: Sequence[str], seed: int | None, allow_code: bool
) -> list[VariantReport]:
    """A scenario's variants, played so; of anything else what it holds."""
    from rebalsim.cli.sources import SCENARIO, kind_of, open_variants

    if kind_of(name) != SCENARIO:
        return open_variants(name, None, (), None, allow_code, has_spread=True)
    return open_variants(name, variant, overrides, seed, allow_code, has_spread=True)


def compared(
    before: str,
    after: str,
    variant: str | None = None,
    overrides: Sequence[str] = (),
    seed: int | None = None,
    allow_code: bool = False,
) -> Report:
    """The report that holds the one against the other."""
    from rebalsim.cli.sources import SCENARIO, kind_of
    from rebalsim.reports.report import Report

    found = [_opened(name, variant, overrides, seed, allow_code) for name in (before, after)]
    labels = _labels(before, after)
    columns: list[VariantReport] = []
    for both in _pairs(found[0], found[1], before, after):
        for v, label, siblings in zip(both, labels, found):
            name = label if len(siblings) == 1 else f"{label} {v.name}"
            columns.append(replace(v, name=name, heading=f"{label}: {v.title}"))
    pairs = tuple((place, place + 1) for place in range(0, len(columns), 2))
    are_stories = kind_of(before) == kind_of(after) == SCENARIO
    turned = _settings(before, after, overrides, allow_code) if are_stories else ()
    header = found[1][0].analysis.header
    words = [
        "rebalsim",
        "compare",
        before,
        after,
        *(["--variant", variant] if variant else []),
        *(w for o in overrides for w in ("--set", o)),
    ]
    return Report(
        f"{labels[0]} against {labels[1]}",
        tuple(columns),
        kafka=header.kafka,
        seed=header.seed,
        version=__version__,
        command=shlex.join([*words, *(["--seed", str(seed)] if seed is not None else [])]),
        pairs=pairs,
        notes=turned,
    )


def _pairs(
    olds: list[VariantReport], news: list[VariantReport], before: str, after: str
) -> list[tuple[VariantReport, VariantReport]]:
    """Variants of the same name; where one side has only one, it is held against each of the
    other's.
    """
    named = {v.name: v for v in news}
    found = [(old, named[old.name]) for old in olds if old.name in named]
    if found and (len(found) == len(olds) or len(found) == len(news)):
        return found
    if len(olds) == 1 or len(news) == 1:
        return [(old, new) for old in olds for new in news]
    if found:
        return found
    raise InputError(
        f"{before} is played as {', '.join(v.name for v in olds)} and {after} as "
        f"{', '.join(named)}, which have no name in common — "
        "name variants in `replay:` alike, or say --variant"
    )


def _settings(
    before: str, after: str, overrides: Sequence[str], allow_code: bool
) -> tuple[str, ...]:
    """Which of Kafka's settings differ between two stories, with the later file's line; and which
    other parts of the story do.
    """
    from rebalsim.analysis.baseline import (
        VariantBaseline,
        parts_changed,
        parts_of,
        settings_changed,
        settings_of,
    )
    from rebalsim.cli.options import load_story
    from rebalsim.words.lists import joined

    old, new = (load_story(name, overrides, allow_code) for name in (before, after))
    told: dict[str, None] = {}
    parts: dict[str, None] = {}
    for name in old.variants:
        if name not in new.variants:
            continue
        was, now = (
            VariantBaseline(0, 0, "", "", values=settings_of(one), parts=parts_of(one))
            for one in (story.scenario(name) for story in (old, new))
        )
        parts |= dict.fromkeys(parts_changed(was, now))
        for key, one, other in settings_changed(was, now):
            seat = next(iter(new.resolver(name).seats), "")
            line, _, text, _ = new.place_of("consumer", seat, key, name)
            where = f" ({after}:{line})" if key in text else ""
            told[f"{key} {one} → {other}{where}"] = None
    return (
        *([f"Settings that changed: {', '.join(told)}."] if told else []),
        *([f"Of the story changed: {joined(list(parts))}."] if parts else []),
    )


def _labels(before: str, after: str) -> tuple[str, str]:
    """The files' names as short as they can be and still differ."""
    from pathlib import Path

    if Path(before).name.split(".")[0] != Path(after).name.split(".")[0]:
        return Path(before).name.split(".")[0] or before, Path(after).name.split(".")[0] or after
    return (before, after) if before != after else ("A", "B")
