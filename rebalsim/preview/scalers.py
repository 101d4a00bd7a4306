"""Autoscalers in a preview: where the files tell how much arrives they act in every story. Where the
rate is only assumed, what they would do is tried beside, and said to rest on it.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.preview.runs import played
from rebalsim.reports import figures
from rebalsim.words.lists import plural
from rebalsim.worlds.groups import Play
from rebalsim.worlds.scaler_lines import has_rate, scalers_of
from rebalsim.worlds.to_scenario import RATE, Happening
from rebalsim.worlds.understood import Understood

_METRICS = ("longest_pause", "rebalances", "scalings", "oscillates")


def acting(happening: Happening, made: Understood, plays: list[Play]) -> Happening:
    """The story with its scalers at work, if the rate that they follow is known."""
    return _with(happening, made, plays) if has_rate(made) else happening


def _with(happening: Happening, made: Understood, plays: list[Play]) -> Happening:
    lines: list[tuple[str, str]] = []
    for number, (where, action) in enumerate(scalers_of(made, plays)):
        lines += [("- at: 10s", where), (f"  id: scaler-{number}", ""), (f"  {action}", "")]
    return replace(happening, lines=(*lines, *happening.lines))


def tried(
    of: Understood, name: str, happening: Happening, made: Understood, plays: list[Play]
) -> tuple[str, ...]:
    """What the scalers of `made` would do during the deploy at the assumed rate, in a sentence."""
    if has_rate(made) or not scalers_of(made, plays):
        return ()
    runs = played(of, name, _with(happening, made, plays), _METRICS)
    said = {metric: figures.say(metric, runs.middle(metric)) for metric in _METRICS}
    return (
        f"The autoscaler is left out above, since it follows a rate that is only assumed. At {RATE} "
        f"it would scale {_times(said['scalings'])} during this, turn round "
        f"{_times(said['oscillates'])}, and make it {plural(int(runs.middle('rebalances') or 0), 'rebalance')}, "
        f"{said['longest_pause']} at the longest",
    )


def _times(count: str) -> str:
    return {"0": "never", "1": "once"}.get(count, f"{count} times")
