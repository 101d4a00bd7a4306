"""What is said of pauses, and of one run against another: from traces of a few words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import trace
from told import one, story

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.values import Answer, Cause, Facts, Pause, Phase, Story
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.doing import Doing
from rebalsim.domain.ids import Partition
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.timer import Timer
from rebalsim.domain.trigger import Trigger
from rebalsim.one_run import run_once
from rebalsim.reports.causes_told import tell_cause, tell_trigger
from rebalsim.reports.comparison import bests_of, lines_of
from rebalsim.reports.difference import difference, verdict_of
from rebalsim.reports.figures import say
from rebalsim.reports.hints import hint_on
from rebalsim.reports.names import clip, clip_middle, partitions_told
from rebalsim.reports.questions import tell_answer
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.sentences import (
    Together,
    recurring,
    tell,
    tell_phase,
    tell_phases,
    tell_recurring,
    together,
    worth_telling,
)
from rebalsim.reports.trade_told import tell_trade
from rebalsim.scenario.load import load_scenario
from rebalsim.scenario.profiles import FRANZ_GO, ClientProfile, client_profile
from rebalsim.trace import events as ev
from rebalsim.words.lists import listed, plural

STUCK = "c0+p0@0 c0#@20 c0.@50 c0*p0@50"
CRASH = (
    "c0+p0@0 c1+p1@0 c0!@10 g%c0@52 g{session-expired.c0@52 c1?@53 c1-p1@54 c1j@54 g|2.c1@54 "
    "g}2@54 c1:2@54 c1+p0,p1@54"
)


def said(words: str, until: float = 100, **options: object) -> list[str]:
    return [tell(group) for group in together(analyse(trace(words, until, **options)).pauses)]  # type: ignore[arg-type]


def test_a_stuck_handler() -> None:
    assert said(STUCK) == [
        "t-0 stood still for 30.0 s when c0's handler got stuck: 30.0 s while c0's handler was "
        "stuck."
    ]


def test_a_crash_names_the_timer_and_the_instant() -> None:
    told = (
        "t-0 stood still for 44.0 s after c0 crashed: 42.0 s while c0 was dead and nobody knew "
        "until its session ran out at 52.000 s"
    )
    assert said(CRASH)[0].startswith(told)


def test_pauses_of_one_story_are_told_together() -> None:
    assert said("c0+p0,p1,p2@0 c0#@20 c0.@50 c0*p0,p1,p2@50")[0].startswith(
        "t-0 … t-2 (3 partitions) stood still for 30.0 s when"
    )


def test_the_same_at_another_time_is_told_as_that() -> None:
    twice = "c0+p0,p1@0 c0#@10 c0.@20 c0*p0,p1@20 c0#@50 c0.@60 c0*p0,p1@60"
    groups = together(analyse(trace(twice)).pauses)
    assert [[str(p.partition) for p in g.pauses] for g in groups] == [
        ["t-0", "t-1"],
        ["t-0", "t-1"],
    ]
    ((group, others),) = recurring(groups)
    assert tell_recurring(group, others).endswith("stuck. That happened once more, for no longer.")


def test_what_is_nothing_beside_the_longest_is_not_told() -> None:
    groups = recurring(
        together(
            analyse(
                trace("c0+p0@0 c0#@10 c0.@50 c0*p0@50 c0-p0@60 c0+p0@60.7 c0-p0@70 c0+p0@70.9")
            ).pauses
        )
    )
    assert [g.length_us for g, _ in groups] == [40_000_000, 900_000] and [
        g.length_us for g, _ in worth_telling(groups, 5)
    ] == [40_000_000, 900_000]
    short = recurring(
        together(analyse(trace("c0+p0@0 c0#@10 c0.@50 c0*p0@50 c0-p0@60 c0+p0@60.7")).pauses)
    )
    assert [g.length_us for g, _ in worth_telling(short, 5)] == [40_000_000]


def test_the_same_with_another_is_told_as_that() -> None:
    """Whose trouble it was makes no other story of it; what it waited for does."""
    both = "c0+p0@0 c1+p1@0 c0#@10 c0.@20 c0*p0@20 c1#@50 c1.@59 c1*p1@59"
    ((group, others),) = recurring(together(analyse(trace(both)).pauses))
    assert tell_recurring(group, others).endswith(
        "That happened once more, for no longer, with c1."
    )
    froze = both.replace("c1#", "c1~").replace("c1.", "c1^")
    assert len(recurring(together(analyse(trace(froze)).pauses))) == 2


def test_an_open_pause() -> None:
    told = (
        "t-0 has stood still for 40.0 s when the observation ends, and still does, when c0's "
        "handler got stuck"
    )
    assert said("c0+p0@0 c0#@20", until=60)[0].startswith(told)


@pytest.mark.parametrize("name", ["scale-out", "troubles"])
def test_what_is_told_adds_up(name: str) -> None:
    for variant in story(name).variants:
        for pause in variant.analysis.pauses:
            assert sum(phase.length_us for phase in pause.phases) == pause.length_us
            told = tell_phases(pause.phases, pause.length_us)
            for phase in pause.phases:
                assert phase.kind.value in told or phase.length_us * 50 >= pause.length_us


def test_the_same_wait_twice_in_a_row_is_said_once() -> None:
    facts = Facts("c1", Doing.JOINING)
    first, again = (Phase(PhaseKind.BARRIER, at, at + 6_000_000, facts) for at in (0, 6_000_000))
    other = Phase(PhaseKind.REVOKE, 12_000_000, 15_000_000, Facts("c0"))
    told = tell_phases((first, again, other), 15_000_000)
    assert told == f"6.00 s and again 6.00 s {tell_phase(first)}, 3.00 s {tell_phase(other)}"


def test_hints_name_the_setting_in_force() -> None:
    for variant in story("troubles").variants:
        hints = [hint_on(p, variant.analysis) for p in variant.analysis.pauses]
        assert any("session.timeout.ms (10.0 s here)" in h for h in hints)
        assert any("max.poll.interval.ms (20.0 s here)" in h for h in hints)


def test_a_static_member_is_warned_of() -> None:
    analysis = analyse(trace(STUCK, statics=("c0",)))
    assert "c0 is static" in hint_on(analysis.pauses[0], analysis)


def test_what_moves_while_the_group_forms_blames_nobody() -> None:
    """Under the consumer protocol the first member has everything for a moment."""
    run = run_once(
        load_scenario(
            "scale-out", ["replay=[eager, cooperative, consumer]", "start=cold"]
        ).scenario("consumer")
    )
    (formed,) = [each for each in together(run.analysis.pauses) if each.first.cause.kind == "start"]
    assert "stood still for" in tell(formed) and "while the group formed: " in tell(formed)
    assert formed.first.cause.action == ""


STORM = """
title: A batch longer than max.poll.interval.ms under the consumer protocol
topics: {orders: {partitions: 6, rate: 12/s, backlog: 5000}}
group:
  members: 3
  handler: 20ms
  overrides: {c2: {handler: 720ms}}
  config: {auto.offset.reset: earliest}
replay: [consumer]
horizon: 13m
"""


def test_whoever_was_told_and_did_not_come_to_it_is_named(tmp_path: Path) -> None:
    """A heartbeat does not take five minutes: another member had the partition meant for it, and
    was in its batch until it was out.
    """
    (tmp_path / "storm.yaml").write_text(STORM, encoding="utf-8")
    run = run_once(load_scenario(str(tmp_path / "storm.yaml")).scenario("consumer"))
    longest = max(run.analysis.pauses, key=lambda p: p.length_us)
    waited = max(longest.phases, key=lambda phase: phase.length_us)
    assert (waited.kind.value, waited.facts.consumer, waited.facts.doing) == (
        "assignment",
        "c2",
        "busy",
    ) and longest.owner_after != "c2"
    beat = run.analysis.header.consumers["c2"].heartbeat_interval_us
    assert all(
        phase.length_us <= beat + 1_000_000
        for p in run.analysis.pauses
        for phase in p.phases
        if phase.kind is PhaseKind.PICKUP
    )
    expired = next(p for p in run.analysis.pauses if p.why == "poll-expired")
    assert (expired.phases[0].kind.value, expired.phases[0].facts.timer) == (
        "stuck",
        "max.poll.interval.ms",
    )


@pytest.mark.parametrize(
    ("kafka", "words"),
    [
        (
            "2.8",
            "while nobody minded the topics, for their leader had come back without being told "
            "that it leads",
        ),
        ("4.3", "until a metadata refresh told that it exists"),
    ],
)
def test_whether_anybody_minds_the_topics_after_their_static_leader_came_back(
    tmp_path: Path, kafka: str, words: str
) -> None:
    file = tmp_path / "story.yaml"
    file.write_text(f"""
kafka: "{kafka}"
topics: {{orders: {{partitions: 2, rate: 60/s}}}}
group:
  members: 2
  group.instance.id: "{{name}}"
  config: {{metadata.max.age.ms: 30s, partition.assignment.strategy: [range], session.timeout.ms: 45s, auto.offset.reset: earliest}}
script:
  - {{at: 1m, rolling_bounce: {{down: 10s, settle: 5s}}}}
  - {{at: 3m, add_partitions: 4}}
replay: as-written
horizon: 6m
""")
    analysis = run_once(load_scenario(str(file)).scenario()).analysis
    pause = next(p for p in analysis.pauses if p.partition == Partition("orders", 3))
    assert words in tell_phase(pause.phases[0])
    hint = hint_on(pause, analysis)
    assert ("KIP-814" in hint) == (kafka == "2.8") and ("metadata.max.age.ms" in hint) == (
        kafka == "4.3"
    )


def test_an_empty_group_of_the_consumer_protocol_waits_for_whoever_comes_first() -> None:
    run = run_once(load_scenario("poison-record", ["replay=[consumer]"]).scenario("consumer"))
    longest = max(run.analysis.pauses, key=lambda p: p.length_us)
    away = next(phase for phase in longest.phases if phase.kind is PhaseKind.AWAY)
    assert (
        "had come out of its handler at 11:00" in tell_phase(away)
        and away.length_us > 6 * 60_000_000
    )


def test_what_a_classic_member_gives_to_one_of_the_consumer_protocol_waits_for_that_ones_heartbeat() -> (
    None
):
    """While a group goes over, its coordinator is that of the consumer protocol: no second
    round, no barrier.
    """
    run = run_once(load_scenario("migration-to-consumer").scenario("as-written"))
    pause = next(
        p
        for p in run.analysis.pauses
        if (str(p.partition), p.owner_before, p.owner_after) == ("orders-7", "c1", "c0")
    )
    assert [phase.kind.value for phase in pause.phases] == [
        "release",
        "pickup",
        "assignment",
        "fetch",
    ]
    assert "until c0 was told at its heartbeat" in tell(Together((pause,)))


def test_an_eager_member_has_let_go_when_it_joins_with_nothing() -> None:
    """No acknowledgement follows: its JoinGroup was that."""
    run = run_once(load_scenario("migration-whole-road").scenario("as-written"))
    eager = [
        p
        for p in run.analysis.pauses
        if p.owner_before == "lib-0"
        and p.owner_after == "java-0"
        and p.phases[0].kind is PhaseKind.RELEASE
    ]
    assert eager and all(
        p.phases[0].length_us < 100_000 and p.phases[1].kind is PhaseKind.PICKUP for p in eager
    )


def test_a_static_member_that_never_comes_back_is_told_otherwise_than_one_that_restarts() -> None:
    gone = (
        "c0+p0@0 c1+p1@0 c0x@10 c0)@10 g%c0@55 g{session-expired.c0@55 c1?@56 c1j@56 g|2.c1@56 "
        "c1=2@56 g}2@56 c1:2@56 c1+p0@56"
    )
    for words, told in (
        (gone, "if it never comes back"),
        (f"{gone} c0(2@70", "unless another round begins meanwhile"),
    ):
        analysis = analyse(trace(words, statics=("c0",)))
        assert told in hint_on(analysis.pauses[0], analysis)


# ---------------------------------------------------------------------- what somebody did meanwhile


AT = 65_250_000


@pytest.mark.parametrize(
    ("kind", "facts", "words"),
    [
        (
            PhaseKind.ASSIGNMENT,
            Facts("c0", Doing.BUSY, 0, AT),
            "for the assignment, while c0 was busy with its batch until 1:05.250",
        ),
        (
            PhaseKind.ASSIGNMENT,
            Facts("c0", Doing.IN_CALLBACK, 0, AT),
            "for the assignment, while c0 was in its callback until 1:05.250",
        ),
        (
            PhaseKind.ASSIGNMENT,
            Facts("c0", Doing.ASSIGNING, -1, AT),
            "for the assignment to be computed and handed out",
        ),
        (
            PhaseKind.FETCH,
            Facts("c2", Doing.BUSY, 0, AT),
            "while c2 was busy with records of other partitions until 1:05.250",
        ),
        (
            PhaseKind.FETCH,
            Facts("c2", Doing.FETCHING, 0, AT),
            "until c2 had found its position and the first records",
        ),
        (
            PhaseKind.FOLLOW_UP,
            Facts("c1", Doing.BUSY, 0, AT),
            "waiting for the second rebalance, of which c1 heard when it had done with its batch "
            "at 1:05.250",
        ),
        (
            PhaseKind.FOLLOW_UP,
            Facts("c1", Doing.JOINING, 0, AT),
            "waiting for the second rebalance, of which c1 heard at 1:05.250",
        ),
        (
            PhaseKind.FOLLOW_UP,
            Facts("c1", Doing.UNAWARE, 0, AT, Timer.HEARTBEAT),
            "waiting for the second rebalance, of which c1 heard at its heartbeat at 1:05.250",
        ),
        (
            PhaseKind.NOTICE,
            Facts("c1", Doing.IN_CALLBACK, 0, AT),
            "until c1 heard of the rebalance, when it had come out of its callback at 1:05.250",
        ),
        (
            PhaseKind.AWAY,
            Facts("c1", Doing.STUCK, 0, AT),
            "until c1 had come out of its handler at 1:05.250",
        ),
        (PhaseKind.AWAY, Facts("c1", Doing.AWAY, 0, AT), "until c1 was back"),
        (
            PhaseKind.AWAY,
            Facts("c1", Doing.BUSY, 0, AT),
            "until c1 had done with its batch at 1:05.250",
        ),
        (PhaseKind.AWAY, Facts("c1", Doing.NEW, -1, AT), "until c1 came"),
        (
            PhaseKind.DETECTION,
            Facts("c0", Doing.AWAY, 5, AT, Timer.SESSION, Trigger.NONE, 20_000_000),
            "while c0 was away and nobody knew until its session ran out at 1:05.250 (it had "
            "begun anew at 20.000 s)",
        ),
        (PhaseKind.AWAY, Facts("", Doing.AWAY, -1, AT), "while nobody was there to take it"),
        (
            PhaseKind.DETECTION,
            Facts("c0", Doing.AWAY, 0, AT, Timer.SESSION),
            "while c0 was away and nobody knew until its session ran out at 1:05.250",
        ),
        (
            PhaseKind.BARRIER,
            Facts("c1", Doing.STUCK, 0, AT, Timer.REBALANCE_TIMEOUT),
            "waiting at the barrier for c1, which was stuck in its handler until the rebalance "
            "timeout was over at 1:05.250",
        ),
        (
            PhaseKind.PICKUP,
            Facts("c1", Doing.UNAWARE, 0, AT, Timer.HEARTBEAT),
            "until c1 was told at its heartbeat",
        ),
        (
            PhaseKind.PICKUP,
            Facts("c1", Doing.COMPUTING, 0, AT, Timer.BROKERS_HEARTBEAT),
            "until the broker computed at c1's heartbeat",
        ),
        (
            PhaseKind.BARRIER,
            Facts("c1", Doing.DEAD, 0, AT, Timer.SESSION),
            "waiting at the barrier for c1's dead process until its session ran out at 1:05.250",
        ),
    ],
)
def test_a_phase_tells_whom_it_waited_for_and_what_that_one_did(
    kind: PhaseKind, facts: Facts, words: str
) -> None:
    assert tell_phase(Phase(kind, 0, AT, facts)) == words


@pytest.mark.parametrize(
    ("trigger", "after", "words"),
    [
        ("replaced", "c1b", "until c1b took its place at 1:05.250"),
        ("replaced", "c1", "until it was back at 1:05.250"),
        ("", "c2", "until it was back at 1:05.250"),
    ],
)
def test_a_silence_that_no_timer_ended_blames_none(trigger: str, after: str, words: str) -> None:
    phase = Phase(
        PhaseKind.DETECTION, 0, AT, Facts("c1", Doing.FROZEN, 0, AT, Timer.NONE, Trigger(trigger))
    )
    assert tell_phase(phase, after) == f"while c1 was frozen and nobody knew {words}"
    assert hint_on(paused(phase, after), stuck()) == ""


def stuck() -> Analysis:
    return analyse(trace(STUCK))


def paused(phase: Phase, after: str = "c0") -> Pause:
    return Pause(
        Partition("t", 0),
        "group",
        0,
        AT,
        False,
        PauseStart.REVOKED,
        "c0",
        after,
        -1,
        -1,
        _story=Story((phase,), Cause(CauseKind.LEFT, "c0")),
    )


@pytest.mark.parametrize(
    ("kind", "facts", "begins"),
    [
        (
            PhaseKind.ASSIGNMENT,
            Facts("c0", Doing.BUSY, 0, AT),
            "Shorter batches (max.poll.records)",
        ),
        (PhaseKind.ASSIGNMENT, Facts("c0", Doing.ASSIGNING, 0, AT), "A cheaper assignor"),
        (PhaseKind.FETCH, Facts("c0", Doing.BUSY, 0, AT), "Shorter batches (max.poll.records)"),
        (PhaseKind.FOLLOW_UP, Facts("c0", Doing.BUSY, 0, AT), "Shorter batches (max.poll.records)"),
        (
            PhaseKind.FOLLOW_UP,
            Facts("c0", Doing.UNAWARE, 0, AT, Timer.HEARTBEAT),
            "heartbeat.interval.ms (3.00 s here)",
        ),
        (PhaseKind.AWAY, Facts("c0", Doing.IN_CALLBACK, 0, AT), "A quicker rebalance listener"),
        (PhaseKind.AWAY, Facts("c0", Doing.AWAY, 0, AT), "How soon a process is back"),
        (
            PhaseKind.PICKUP,
            Facts("c0", Doing.UNAWARE, 0, AT, Timer.HEARTBEAT),
            "heartbeat.interval.ms (3.00 s here)",
        ),
        (
            PhaseKind.PICKUP,
            Facts("c0", Doing.UNAWARE, 0, AT, Timer.BROKERS_HEARTBEAT),
            "A shorter group.consumer.heartbeat.interval.ms",
        ),
        (
            PhaseKind.BARRIER,
            Facts("c0", Doing.STUCK, 0, AT, Timer.REBALANCE_TIMEOUT),
            "The brokers wait for who does not join as long as its own rebalance timeout says, "
            "which is max.poll.interval.ms (5 m here)",
        ),
    ],
)
def test_a_hint_turns_what_the_phase_hung_on(kind: PhaseKind, facts: Facts, begins: str) -> None:
    assert hint_on(paused(Phase(kind, 0, AT, facts)), stuck()).startswith(begins)


@pytest.mark.parametrize("client", ["sarama 1.60", "franz-go 1.21"])
def test_a_client_without_max_poll_interval_is_not_told_to_set_it(client: str) -> None:
    analysis = stuck()
    analysis.header.consumers["c0"].client = client
    profile = client_profile(*client.split())
    assert isinstance(profile, ClientProfile)
    analysis.header.consumers["c0"].habits = profile.habits
    for facts in (
        Facts("c0", Doing.STUCK, 0, AT, Timer.REBALANCE_TIMEOUT),
        Facts("c0", Doing.BUSY, 0, AT),
    ):
        hint = hint_on(paused(Phase(PhaseKind.BARRIER, 0, AT, facts)), analysis)
        assert (
            "horter batches" in hint
            and "shorter max.poll.interval.ms" not in hint
            and "max.poll.records" not in hint
        )


def test_franz_gos_early_heartbeat_is_no_matter_of_the_interval() -> None:
    """After each cooperative join it beats 500 ms later, whatever heartbeat.interval.ms is."""
    analysis = stuck()
    analysis.header.consumers["c0"].client = "franz-go 1.21"
    analysis.header.consumers["c0"].habits = FRANZ_GO
    hints = [
        hint_on(
            paused(
                Phase(
                    PhaseKind.FOLLOW_UP,
                    0,
                    length,
                    Facts("c0", Doing.UNAWARE, 0, length, Timer.HEARTBEAT),
                )
            ),
            analysis,
        )
        for length in (502_000, 2_500_000)
    ]
    assert hints[0] == "" and hints[1].startswith("heartbeat.interval.ms")


def test_nobody_is_told_to_start_quicker_who_was_frozen_or_never_came() -> None:
    frozen, nobody = (
        Phase(PhaseKind.AWAY, 0, AT, Facts(who, Doing(doing), 0, AT))
        for who, doing in (("c0", "frozen"), ("", "away"))
    )
    assert hint_on(paused(frozen), stuck()) == hint_on(paused(nobody), stuck()) == ""


def test_a_short_assignment_blames_no_assignor() -> None:
    short = Phase(PhaseKind.ASSIGNMENT, 0, 10_000, Facts("c0", Doing.ASSIGNING, 0, 10_000))
    assert hint_on(paused(short), stuck()) == ""


def test_causes_and_triggers_in_words() -> None:
    assert tell_cause(Cause("stopped", "c0", "bounce-1")) == "when c0 stopped (bounce-1)"
    assert tell_cause(Cause("enforced", "c0")) == "when c0 asked for a rebalance"
    assert (tell_trigger("rejoined", "c0"), tell_trigger("enforced", "c0")) == (
        "c0 joined again",
        "c0 asked for a rebalance (enforceRebalance)",
    )


def test_a_static_member_stops_and_does_not_leave() -> None:
    words = (
        "c0+p0@0 c1+p1@0 c0x@10 c0)@10 g%c0@55 g{session-expired.c0@55 c1?@56 c1-p1@56 c1j@56 "
        "g|2.c1@56 g}2@56 c1:2@56 c1+p0,p1@56"
    )
    told = said(words, statics=("c0", "c1"))[0]
    assert told.startswith(
        "t-0 stood still for 46.0 s when c0 stopped: 45.0 s while c0 was away and nobody knew "
        "until its session ran out at 55.000 s"
    )


# ------------------------------------------------------------------------------ one against another


def pair(one_words: str, other_words: str) -> Report:
    names = ("eager", "cooperative")
    return Report(
        "t",
        tuple(VariantReport(n, analyse(trace(w))) for n, w in zip(names, (one_words, other_words))),
    )


def test_the_trade_is_told_when_one_saves_in_all_and_the_other_for_the_worst() -> None:
    everybody = "c0+p0,p1,p2,p3@0 c0-p0,p1,p2,p3@50 c0+p0,p1,p2,p3@52"
    one_long = "c0+p0,p1,p2,p3@0 c0-p3@50 c1+p3@55"
    told = tell_trade(pair(everybody, one_long))
    assert told.startswith(
        "cooperative stops less in all (5.00 partition-seconds instead of 8.00 on 1 instead of 4 "
        "partitions), but its worst partition waits "
        "longer than under eager: 5.00 s instead of 2.00 s"
    )


def test_the_clearly_better_one_is_called_so() -> None:
    told = tell_trade(pair("c0+p0,p1@0 c0-p0,p1@50 c0+p0,p1@60", "c0+p0,p1@0 c0-p0@50 c0+p0@52"))
    assert (
        told == "cooperative stands still less than eager: 2.00 partition-seconds instead of 20.0, "
        "2.00 s instead of 10.0 s at the longest."
    )


def test_alike_is_called_alike() -> None:
    same = "c0+p0@0 c0-p0@50 c0+p0@60"
    assert (
        tell_trade(pair(same, same))
        == "eager and cooperative stand still alike: 10.0 s at the longest, 10.0 "
        "partition-seconds in sum."
    )


def test_fewer_pauses_are_told_against_a_shorter_one() -> None:
    told = tell_trade(story("scale-out"))
    assert (
        "because under cooperative a moved partition waits 3.00 s for a second rebalance, of "
        "which the others hear at their next heartbeat" in told
    )
    assert told.endswith("; yet eager stops 4 partitions, and cooperative only 1.")


def test_among_many_the_quietest_is_told_with_its_price() -> None:
    calm, quick = (
        "c0+p0@0 c0!@50 c0(2@80 c0+p0@80",
        "c0+p0@0 g{joined.c1@50 c0-p0@50 g|2.c0@50 g}2@50 c0+p0@51",
    )
    many = Report(
        "t",
        tuple(
            VariantReport(name, analyse(trace(words)))
            for name, words in (("a", quick), ("b", quick), ("static", calm))
        ),
    )
    assert tell_trade(many) == (
        "a and b stand still least: 1.00 partition-seconds in sum, 1.00 s at the longest; "
        "static has the fewest rebalances, 0, and a longest pause of 30.0 s."
    )


def test_the_best_of_many_are_told_with_what_each_has() -> None:
    """Values as near as these are alike to anybody, but not the same."""
    quick, near, slow = (
        f"c0+p0@0 g{{joined.c1@10 c0-p0@10 g|2.c0@10 g}}2@10 c0+p0@{end}"
        for end in ("50", "50.5", "90")
    )
    many = Report(
        "t",
        tuple(
            VariantReport(name, analyse(trace(words)))
            for name, words in (("a", quick), ("b", near), ("c", slow))
        ),
    )
    assert (
        tell_trade(many)
        == "a and b stand still least: 40.0 and 40.5 partition-seconds in sum, 40.0 s and 40.5 "
        "s at the longest."
    )


@pytest.mark.parametrize(
    ("values", "bests"),
    [
        ((1.0, 2.0), (0,)),
        ((2.0, 1.0), (1,)),
        ((1.0, 1.0), ()),
        ((1.0, 1.001), ()),
        ((1.0, 1.0, 5.0), (0, 1)),
        ((None, 3.0), ()),
        ((None, 3.0, 4.0), (1,)),
        ((0.0, 3.0), (0,)),
    ],
)
def test_the_better_ones_are_marked(
    values: tuple[float | None, ...], bests: tuple[int, ...]
) -> None:
    assert bests_of("longest_pause", values) == bests


def test_what_is_neither_better_nor_worse_is_not_marked() -> None:
    assert bests_of("least_moves", (1.0, 9.0)) == () and verdict_of("least_moves", 1.0, 9.0) == ""


def test_a_metric_that_nobody_knows_has_no_row() -> None:
    report = one(trace(STUCK, rate=None))
    assert "lag_peak" not in [line.metric for line in lines_of(report)]


def test_difference_tells_partition_and_phase() -> None:
    words = {
        "a": "c0+p0,p1@0 c0#@20 c0.@50 c0*p0,p1@50",
        "b": "c0+p0,p1@0 c0#@20 c0.@30 c0*p0,p1@30 c0-p1@60 c0+p1@61",
    }
    before, after = (VariantReport(name, analyse(trace(text))) for name, text in words.items())
    d = difference(before, after)
    assert [(c.partition, c.before_us, c.after_us) for c in d.partitions] == [
        ("t-0", 30_000_000, 10_000_000),
        ("t-1", 30_000_000, 11_000_000),
    ]
    assert all(c.main is not None and c.main.phase.value == "stuck" for c in d.partitions)
    for c in d.partitions:
        assert sum(p.by_us for p in c.phases) == c.by_us
    assert sum(p.by_us for p in d.phases) == sum(c.by_us for c in d.partitions)
    assert {c.metric: c.verdict for c in d.metrics}["longest_pause"] == "better"


def test_a_partition_of_one_side_only_is_said_to_be_new_or_gone() -> None:
    before, after = (
        VariantReport(n, analyse(trace(w))) for n, w in (("a", "c0+p0@0"), ("b", "c0+p0,p1@0"))
    )
    assert [(c.partition, c.is_new) for c in difference(before, after).partitions] == [
        ("t-1", True)
    ]
    assert [(c.partition, c.is_gone) for c in difference(after, before).partitions] == [
        ("t-1", True)
    ]


# --------------------------------------------------------------------------------- questions, words


def test_questions() -> None:
    loop = Answer(
        "crash-loop",
        True,
        ("c0",),
        {"times": 3, "away_us": 5_000_000, "session_timeout_us": 45_000_000},
        (),
    )
    told = tell_answer(loop)
    assert (told.answer, told.is_bad) == ("yes", True) and told.text.startswith(
        "c0: 3 times, back after 5.00 s with a session of 45.0 s."
    )
    assert tell_answer(replace(loop, is_yes=None)).answer == "unknown"
    unused = Answer("cooperative-in-use", False, ("c0", "c1"), {"offered": 2, "groups": 1}, ())
    assert tell_answer(unused).is_bad and "2 members offer it" in tell_answer(unused).text
    assert not tell_answer(replace(unused, is_yes=True)).is_bad


def test_since_when_the_cooperative_assignor_is_in_use_is_told() -> None:
    used = Answer(
        "cooperative-in-use", True, ("c0",), {"offered": 1, "groups": 1, "since_us": 75_000_000}, ()
    )
    assert (
        tell_answer(used).text
        == "It has been the group's assignor since 1:15.000, and another before."
    )
    back = replace(
        used,
        is_yes=False,
        consumers=(),
        figures={"offered": 0, "groups": 1, "since_us": 75_000_000},
    )
    assert (
        tell_answer(back).text
        == "No member offers it any more; it was the group's assignor until 1:15.000."
    )


def test_under_the_consumer_protocol_the_cooperative_assignor_is_no_question() -> None:
    moved = Answer(
        "cooperative-in-use", None, ("c0",), {"consumer_protocol": 1, "since_us": 75_000_000}, ()
    )
    assert tell_answer(moved).answer == "n/a"
    assert (
        tell_answer(moved).text
        == "Under the consumer protocol, since 1:15.000, the brokers assign, and only what "
        "moves is given up."
    )
    born = replace(moved, figures={"consumer_protocol": 1, "since_us": -1})
    assert (
        tell_answer(born).text
        == "Under the consumer protocol the brokers assign, and only what moves is given up."
    )


def test_figures() -> None:
    assert [say("longest_pause", v) for v in (None, 0.0, 3_010_000.0)] == ["-", "0 s", "3.01 s"]
    assert (
        say("partition_seconds", 378_000_000.0) == "378 s"
        and say("lag_peak", 42_000.4) == "42,000"
        and say("rebalancing_share", 0.0123) == "1.2 %"
    )


def test_words() -> None:
    ps = [Partition("orders", i) for i in range(12)]
    assert (
        partitions_told(ps) == "orders-0 … orders-11"
        and partitions_told(ps[::2]) == "orders-0, orders-2 and 4 more"
    )
    assert listed(["a"]) == "a" and listed(["a", "b"]) == "a and b" and listed([]) == "nobody"
    assert plural(1, "member") == "1 member" and plural(1_200, "member") == "1,200 members"
    assert (
        clip("abcdef", 4) == "abc…"
        and clip_middle("orders-events-317", 12) == "order…ts-317"
        and len(clip_middle("orders-events-317", 12)) == 12
    )


def test_a_commit_without_an_answer_is_no_stuck_handler() -> None:
    told = trace(STUCK)
    next(e for e in told.events if type(e) is ev.HandlerStuck).why = "commit"
    assert tell(together(analyse(told).pauses)[0]) == (
        "t-0 stood still for 30.0 s when c0's commit was not answered: 30.0 s while c0's commit "
        "waited for the coordinator."
    )
