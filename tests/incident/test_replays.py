"""How an incident's scenario repeats what was observed: heartbeats where they left, costs as they came,
and pauses told as logs tell them.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rebalsim.incident.align import aligned
from rebalsim.incident.as_logged import pauses_as_logged
from rebalsim.incident.investigate import investigate
from rebalsim.incident.lives import lives_of
from rebalsim.incident.replay import hold, story_in
from rebalsim.incident.static import longest_away_us, static_remedy
from rebalsim.incident.told import render
from rebalsim.incident.took import in_turn
from rebalsim.one_run import run_once
from rebalsim.trace import events as ev
from rebalsim.worlds.logs.measured import classic_beat_ms
from rebalsim.worlds.logs.observation import GroupStory, Observation, observe, told_by
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.streams import Census, Reader, Stream

FOLDER = Path(__file__).parents[2] / "scenarios" / "incidents"
RECORDED = Path(__file__).parents[1] / "reality" / "logs"
MS = 1_000


def story_of(folder: Path) -> GroupStory:
    return max(observe(sources_in([str(folder)])).groups.values(), key=lambda s: len(s.pauses))


@pytest.mark.parametrize("name", ["deploy-last-night", "spring-last-night", "storm-last-night"])
def test_a_recorded_incident_replays_as_it_was(name: str) -> None:
    story = story_of(FOLDER / name)
    held = hold(aligned(story), story.pauses)
    assert held.is_believed, held.misses


def test_a_members_heartbeats_leave_when_they_did() -> None:
    """Who hears of a deploy's first leaving does so in the replay within 50 ms of its log."""
    story = story_of(FOLDER / "deploy-last-night")
    written = aligned(story)
    first = next(r for r in story.rounds if r.trigger.kind == "leave")
    heard = {
        v.name: next(f.at_us for f in v.facts if f.what == "heard" and f.at_us > first.begin_us)
        for v in story.voices
        if v.ids[0] != first.trigger.member
    }
    events = run_once(story_in(written.text).scenario("as-written")).analysis.trace.events
    began = first.begin_us - written.zero_us
    for name, at in heard.items():
        mine = [e.at_us for e in events if type(e) is ev.RebalanceNoticed and e.consumer == name]
        nearest = min(mine, key=lambda us: abs(us - (at - written.zero_us)))
        assert nearest > began - 50 * MS
        assert abs(nearest - (at - written.zero_us)) < 50 * MS


def test_costs_that_are_worth_a_word_are_listed_in_turn() -> None:
    assert in_turn([3_000, 5_000]) == ""  # of a few ms nobody would know
    assert in_turn([40_000, 40_000]) == "40ms"
    assert in_turn([40_000, 0]) == "{in_turn: [40ms, 0ms]}"
    text = aligned(story_of(FOLDER / "deploy-last-night")).text
    assert re.search(r"heartbeat: {members: \[\w[^]]*\], in: \d+ms}", text)


PLAYED = """\
topics: {t: {partitions: 2, rate: 10/s}}
group:
  config: {partition.assignment.strategy: [range], session.timeout.ms: 10s}
  members: [a, b]
replay: [as-written]
start: cold
heartbeat_phase: as-written
horizon: 60s
script:
  - {at: 29s, heartbeat: [a, b]}
  - {at: 30s, crash: b}
"""


def test_a_replays_pauses_are_told_as_logs_would_tell_them() -> None:
    analysis = run_once(story_in(PLAYED).scenario("as-written")).analysis
    killed = [p for p in pauses_as_logged(analysis.trace.events, "group") if p.how == "killed"]
    assert [p.partition for p in killed] == ["t-1"]
    given = next(
        e.at_us
        for e in analysis.trace.events
        if type(e) is ev.CallbackBegan and e.callback == "assigned" and e.at_us > 30_000_000
    )
    assert (killed[0].start_us, killed[0].end_us) == (30_000_000, given)


def test_a_silence_that_nobody_came_to_know_of_is_no_pause_of_a_log() -> None:
    text = PLAYED.replace("crash: b", "freeze: {members: b, for: 2s}")
    analysis = run_once(story_in(text).scenario("as-written")).analysis
    told = pauses_as_logged(analysis.trace.events, "group")
    assert [p for p in told if p.how == "frozen"] == []


def test_logs_cut_anywhere_are_told_of_without_an_error() -> None:
    """Halves and holes: what cannot be played is said, and nothing is raised."""
    for name in sorted(p.name for p in FOLDER.iterdir()):
        for keeps in (2, 3, 5):
            found = investigate(in_pieces(FOLDER / name, keeps), events=0)
            assert render(found)
            assert all(i.held is not None or i.why_not for i in found[:1])


def in_pieces(folder: Path, keeps: int) -> Observation:
    """Its logs with two of so many hundred lines left out, in turns, and the last files missing."""
    sources = sources_in([str(folder)])
    streams: dict[str, Stream] = {}
    census = Census()
    for source in sources[: max(1, len(sources) - keeps // 2)]:
        lines = list(source.lines())
        kept = [line for n, line in enumerate(lines) if n // 7 % keeps]
        Reader(source.name, source.host, streams, census).read(kept)
    return told_by(list(streams.values()), census)


def test_a_process_that_came_again_without_a_word_of_its_end_is_two_lives() -> None:
    story = story_of(FOLDER / "crash-last-night")
    killed = {s.voice.name for s in story.stops if s.how == "killed"}
    lives = [life for life in lives_of(story) if life.voice.name in killed]
    assert next([b.what for b in life.blows] for life in lives) == ["crash"]
    assert "handler: {commit: none}" in aligned(story).text  # its session began with its last beat


@pytest.mark.slow
def test_faster_heartbeats_are_tried_on_the_replay_of_a_deploy_and_help() -> None:
    """What is known of beats says when they came as they were set, not that they could come no sooner."""
    first = investigate(observe(sources_in([str(FOLDER / "deploy-last-night")])), events=60_000)[0]
    assert any(t.setting == "heartbeat.interval.ms" for r in first.remedies for t in r.patch.turns)


def test_static_membership_is_tried_where_processes_came_back() -> None:
    story = story_of(FOLDER / "deploy-last-night")
    written = aligned(story)
    assert 5_000_000 < longest_away_us(written.lives) < 10_000_000
    text = aligned(story, is_static=True).text
    assert text.count("group.instance.id: orders-1") == 2
    events = run_once(story_in(text).scenario("as-written")).analysis.trace.events
    removed = [e.why for e in events if type(e) is ev.MemberRemoved]
    assert "left" not in removed
    assert removed.count("replaced") == 3
    # each partition waits for its own process then, which takes longer than handing it on
    assert static_remedy(story, written, 60_000) == []


@pytest.mark.parametrize("name", ["crash-sticky", "scale-out-coop"])
def test_clients_logs_alone_that_print_no_settings_replay_too(name: str) -> None:
    story = story_of(RECORDED / name)
    held = hold(aligned(story), story.pauses)
    assert held.is_believed, held.misses


def test_a_heartbeat_interval_that_nobody_prints_follows_from_when_news_came() -> None:
    """Kafka's Java client sends no beat sooner than an interval after it has joined."""
    story = story_of(RECORDED / "scale-out-coop")
    assert all(v.settled("heartbeat.interval.ms") < 0 for v in story.voices)
    assert classic_beat_ms(story) == 1_000
    assert "heartbeat.interval.ms: 1000   # as answers came" in aligned(story).text
    assert classic_beat_ms(story_of(FOLDER / "deploy-last-night")) == 0  # the default fits
