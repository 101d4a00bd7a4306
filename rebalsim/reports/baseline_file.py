"""A baseline as a file, there and back: JSON with a figure a line, sorted, times as seconds,
made to be committed and read in a diff.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from rebalsim import __version__
from rebalsim.analysis.baseline import Baseline, VariantBaseline, metric_of
from rebalsim.domain.errors import InputError
from rebalsim.domain.instants import SECOND
from rebalsim.domain.metrics import METRICS, PHASES
from rebalsim.outside.documents import parse_json

SCHEMA_VERSION = 2
OLDER = (1,)  # its digests were of another making, and say nothing any more
_SECONDS = re.compile(r"(-?[0-9]{1,15}(?:\.[0-9]{1,6})?) s")
_AGAIN = "`rebalsim check --save-baseline FILE` writes it anew"


def render(baseline: Baseline) -> str:
    """The file's text."""
    stories = {
        file: {
            variant: {
                "seed": one.seed,
                "runs": one.runs,
                "story": one.story,
                "settings": one.config,
                **({} if one.parts is None else {"parts": dict(sorted(one.parts.items()))}),
                **({} if one.values is None else {"values": dict(sorted(one.values.items()))}),
                "metrics": {
                    key: _written(metric_of(key), value)
                    for key, value in sorted(one.metrics.items())
                },
                "partition_seconds_by_phase": {
                    phase: _seconds(one.phases[phase]) for phase in PHASES if phase in one.phases
                },
            }
            for variant, one in sorted(variants.items())
        }
        for file, variants in sorted(baseline.stories.items())
    }
    document = {"baseline": SCHEMA_VERSION, "rebalsim": baseline.rebalsim, "stories": stories}
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _written(metric: str, value: float) -> str | float | int:
    if metric in METRICS and METRICS[metric].unit.is_time:
        return _seconds(value)
    return int(value) if value == int(value) else value


def _seconds(us: float) -> str:
    whole, part = divmod(round(us), SECOND)
    return f"{whole}.{part:06d}".rstrip("0").rstrip(".") + " s"


def parse(text: str, file: str) -> Baseline:
    """The baseline in this text. InputError says what is wrong with the file and what to do."""
    try:
        document = parse_json(text, file)
    except InputError as e:
        is_cut = text.lstrip().startswith("{") and not text.rstrip().endswith("}")
        found = re.search(r" line (\d+) column", str(e))
        why = "is cut off" if is_cut else "is no baseline: it is not JSON"
        raise InputError(
            f"{file}:{found[1] if found else 1}: {why} — restore it from version control, or {_AGAIN}"
        ) from None
    if not isinstance(document, dict) or "baseline" not in document:
        raise InputError(f"{file}:1: is JSON, but no baseline of rebalsim — {_AGAIN}")
    form = document["baseline"]
    if form != SCHEMA_VERSION and form not in OLDER:
        raise InputError(
            f"{file}:1: was written by rebalsim {str(document.get('rebalsim', '?'))[:20]} as a "
            f"baseline of another kind (version {str(form)[:20]}; this rebalsim, {__version__}, "
            f"reads {SCHEMA_VERSION}) — {_AGAIN}"
        )
    try:
        stories = {
            str(name): {
                str(v): _variant(one, form in OLDER) for v, one in _mapping(variants).items()
            }
            for name, variants in _mapping(document["stories"]).items()
        }
        return Baseline(str(document["rebalsim"]), stories)
    except (ArithmeticError, KeyError, TypeError, ValueError) as e:
        what = f"lacks {e}" if isinstance(e, KeyError) else str(e)
        raise InputError(
            f"{file}: is damaged ({what[:80]}) — restore it from version control, or {_AGAIN}"
        ) from None


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise TypeError(f"{str(value)[:30]!r} where a block should be")
    return value


def _variant(value: Any, is_older: bool) -> VariantBaseline:
    one = _mapping(value)
    metrics = {str(key): _read(v) for key, v in _mapping(one["metrics"]).items()}
    phases = {str(key): _read(v) for key, v in _mapping(one["partition_seconds_by_phase"]).items()}
    story, settings = ("", "") if is_older else (str(one["story"]), str(one["settings"]))
    known, parts = _texts(one.get("values")), _texts(one.get("parts"))
    return VariantBaseline(
        _count(one["seed"]),
        _count(one["runs"]),
        story,
        settings,
        metrics,
        phases,
        known,
        parts=None if is_older else parts,
    )


def _texts(value: Any) -> dict[str, str] | None:
    """What an older file does not say is not known."""
    return None if value is None else {str(k): str(v)[:200] for k, v in _mapping(value).items()}


_LARGEST = 1 << 62


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST:
        raise TypeError(f"{str(value)[:30]!r} is no whole number")
    return value


def _read(value: Any) -> float:
    if isinstance(value, str) and (found := _SECONDS.fullmatch(value)):
        whole, _, part = found.group(1).partition(".")
        return float(int(whole) * SECOND + int(part.ljust(6, "0") or 0))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{str(value)[:30]!r} is no figure")
    if abs(value) > _LARGEST:
        raise ValueError(f"{str(value)[:30]} is out of all bounds")
    return float(value)
