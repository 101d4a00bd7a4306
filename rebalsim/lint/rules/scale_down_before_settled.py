"""An autoscaler that takes members away before the lag of its own rebalance is caught up."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import mean_start_us, say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, of_action, place_of

RULE = Rule(
    id="scale-down-before-settled",
    heading="Deploys and scaling",
    title="An autoscaler takes members away before those it added have helped",
    what="The window over which the most recommendations count on the way down, or the cooldown to "
    "none, is shorter than a member's start and a minute.",
    why="A member needs its start, the rebalance that gives it partitions, and time to catch up. A "
    "shorter window takes it away as soon as the lag is gone: another rebalance, whose pause is lag "
    "again.",
    fix="scaleDownStabilization of several minutes (300 s is the HPA's own default), and a "
    "cooldownPeriod above start and catching up.",
    example="life: {start: 20s}\nautoscale: {scaleDownStabilization: 15s}    # → 5m",
    source="Kubernetes' HorizontalPodAutoscaler, behavior.scaleDown.stabilizationWindowSeconds.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, Autoscale):
        if not deed.joiners:
            continue
        needed = max(mean_start_us(c) for c in deed.joiners) + MINUTE
        to_none = deed.least == 0 or (deed.idle is not None and deed.idle < deed.least)
        for name, window, counts in (
            ("scaleDownStabilization", deed.down_window_us, True),
            ("cooldownPeriod", deed.cooldown_us, to_none),
        ):
            if counts and window < needed:
                yield Finding(
                    f"{name} is {say(window) if window else 'none'}, and a member that was added "
                    f"needs {say(needed)} to start, get partitions and catch up — write {name}: 5m",
                    place_of(action),
                    fix=((of_action(action, name), "5m"),),
                )
