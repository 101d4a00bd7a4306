"""An autoscaler whose threshold is less than the lag of one rebalance, or of uncommitted records."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.facts import say
from rebalsim.lint.finding import Finding
from rebalsim.lint.rule import Rule
from rebalsim.lint.script_facts import deeds_of, of_action, place_of

RULE = Rule(
    id="lag-threshold-under-a-rebalance",
    heading="Deploys and scaling",
    title="An autoscaler's lag threshold is less than what a rebalance, or a commit interval, costs",
    what="The threshold, times the members there are at least, is less than the records that arrive "
    "while members commit once (auto.commit.interval.ms), or while the slowest listener runs.",
    why="A scaler sees committed offsets: what was handled and not committed yet is lag to it, and so "
    "is all that arrives while a rebalance holds the group up. Either lifts it over the threshold; "
    "pods are added, which is the next rebalance.",
    fix="A threshold above rate × commit interval ÷ members and above rate × pause ÷ members; a "
    "longer scaleDownStabilization; cooperative assignors or static members, whose rebalances cost "
    "less.",
    example="rate: 600/s, auto.commit.interval.ms: 5s\nautoscale: {lagThreshold: 100}    # → 3,000 "
    "records between two commits",
    source="KEDA's kafka_scaler.go: lag = end offset − committed offset.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    for action, deed in deeds_of(scenario, Autoscale):
        if deed.cpu_target is not None:
            continue
        group = next((g for g in scenario.groups if g.name == deed.group), None)
        if group is None or not group.consumers:
            continue
        first = group.consumers[0]
        rate = sum(
            max((step.per_second for step in topic.rate), default=0.0)
            for topic in scenario.topics
            if not deed.topics or topic.name in deed.topics
        )
        held = deed.lag_threshold * max(1, deed.least)
        commits = first.commits_itself
        waits = {
            "auto.commit.interval.ms": first.config.auto_commit_interval_us if commits else 0,
            "the revoked callback": round(first.listener.revoked.fixed.a),
        }
        name, longest = max(waits.items(), key=lambda wait: wait[1])
        if longest and rate * longest / SECOND > held:
            enough = round(2 * rate * longest / SECOND / max(1, deed.least))
            yield Finding(
                f"{rate * longest / SECOND:,.0f} records arrive in {say(longest)} ({name}), and the "
                f"threshold lets {held:,.0f} be: the scaler adds members though nobody is behind — "
                f"write lagThreshold: {enough} or more",
                place_of(action),
                fix=((of_action(action, "lagThreshold"), str(enough)),),
            )
