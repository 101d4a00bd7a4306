"""All rules, listed once, and the check of a whole story: every variant judged, what they share
told once.

A rule that fails to be in RULES is never run; a test holds the list to the files in `rules`.
"""

from __future__ import annotations

from rebalsim.domain.errors import Problem
from rebalsim.lint.finding import Place
from rebalsim.lint.places import Tellable, spot_of
from rebalsim.lint.rule import Checked
from rebalsim.lint.rules import (
    async_commit_without_revoke_commit,
    auto_commit_long_batches,
    backlog_behind_latest,
    bounce_outpaces_start,
    budget_under_detection,
    crash_loop,
    cut_outlasts_session,
    default_list_runs_eager,
    different_subscriptions,
    direct_assignor_swap,
    dynamic_in_statefulset,
    freeze_outlasts_session,
    grace_under_stop,
    group_over_max_size,
    handler_slower_than_arrival,
    hang_outlasts_grace,
    heavy_batch,
    horizon_cuts_detection,
    hot_partition,
    idle_members,
    initial_delay_under_start_spread,
    latest_on_growing_topic,
    mixed_protocols,
    nothing_commits,
    poison_travels,
    poll_interval_under_worst_batch,
    rack_without_selector,
    range_skew,
    rebalance_timeout_unmeetable,
    restart_before_session_ends,
    restore_outlasts_poll_interval,
    restore_without_standby,
    session_under_three_heartbeats,
    slow_cooperative_heartbeat,
    slow_listener,
    slow_metadata_refresh,
    staggered_joins,
    static_id_in_two_groups,
    static_ids_of_random_pods,
    static_kill_consumer_protocol,
    static_long_session,
    static_restart_outlives_session,
    static_scale_down,
    static_stuck_waits_twice,
    stuck_handler_holds_barrier,
    surge_of_dynamic_members,
    surge_shares_static_id,
    sync_commit_per_record,
    sync_timeout_under_assignor,
    uneven_poll_intervals,
    uneven_share,
)

# heading → its rules, in the order in which `rebalsim explain` lists them
CATALOGUE: dict[str, tuple[Checked, ...]] = {
    "Timers against each other": (
        Checked(session_under_three_heartbeats.RULE, session_under_three_heartbeats.find),
        Checked(uneven_poll_intervals.RULE, uneven_poll_intervals.find),
        Checked(rebalance_timeout_unmeetable.RULE, rebalance_timeout_unmeetable.find),
        Checked(slow_cooperative_heartbeat.RULE, slow_cooperative_heartbeat.find),
        Checked(sync_timeout_under_assignor.RULE, sync_timeout_under_assignor.find),
        Checked(initial_delay_under_start_spread.RULE, initial_delay_under_start_spread.find),
    ),
    "Handlers and commits": (
        Checked(poll_interval_under_worst_batch.RULE, poll_interval_under_worst_batch.find),
        Checked(heavy_batch.RULE, heavy_batch.find),
        Checked(handler_slower_than_arrival.RULE, handler_slower_than_arrival.find),
        Checked(uneven_share.RULE, uneven_share.find),
        Checked(hot_partition.RULE, hot_partition.find),
        Checked(sync_commit_per_record.RULE, sync_commit_per_record.find),
        Checked(auto_commit_long_batches.RULE, auto_commit_long_batches.find),
        Checked(async_commit_without_revoke_commit.RULE, async_commit_without_revoke_commit.find),
        Checked(nothing_commits.RULE, nothing_commits.find),
    ),
    "Listeners and state": (
        Checked(slow_listener.RULE, slow_listener.find),
        Checked(restore_without_standby.RULE, restore_without_standby.find),
        Checked(restore_outlasts_poll_interval.RULE, restore_outlasts_poll_interval.find),
    ),
    "Assignors and groups": (
        Checked(default_list_runs_eager.RULE, default_list_runs_eager.find),
        Checked(mixed_protocols.RULE, mixed_protocols.find),
        Checked(direct_assignor_swap.RULE, direct_assignor_swap.find),
        Checked(range_skew.RULE, range_skew.find),
        Checked(idle_members.RULE, idle_members.find),
        Checked(different_subscriptions.RULE, different_subscriptions.find),
        Checked(group_over_max_size.RULE, group_over_max_size.find),
        Checked(rack_without_selector.RULE, rack_without_selector.find),
    ),
    "Static members": (
        Checked(static_restart_outlives_session.RULE, static_restart_outlives_session.find),
        Checked(static_long_session.RULE, static_long_session.find),
        Checked(static_scale_down.RULE, static_scale_down.find),
        Checked(static_stuck_waits_twice.RULE, static_stuck_waits_twice.find),
        Checked(static_ids_of_random_pods.RULE, static_ids_of_random_pods.find),
        Checked(static_id_in_two_groups.RULE, static_id_in_two_groups.find),
        Checked(static_kill_consumer_protocol.RULE, static_kill_consumer_protocol.find),
        Checked(surge_shares_static_id.RULE, surge_shares_static_id.find),
    ),
    "Deploys and scaling": (
        Checked(dynamic_in_statefulset.RULE, dynamic_in_statefulset.find),
        Checked(surge_of_dynamic_members.RULE, surge_of_dynamic_members.find),
        Checked(bounce_outpaces_start.RULE, bounce_outpaces_start.find),
        Checked(staggered_joins.RULE, staggered_joins.find),
        Checked(grace_under_stop.RULE, grace_under_stop.find),
        Checked(hang_outlasts_grace.RULE, hang_outlasts_grace.find),
    ),
    "Faults": (
        Checked(freeze_outlasts_session.RULE, freeze_outlasts_session.find),
        Checked(cut_outlasts_session.RULE, cut_outlasts_session.find),
        Checked(restart_before_session_ends.RULE, restart_before_session_ends.find),
        Checked(crash_loop.RULE, crash_loop.find),
        Checked(stuck_handler_holds_barrier.RULE, stuck_handler_holds_barrier.find),
        Checked(poison_travels.RULE, poison_travels.find),
    ),
    "Topics that grow": (
        Checked(latest_on_growing_topic.RULE, latest_on_growing_topic.find),
        Checked(slow_metadata_refresh.RULE, slow_metadata_refresh.find),
    ),
    "The story itself": (
        Checked(backlog_behind_latest.RULE, backlog_behind_latest.find),
        Checked(budget_under_detection.RULE, budget_under_detection.find),
        Checked(horizon_cuts_detection.RULE, horizon_cuts_detection.find),
    ),
}

RULES: tuple[Checked, ...] = tuple(checked for rules in CATALOGUE.values() for checked in rules)

# A repeated action is told once for each repetition; more than so many findings of one rule at one
# place say nothing new.
_MOST_AT_ONE_PLACE = 3


def check(story: Tellable) -> list[Problem]:
    """Every warning on this story, in the order of its lines. What holds in each variant is said
    once, else the variants are named.
    """
    variants = tuple(story.variants)
    found: dict[tuple[int, str, Place], list[str]] = {}
    for variant in variants:
        scenario = story.scenario(variant)
        for order, checked in enumerate(RULES):
            at: dict[Place, int] = {}
            for finding in checked.find(scenario):
                if finding.only_if_said and not story.says(
                    finding.place.name, finding.place.key, variant
                ):
                    continue
                at[finding.place] = at.get(finding.place, 0) + 1
                if at[finding.place] > _MOST_AT_ONE_PLACE:
                    continue
                where = found.setdefault((order, finding.message, finding.place), [])
                if variant not in where:
                    where.append(variant)
    problems: list[tuple[int, int, int, Problem]] = []
    for (order, message, place), where in found.items():
        spot = spot_of(story, where[0], place)
        only = (
            ""
            if len(where) == len(variants)
            else f" (in the variant{'s' if len(where) > 1 else ''} {' and '.join(where)})"
        )
        problem = Problem(
            story.file,
            spot.line,
            spot.column,
            message + only,
            spot.source,
            spot.width,
            rule=RULES[order].rule.id,
            is_warning=True,
        )
        problems.append((spot.line, spot.column, order, problem))
    return [problem for *_, problem in sorted(problems, key=lambda p: p[:3])]
