"""The scenario's moments set so that they fall between two heartbeats as they fell in the logs.

Who leaves or joins is heard of at the others' next heartbeat. Where that stands at an instant hangs on
every millisecond since the group formed, which no scenario can repeat; but the logs say how long each
member took to hear, and so at which moment between two beats the blow fell. Each is moved there, by less
than a heartbeat, one after the other.
"""

from __future__ import annotations

from statistics import median
from typing import Any

from rebalsim.incident.lives import Life
from rebalsim.incident.replay import scenario_in, shifts_of
from rebalsim.incident.to_scenario import Written, to_scenario
from rebalsim.one_run import run_once
from rebalsim.trace import events as ev
from rebalsim.worlds.logs.measured import Measured
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round

MOST = 30  # rebalances that are aligned, each of which costs a play
LEAST_US = 20_000
BEAT_US = 3_000_000


def aligned(story: GroupStory, measured: Measured) -> Written:
    """The story's scenario with each start, then each blow, at its moment between two heartbeats."""
    written = to_scenario(story, measured)
    shifts = shifts_of(written, _played(written))
    written = to_scenario(story, measured, shifts)
    for r in [r for r in story.rounds if r.trigger.kind in ("join", "leave") and not r.is_epoch][
        :MOST
    ]:
        life = _life(written, r)
        if life is None:
            continue
        late = _late_by(story, written, r, life, shifts)
        if abs(late) >= LEAST_US:
            key = life.name if r.trigger.kind == "join" else f"{life.name} leaves"
            shifts[key] = shifts.get(key, 0) + late
            written = to_scenario(story, measured, shifts)
    return written


def _played(written: Written) -> Any:
    return run_once(scenario_in(written.text)).analysis


def _life(written: Written, r: Round) -> Life | None:
    """Whose coming or going began the rebalance."""
    mine = [x for x in written.lives if r.trigger.member in x.voice.ids]
    fitting = [x for x in mine if x.begin_us - 2_000_000 <= r.begin_us <= x.end_us + 2_000_000]
    return fitting[-1] if fitting else None


def _late_by(
    story: GroupStory, written: Written, r: Round, life: Life, shifts: dict[str, int]
) -> int:
    """By how much later the others hear of it in the replay than they did, within half a beat."""
    observed = _heard(story, r, life)
    if not observed:
        return 0
    key = life.name if r.trigger.kind == "join" else f"{life.name} leaves"
    moved = shifts.get(key, 0) if r.trigger.kind == "leave" else 0
    began = r.begin_us - written.zero_us + moved
    replayed = _replayed(written, began)
    beat = max((v.settled("heartbeat.interval.ms") * 1_000 for v in story.voices), default=-1)
    beat = beat if beat > 0 else BEAT_US
    names = {x.voice.name: x.name for x in written.lives if x.begin_us <= r.begin_us <= x.end_us}
    apart = [
        replayed[names[voice]] - us
        for voice, us in observed.items()
        if names.get(voice) in replayed
    ]
    if not apart:
        return 0
    return round((median(apart) + beat / 2) % beat - beat / 2)


def _heard(story: GroupStory, r: Round, life: Life) -> dict[str, int]:
    """How long after the rebalance's beginning each of the others heard of it."""
    end = r.joined_us if r.joined_us >= 0 else r.begin_us + BEAT_US
    found = {}
    for voice in story.voices:
        if voice is not life.voice:
            for f in voice.facts:
                if f.what == "heard" and r.begin_us <= f.at_us <= end:
                    found[voice.name] = f.at_us - r.begin_us
                    break
    return found


def _replayed(written: Written, began_us: int) -> dict[str, int]:
    """The same in the replay, by the nearest rebalance there."""
    analysis = _played(written)
    events = analysis.trace.events
    states = [
        e.at_us
        for e in events
        if type(e) is ev.GroupStateChanged and e.after == "PreparingRebalance"
    ]
    begin = min(states, key=lambda at: abs(at - began_us), default=-1)
    if begin < 0 or abs(begin - began_us) > BEAT_US:
        return {}
    found: dict[str, int] = {}
    for e in events:
        if type(e) is ev.RebalanceNoticed and begin <= e.at_us <= begin + 2 * BEAT_US:
            found.setdefault(e.consumer, e.at_us - begin)
    return found
