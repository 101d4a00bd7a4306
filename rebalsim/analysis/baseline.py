"""A baseline as a value: what every story measured when it was saved, and what changed since.
Any difference is real: the draws are the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from rebalsim.domain.budget import Budget
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.consumer import Consumer, Handler
from rebalsim.domain.habits import JAVA
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Scenario, everybody_in
from rebalsim.domain.unit import Better
from rebalsim.words.times import say_duration

# What got worse or better by less than this share of what it was is not told: 72,020 → 72,022 is
# no news.
NOISE = 0.001

ChangeKind = Literal["improved", "regressed", "changed", "new", "gone", "same"]


@dataclass(frozen=True, slots=True)
class VariantBaseline:
    """One variant's figures, in base units: the worst over its seeds. The two digests tell a
    changed story from changed settings.
    """

    seed: int
    runs: int
    # digest of what happens to the group (topics, members, script, handlers), and one of Kafka's
    # settings, clients' and brokers'; empty: not known, as the file is of an older form
    story: str
    config: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)  # partition-time by phase
    # Kafka's settings that are not Kafka's defaults, by key; None: the file does not say
    values: Mapping[str, str] | None = None
    # the figures that a longer horizon could still make worse, or of which nothing was measured;
    # of a run that was just played, no file tells them
    still_open: tuple[str, ...] = ()
    # a digest of each part of the story, by its name; None: the file does not say
    parts: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Baseline:
    """Everything that was saved: file → variant → figures."""

    rebalsim: str
    stories: Mapping[str, Mapping[str, VariantBaseline]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """One figure before and after; `share` is how much worse it is, as a share of what it was
    (of nought: without end).
    """

    file: str
    variant: str
    metric: str  # the registered name, or a budget's key; a phase as `partition_seconds_PHASE`
    before: float | None
    after: float | None
    kind: ChangeKind
    share: float = 0.0
    # phase, before, after: those that changed, the largest first
    phases: tuple[tuple[str, float, float], ...] = ()


def key_of(budget: Budget) -> str:
    """What a budget's value is kept under: its metric, and its selection if it has one."""
    said = selection_said(budget)
    over = "" if budget.percentile is None else f" p{budget.percentile:g} over seeds"
    return f"{budget.metric}{over}{f' [{said}]' if said else ''}"


def name_in_baseline(file: str) -> str:
    """A file's name as baselines have it: with forward slashes, without a leading `./`."""
    return file.replace("\\", "/").removeprefix("./")


def selection_said(budget: Budget) -> str:
    """The budget's selection in words: `topics orders, from 10 s`."""
    parts = [
        f"{what} {' '.join(names)}"
        for what, names in (("topics", budget.topics), ("members", budget.members))
        if names
    ]
    parts += [
        f"{what} {say_duration(at) if at else '0 s'}"
        for what, at in (("from", budget.from_us), ("until", budget.until_us))
        if at is not None
    ]
    return ", ".join([*parts, *([f"action {budget.action}"] if budget.action else [])])


def metric_of(key: str) -> str:
    """The metric that a key is of."""
    return key.split(" ", 1)[0]


def digests_of(scenario: Scenario) -> tuple[str, str]:
    """A digest of the story without Kafka's settings, and one of these. Budgets, titles and
    places in the file are in neither, nor what a version or a client does otherwise: its name is.
    """
    config = (
        scenario.cluster.config,
        [(c.name, c.config) for c in everybody_in(scenario)],
    )
    return _digest(_bare(scenario)), _digest(config)


def parts_of(scenario: Scenario) -> dict[str, str]:
    """A digest of each part of the story without Kafka's settings, by the part's name in a file."""
    bare = _bare(scenario)
    people = list(everybody_in(bare))

    def named(consumer: Consumer) -> Consumer:
        return replace(consumer, handler=Handler(), life=Life())

    parts = {
        "topics": bare.topics,
        "members": _with_consumers(bare.groups, named),
        "handler": tuple(c.handler for c in people),
        "life": tuple(c.life for c in people),
        "connect": bare.connect,
        "script": _with_consumers(bare.script, named),
        "random_faults": bare.random_faults,
        "brokers": (bare.cluster, bare.machine),
        "horizon": (bare.horizon_us, bare.start),
    }
    return {name: _digest(value) for name, value in parts.items()}


def parts_changed(old: VariantBaseline, new: VariantBaseline) -> list[str]:
    """Which parts of the story changed; empty where a file does not say."""
    if old.parts is None or new.parts is None:
        return []
    return [name for name in new.parts if old.parts.get(name) != new.parts[name]]


def _bare(scenario: Scenario) -> Scenario:
    """What happens to the group, and nothing else."""

    def bare(consumer: Consumer) -> Consumer:
        return replace(consumer, config=ClientConfig(), habits=JAVA)

    return replace(
        scenario,
        title="",
        description="",
        heading="",
        variant="",
        budgets=(),
        expectations=(),
        digest="",
        file="",
        code_from="",
        notes=(),
        seed=0,
        runs=1,
        shift_within_us=int(scenario.shift_within_us > 0),
        groups=_with_consumers(scenario.groups, bare),
        cluster=replace(scenario.cluster, config=type(scenario.cluster.config)()),
        script=_with_consumers(tuple(replace(a, line=0) for a in scenario.script), bare),
    )


def _with_consumers(value: Any, changed: Callable[[Consumer], Consumer]) -> Any:
    """The value with each consumer within it changed, also those that a script names."""
    if isinstance(value, Consumer):
        return changed(value)
    if isinstance(value, tuple):
        return tuple([_with_consumers(one, changed) for one in value])
    if not is_dataclass(value) or isinstance(value, type):
        return value
    inner = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    other = {name: _with_consumers(one, changed) for name, one in inner.items()}
    differing = {name: one for name, one in other.items() if one is not inner[name]}
    return replace(value, **differing) if differing else value


def _digest(value: object) -> str:
    return hashlib.sha256(_said(value).encode()).hexdigest()[:16]


def _said(value: object) -> str:
    """A value as text in which nothing stands that is as it is by default: a setting that a later
    rebalsim knows besides changes no digest of a story that does not use it.
    """
    if isinstance(value, tuple | list):
        return f"[{','.join(map(_said, value))}]"
    if not is_dataclass(value):
        return repr(value)
    parts = [
        f"{f.name}={_said(v)}"
        for f in fields(value)
        for v in [getattr(value, f.name)]
        if f.default is MISSING or v != f.default
    ]
    return f"{type(value).__name__}({','.join(parts)})"


def compare(before: Baseline, after: Baseline) -> tuple[Change, ...]:
    """Every figure that differs, by file, variant and metric; figures that are the same are left
    out.
    """
    changes: list[Change] = []
    for file, variants in after.stories.items():
        olds = before.stories.get(file, {})
        for variant, new in variants.items():
            old = olds.get(variant)
            if old is None:
                changes += [
                    Change(file, variant, key, None, value, "new")
                    for key, value in new.metrics.items()
                ]
                continue
            changes += _changes(file, variant, old, new)
        changes += [
            Change(file, variant, key, value, None, "gone")
            for variant, old in olds.items()
            if variant not in variants
            for key, value in old.metrics.items()
        ]
    return tuple(changes)


# the first of these that changed is told by phase
_TOLD_BY_PHASE = "partition_seconds", "longest_pause"


def _changes(file: str, variant: str, old: VariantBaseline, new: VariantBaseline) -> list[Change]:
    spent = [
        (phase, old.phases.get(phase, 0), new.phases.get(phase, 0))
        for phase in {**old.phases, **new.phases}
    ]
    differing = [each for each in spent if each[1] != each[2]]
    phases = tuple(sorted(differing, key=lambda p: -abs(p[2] - p[1])))
    found = []
    for key in {**old.metrics, **new.metrics}:
        was, now = old.metrics.get(key), new.metrics.get(key)
        if was is None or now is None:
            found.append(Change(file, variant, key, was, now, "new" if was is None else "gone"))
        elif was != now:
            kind, share = _weighed(metric_of(key), was, now)
            if kind != "changed" and abs(share) < NOISE:
                continue
            found.append(Change(file, variant, key, was, now, kind, share))
    told = next((key for key in _TOLD_BY_PHASE if any(c.metric == key for c in found)), "")
    return [replace(c, phases=phases) if c.metric == told else c for c in found]


def _weighed(metric: str, was: float, now: float) -> tuple[ChangeKind, float]:
    better = METRICS[metric].better if metric in METRICS else Better.NEITHER
    if better == Better.NEITHER:
        return "changed", 0.0
    worse = now - was if better == Better.LESS else was - now
    return ("regressed" if worse > 0 else "improved"), (worse / abs(was) if was else float("inf"))


def settings_changed(old: VariantBaseline, new: VariantBaseline) -> list[tuple[str, str, str]]:
    """Which of Kafka's settings changed: key, before, after; empty where a file does not say."""
    if old.values is None or new.values is None:
        return []
    return [
        (key, old.values.get(key, _default_of(key)), new.values.get(key, _default_of(key)))
        for key in sorted({**old.values, **new.values})
        if old.values.get(key) != new.values.get(key)
    ]


def _default_of(key: str) -> str:
    """Kafka's default, as a file would say it."""
    setting = key.rpartition(" ")[2]
    for config in (ClientConfig(), BrokerConfig()):
        for f in fields(config):
            if key_of_field(f.name) == setting:
                value = getattr(config, f.name)
                return "none" if value is None else _say_setting(f.name, value)
    return "none"


def settings_of(scenario: Scenario) -> dict[str, str]:
    """Kafka's settings that are not Kafka's defaults, as a file says them: what all members share
    by its key, else by the member's name and the key.
    """
    cluster = scenario.cluster.config
    found = {
        key_of_field(f.name): _say_setting(f.name, getattr(cluster, f.name))
        for f in fields(cluster)
        if getattr(cluster, f.name) != f.default
    }
    everybody = [(c.name, c.config) for g in scenario.groups for c in g.consumers]
    for f in fields(ClientConfig) if everybody else ():
        values = {name: getattr(config, f.name) for name, config in everybody}
        distinct = list(dict.fromkeys(values.values()))
        if len(distinct) == 1 and distinct[0] != f.default:
            found[key_of_field(f.name)] = _say_setting(f.name, distinct[0])
        elif len(distinct) == len(values) > 1:
            found[key_of_field(f.name)] = "each its own"
        elif len(distinct) > 1:
            for name, value in values.items():
                if value != f.default:
                    found[f"{name} {key_of_field(f.name)}"] = _say_setting(f.name, value)
    return found


def key_of_field(field_name: str) -> str:
    """Kafka's key of a resolved setting."""
    key = f"{field_name.removesuffix('_us')}_ms" if field_name.endswith("_us") else field_name
    return key.replace("_", ".")


def _written(us: int) -> str:
    """A duration as a file has it: `45s`, `5m`, `500ms`."""
    for unit, name in ((60 * SECOND, "m"), (SECOND, "s"), (MS, "ms")):
        if us and us % unit == 0:
            return f"{us // unit}{name}"
    return f"{us}us" if us else "0s"


def _say_setting(field_name: str, value: object) -> str:
    if field_name.endswith("_us") and isinstance(value, (int, float)):
        return _written(round(value))
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
