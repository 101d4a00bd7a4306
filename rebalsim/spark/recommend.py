"""The smallest change of a scenario's settings that meets the budgets, and what it costs elsewhere:
two small sweeps on the usual pipeline.

The first crosses a ladder of usual values for each setting, beginning with the scenario's own. A
change is smaller the fewer settings it touches, and among as few, the less it turns them
(factors of two). The second plays a day of GC pauses or network cuts, to count how many healthy
members the recommended timeouts would expel.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rebalsim.advice.ladders import LADDERS, OF_BROKERS, OF_WORKERS, USUAL
from rebalsim.advice.limits import budget_of
from rebalsim.domain.answer import PointSaid
from rebalsim.domain.budget import Budget
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.errors import InputError
from rebalsim.domain.sweep import Base, Plan
from rebalsim.scenario import quantities as q
from rebalsim.scenario.plan import parse_plan
from rebalsim.scenario.story import Story
from rebalsim.spark.schemas import reserved_names
from rebalsim.spark.tables import quoted
from rebalsim.words.nearest import or_nearest

USUAL_OF_BROKERS = tuple(OF_BROKERS)
USUAL_OF_WORKERS = tuple(OF_WORKERS)
SEEDS, SEEDS_OF_SAMPLES = 3, 20  # a run of the consumer protocol is a sample
MOST_POINTS = 20_000


@dataclass(frozen=True, slots=True)
class Turn:
    """One setting that is changed."""

    name: str
    before: str
    after: str
    factor: float  # how far it is turned, in powers of two; 0 for words


@dataclass(frozen=True, slots=True)
class Choice:
    """A point that meets the budgets, as a change of the scenario as it is."""

    point: PointSaid
    turns: tuple[Turn, ...]

    @property
    def size(self) -> tuple[int, float]:
        return len(self.turns), round(sum(t.factor for t in self.turns), 9)


@dataclass(frozen=True, slots=True)
class Expelled:
    """How many healthy members a day of faults expels, with the settings as they are and as
    recommended.
    """

    kind: str  # freeze | cut
    every: str
    for_: str
    before: float  # members removed against their will, a day, over the whole group
    after: float


def _with_others(said: str, usual: Iterable[str]) -> list[str]:
    """A setting's value as it is, and the usual values that differ from it."""
    return list(dict.fromkeys((said, *(v for v in usual if _number(v) != _number(said)))))


def _of_client(name: str, config: ClientConfig) -> tuple[str, str, list[str]]:
    current = getattr(config, _field(name), None)
    if isinstance(current, bool) or not isinstance(current, (int, float)):
        raise InputError(
            f"'{name}' is no number, so it cannot be turned up and down — make it an axis of a "
            "plan instead."
        )
    is_time = _field(name).endswith("_us")
    said = q.say_us(current) if is_time else str(current)
    usual = LADDERS.get(name) or _around(said, float(current), is_time)
    return f"group.config.{name}", said, _with_others(said, usual)


def ladder(story: Story, variant: str, name: str) -> tuple[str, str, list[str]]:
    """(path, the value as it is, all values to try) of a setting: a Kafka key, or a path of the
    scenario with a number in it.
    """
    scenario = story.scenario(variant)
    consumer = next((c for g in scenario.groups for c in g.consumers), None)
    if consumer is not None and consumer.worker is not None and name in OF_WORKERS:
        said = q.say_us(getattr(consumer.worker, _field(name)))
        return f"connect.config.{name}", said, _with_others(said, OF_WORKERS[name])
    if name in OF_BROKERS:
        said = q.say_us(getattr(scenario.cluster.config, _field(name)))
        return f"cluster.config.{name}", said, _with_others(said, OF_BROKERS[name])
    if name in LADDERS or hasattr(ClientConfig, _field(name)):
        return _of_client(name, consumer.config if consumer else ClientConfig())
    if name in ("members", "group.members"):
        count = len(scenario.groups[0].consumers) if scenario.groups else 1
        counts = (count, *(max(1, round(count * f)) for f in (0.5, 0.75, 1.25, 1.5, 2, 3)))
        return "group.members", str(count), list(map(str, dict.fromkeys(counts)))
    raise InputError(
        f"'{name}' is not among the settings that can be searched — "
        f"{or_nearest(name, (*LADDERS, *OF_BROKERS, 'members'))}"
    )


def plan_for(
    base: Base,
    story: Story,
    budgets: tuple[str, ...],
    over: tuple[str, ...],
    variants: tuple[str, ...],
    seeds: int,
) -> Plan:
    """The first sweep's plan, as a file would have it: it can be kept and varied."""
    axes: dict[str, Any] = {}
    for name in over:
        path, _, values = ladder(story, variants[0], name)
        axes[path] = {"as": _column(name), "values": values}
    limits = [dict([budget_of(text)]) for text in budgets]
    document: dict[str, Any] = {
        "title": f"The smallest change of {base.name} that meets "
        f"{', '.join(budgets) or 'its budgets'}",
        "scenario": base.written or base.name,
        "axes": axes,
        "variants": list(variants),
        "seeds": seeds,
    }
    for session, beat in (
        ("session.timeout.ms", "heartbeat.interval.ms"),
        tuple(OF_BROKERS)[1::-1],
    ):
        if {session, beat} <= dict.fromkeys(over).keys():
            document["where"] = [f"{_column(session)} >= 3 * {_column(beat)}"]
    if lowered := _lowered(over):
        document["set"] = lowered
    if limits:
        document["budgets"] = limits
        document["minimise"] = [next(iter(limits[0]))]
    text = json.dumps(document, ensure_ascii=False, indent=1)  # JSON is YAML
    plan = parse_plan(text, f"recommend-{base.name}.yaml", lambda _: base, reserved_names())
    if plan.points > MOST_POINTS:
        raise InputError(
            f"Searching {len(over)} settings takes {plan.points:,} points, more than "
            f"{MOST_POINTS:,} — name fewer with --over."
        )
    return plan


def _lowered(over: Iterable[str]) -> dict[str, str]:
    """The brokers' lower bounds of what is searched, low enough for all of it: they bear on
    nothing else.
    """
    bounds = {
        name: name.replace("group.consumer.", "group.consumer.min.")
        for name in over
        if name in OF_BROKERS
    }
    return {
        f"cluster.config.{bound}": OF_BROKERS[name][0]
        for name, bound in bounds.items()
        if hasattr(BrokerConfig, _field(bound))
    }


def usual_of(story: Story, variant: str) -> tuple[str, ...]:
    """The settings that are turned where none are named: the members', or the brokers' under the
    consumer protocol.
    """
    if story.scenario(variant).connect:
        return USUAL_OF_WORKERS
    return USUAL_OF_BROKERS if is_of_brokers(story, variant) else USUAL


def is_of_brokers(story: Story, variant: str) -> bool:
    """Whether the variant's members leave heartbeats and sessions to the brokers."""
    consumers = [c for g in story.scenario(variant).groups for c in g.consumers]
    return bool(consumers) and all(c.config.uses_consumer_protocol for c in consumers)


def seeds_for(story: Story, variants: tuple[str, ...]) -> int:
    """With how many seeds a choice must meet the budgets."""
    from rebalsim.one_run import is_sampled

    return (
        SEEDS_OF_SAMPLES
        if any(is_sampled(story.scenario(variant)) for variant in variants)
        else SEEDS
    )


_Found = tuple[tuple[int, float], float, int, str, tuple[Turn, ...]]


def _alternatives(found: list[_Found]) -> list[_Found]:
    """The first few; one that does all that a smaller one does, and more, is no alternative to it."""
    best: list[_Found] = []
    for choice in found:
        if not any(all(turn in choice[4] for turn in smaller[4]) for smaller in best):
            best.append(choice)
        if len(best) == 5:
            break
    return best


def choices(
    asker: Any, story: Story, over: tuple[str, ...], variants: tuple[str, ...]
) -> list[Choice]:
    """All points that meet the budgets, the smallest change first."""
    plan: Plan = asker.plan
    asker.points.createOrReplaceTempView("rebalsim_points")
    names = dict(zip([axis.name for axis in plan.axes], over))
    rows = asker.spark.sql(
        "SELECT point, variant, objective_1 FROM rebalsim_points WHERE verdict = 'pass' "
        f"ORDER BY objective_1, point, variant LIMIT {MOST_POINTS * 2}"
    ).collect()
    current = {_column(name): ladder(story, variants[0], name)[1] for name in over}
    found: list[_Found] = []
    for row in rows:
        labels = asker._names.labels(row["point"])
        turns = [
            Turn(key, current[name], labels[name], _turned(current[name], labels[name]))
            for name, key in names.items()
            if labels[name] != current[name]
        ]
        if row["variant"] != variants[0]:
            turns.append(Turn("variant", variants[0], row["variant"], 0.0))
        size = (len(turns), round(sum(t.factor for t in turns), 9))
        found.append(
            (
                size,
                row["objective_1"] if row["objective_1"] is not None else math.inf,
                row["point"],
                row["variant"],
                tuple(turns),
            )
        )
    found.sort(key=lambda f: (f[0], f[1], f[2], f[3]))
    best = _alternatives(found)
    if not best:
        return []
    wanted = " OR ".join(
        f"(point = {point} AND variant = '{variant}')" for _, _, point, variant, _ in best
    )
    said = {
        (p.number, p.variant): p
        for p in asker._said(f"SELECT * FROM rebalsim_points WHERE {wanted}")
    }
    return [Choice(said[point, variant], turns) for _, _, point, variant, turns in best]


def as_it_is(asker: Any, variants: tuple[str, ...]) -> PointSaid | None:
    """The point that changes nothing: every ladder begins with the scenario's own value."""
    asker.points.createOrReplaceTempView("rebalsim_points")
    found: tuple[PointSaid, ...] = asker._said(
        f"SELECT * FROM rebalsim_points WHERE point = 0 AND variant = '{variants[0]}'"
    )
    return found[0] if found else None


def closest(asker: Any) -> PointSaid | None:
    """Where nothing meets the budgets: what comes nearest in the first of them."""
    asker.points.createOrReplaceTempView("rebalsim_points")
    found: tuple[PointSaid, ...] = asker._said(
        "SELECT * FROM rebalsim_points WHERE verdict <> 'error' ORDER BY objective_1 NULLS LAST, "
        "point, variant LIMIT 1"
    )
    return found[0] if found else None


# --------------------------------------------------------------------- what a shorter session costs


def faults_of(story: Story, variant: str, options: dict[str, str]) -> list[tuple[str, str, str]]:
    """(kind, about every, for) of the pauses and cuts that healthy members suffer: as given,
    else the scenario's own.
    """
    found = [(kind, *_split(text, kind)) for kind, text in options.items() if text]
    if found:
        return found
    from rebalsim.scenario.kinds import say_draw

    return [
        (f.kind, q.say_us(f.mean_between_us), say_draw(f.for_))
        for f in story.scenario(variant).random_faults
        if f.kind in ("freeze", "cut")
    ]


def _split(text: str, kind: str) -> tuple[str, str]:
    every, colon, for_ = text.partition(":")
    if not colon or q.duration(every.strip()) is None or not for_.strip():
        raise InputError(
            f"'{text}' does not say how often and how long — write e.g. 10m:2s..8s ({kind}s "
            "about every 10 minutes, of 2 to 8 seconds)"
        )
    return every.strip(), for_.strip()


def day_of_faults(
    base: Base,
    fault: tuple[str, str, str],
    cases: dict[str, tuple[tuple[str, str], ...]],
    variant: str,
    seeds: int,
) -> Plan:
    """A day without the script, with these faults only: one case a choice of settings."""
    kind, every, for_ = fault
    quiet = {
        "script": "[]",
        "horizon": "24h",
        "budgets": "{}",
        "expect": "[]",
        "random_faults": f"[{{kind: {kind}, members: all, about_every: {every}, for: {_yaml(for_)}, "
        "from: "
        f"1m}}]",
    }
    quiet |= _lowered(
        [
            path.removeprefix("cluster.config.")
            for settings in cases.values()
            for path, _ in settings
        ]
    )
    named = {name: (dict(settings) or {"seed": "1"}) for name, settings in cases.items()}
    document = {
        "title": f"A day of {kind}s",
        "scenario": base.written or base.name,
        "axes": {"settings": {"cases": named}},
        "set": quiet,
        "variants": [variant],
        "seeds": seeds,
        "minimise": ["members_removed"],
        "budgets": {},
    }
    return parse_plan(
        json.dumps(document, ensure_ascii=False),
        f"faults-{base.name}.yaml",
        lambda _: base,
        reserved_names(),
    )


def expelled(asker: Any, fault: tuple[str, str, str]) -> Expelled:
    """Members removed a day, before and after: the mean over the seeds."""
    runs = asker.tables.runs()
    mean = {
        row["settings"]: float(row["n"])
        for row in runs.groupBy("settings")
        .agg({"members_removed": "avg"})
        .withColumnRenamed("avg(members_removed)", "n")
        .where(f"{quoted('n')} IS NOT NULL")
        .collect()
    }
    return Expelled(*fault, mean.get("as it is", math.nan), mean.get("recommended", math.nan))


# --------------------------------------------------------------------------------- small arithmetic


def _field(name: str) -> str:
    return name.replace(".", "_").removesuffix("_ms") + ("_us" if name.endswith(".ms") else "")


def _column(name: str) -> str:
    from rebalsim.scenario.axes import default_name

    if name in OF_BROKERS:
        return default_name(f"cluster.config.{name}")
    return default_name(
        f"group.config.{name}" if name not in ("members", "group.members") else name
    )


def _number(text: str) -> float | None:
    us = q.duration(text)
    if us is not None:
        return us
    try:
        return float(text)
    except ValueError:
        return None


def _around(said: str, current: float, is_duration: bool) -> tuple[str, ...]:
    values = [current * factor for factor in (0.25, 0.5, 2, 4)]
    return (said, *(q.say_us(round(v)) if is_duration else str(max(1, round(v))) for v in values))


def _turned(before: str, after: str) -> float:
    one, other = _number(before), _number(after)
    return abs(math.log2(other / one)) if one and other else 0.0


def _yaml(text: str) -> str:
    return text if text.startswith("{") else json.dumps(text, ensure_ascii=False)


def budgets_broken(asker: Any, point: PointSaid) -> Any:
    return asker._budgets_of(point)


__all__ = ["Budget", "Choice", "Expelled", "Turn"]
