"""How Argo Rollouts goes from the old pods to the new ones: in stages, between which it waits. Of a
canary each stage is as many new pods as come nearest to a step's weight (as
CalculateReplicaCountsForBasicCanary of Argo Rollouts 1.2 and later has it); of blue-green, all of them beside the old ones.

A weight of traffic is no weight of partitions: to Kafka a new pod is a member like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from rebalsim.worlds.text_tree import at, rows, table
from rebalsim.worlds.values import Text, Tree
from rebalsim.worlds.words import boolean, milliseconds, whole

BY_HAND = 300  # seconds until somebody promotes it, as the question says
LONGEST = 300  # of a pause that lasts longer the rest is quiet
SCALE_DOWN_DELAY = 30  # until the old pods go that get no traffic any longer
_BY_HAND = f"promoted by hand: ASK how long that takes, assumed {BY_HAND} s"
_WAITING = ("analysis", "experiment", "plugin")


@dataclass(frozen=True, slots=True)
class Stage:
    """So many new pods and so many old ones are up, and how long it stays so."""

    new: int
    old: int
    wait: int = 0  # seconds
    why: str = ""


def pods_at(weight: int, replicas: int, can_surge: bool) -> tuple[int, int]:
    """New and old pods at a weight: whatever comes nearest to it, one pod more in sum if need be, and
    of a weight between nothing and all at least one.
    """
    if replicas == 0:
        return 0, 0
    is_end = weight in (0, 100) or (replicas == 1 and not can_surge)
    exact = Fraction(replicas * weight, 100)
    up, down = -(-exact.numerator // exact.denominator), int(exact)
    options = [(up, replicas)] if up < replicas or is_end else []
    for total in (replicas, replicas + 1) if can_surge else (replicas,):
        is_tied = Fraction(total * weight, 100) % 1 == Fraction(1, 2)
        options += [(up, total)] if total > replicas else []
        options += [(down, total)] if not is_tied and (down or is_end) else []
    if not options:
        return 0, replicas
    new, total = min(options, key=lambda o: abs(Fraction(100 * o[0], o[1]) - weight))
    return new, total - new


def stages_of(how: Tree, replicas: int, surge: int) -> tuple[Stage, ...]:
    """The stages that a Rollout says; none where it goes in one go."""
    if isinstance(at(how, "blueGreen"), dict):
        return _blue_green(at(how, "blueGreen"), replicas)
    steps = rows(at(how, "canary", "steps"))
    if not steps or replicas == 0:
        return ()
    is_routed = at(how, "canary", "trafficRouting") is not None
    counted = _ByTraffic(how, replicas) if is_routed else _ByPods(replicas, surge > 0)
    stages = [*_canary(steps, counted, is_routed), *_end(how, replicas, is_routed)]
    return tuple(_merged(stages))


def not_played(how: Tree) -> tuple[str, ...]:
    """The kinds of steps that wait for what no file tells."""
    steps = rows(at(how, "canary", "steps"))
    return tuple(kind for kind in _WAITING if any(Text(kind) in table(step) for step in steps))


class _ByPods:
    """Without a router, weight is a share of the pods."""

    def __init__(self, replicas: int, can_surge: bool) -> None:
        self.replicas, self.can_surge = replicas, can_surge

    def __call__(self, weight: int, scale: int | None) -> tuple[int, int]:
        return pods_at(weight, self.replicas, self.can_surge)


class _ByTraffic:
    """With a router, the old pods stay until the end, unless they are scaled along with it."""

    def __init__(self, how: Tree, replicas: int) -> None:
        self.replicas = replicas
        self.is_dynamic = boolean(at(how, "canary", "dynamicStableScale")) is True

    def __call__(self, weight: int, scale: int | None) -> tuple[int, int]:
        new = scale if scale is not None else -(-self.replicas * weight // 100)
        old = self.replicas
        if self.is_dynamic:
            old = -(-self.replicas * (100 - weight) // 100)
        return min(new, self.replicas), old


def _canary(steps: list[Tree], counted: _ByPods | _ByTraffic, is_routed: bool) -> Iterator[Stage]:
    """A stage for each step: its pods, or how long it waits."""
    weight, scale = 0, None
    for step in steps:
        pause = table(step).get(Text("pause"), Text(""))
        if pause != "":
            wait, why = _pause(pause)
            yield Stage(*counted(weight, scale), wait, why)
        elif (told := whole(at(step, "setWeight"))) is not None:
            weight = min(100, max(0, told))
            yield Stage(*counted(weight, scale), 0, f"setWeight {weight}")
        elif is_routed and (own := table(step).get(Text("setCanaryScale"))) is not None:
            scale = _scale(own, counted.replicas)
            yield Stage(*counted(weight, scale), 0, "setCanaryScale")


def _scale(own: Tree, replicas: int) -> int | None:
    """How many new pods there are whatever the weight; None where they follow it again."""
    if (told := whole(at(own, "replicas"))) is not None:
        return min(replicas, max(0, told))
    share = whole(at(own, "weight"))
    return None if share is None else -(-replicas * min(100, max(0, share)) // 100)


def _pause(pause: Tree) -> tuple[int, str]:
    told = at(pause, "duration")
    if told is None:
        return (
            BY_HAND,
            f"pause until it is {_BY_HAND}",
        )
    seconds = whole(told)
    if seconds is None:
        ms = milliseconds(str(told))
        if ms is None:
            return 0, f"pause {told}, which is no duration"
        seconds = ms // 1000
    rest = f", of which {LONGEST} s are played: the rest is quiet" if seconds > LONGEST else ""
    return min(seconds, LONGEST), f"pause {told}{'s' if whole(told) is not None else ''}{rest}"


def _end(how: Tree, replicas: int, is_routed: bool) -> Iterator[Stage]:
    """After the last step all are new; old pods that a router has left alone go a little later."""
    if is_routed:
        told = whole(at(how, "canary", "scaleDownDelaySeconds"))
        delay = SCALE_DOWN_DELAY if told is None else min(told, LONGEST)
        yield Stage(replicas, replicas, delay, f"scaleDownDelaySeconds {delay}")
    yield Stage(replicas, 0, 0, "all steps are done")


def _blue_green(told: Tree, replicas: int) -> tuple[Stage, ...]:
    """All new pods come up beside the old ones, which go together a while after the switch."""
    preview = whole(at(told, "previewReplicaCount"))
    wait, why = 0, "blueGreen: promoted as soon as all are ready"
    if boolean(at(told, "autoPromotionEnabled")) is False:
        wait, why = (
            BY_HAND,
            f"blueGreen: {_BY_HAND}",
        )
    if (auto := whole(at(told, "autoPromotionSeconds"))) is not None:
        wait, why = min(auto, LONGEST), f"autoPromotionSeconds {auto}"
    given = whole(at(told, "scaleDownDelaySeconds"))
    delay = SCALE_DOWN_DELAY if given is None else min(given, LONGEST)
    first = Stage(min(replicas, preview), replicas, wait, why) if preview else None
    beside = Stage(
        replicas,
        replicas,
        delay if first else wait + delay,
        f"{'' if first else why + '; '}scaleDownDelaySeconds {delay}",
    )
    return (*([first] if first else []), beside, Stage(replicas, 0, 0, "the old pods go together"))


def nomads(canaries: int, is_auto: bool, replicas: int, surge: int) -> tuple[Stage, ...]:
    """Nomad's: so many new ones beside all old ones, then the others are replaced."""
    if not 0 < canaries <= replicas:
        return ()
    wait, why = (0, "auto_promote") if is_auto else (BY_HAND, _BY_HAND)
    return (
        Stage(canaries, replicas, wait, f"canary {canaries}, {why}"),
        Stage(replicas, 0, 0, "promoted"),
    )


def _merged(stages: list[Stage]) -> Iterator[Stage]:
    """As many pods as before is the same stage for longer. A step back, which takes new pods away
    again, is left out.
    """
    kept = Stage(0, 0)
    for stage in stages:
        if (stage.new, stage.old) == (kept.new, kept.old) or stage.new < kept.new:
            why = ", ".join(filter(None, (kept.why, stage.why)))
            kept = Stage(kept.new, kept.old, kept.wait + stage.wait, why)
            continue
        if kept.new:
            yield kept
        kept = stage
    yield kept
