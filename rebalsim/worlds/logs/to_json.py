"""An observation as the judged JSON: groups with rebalances, callbacks and pauses, and the clocks."""

from __future__ import annotations

from rebalsim.worlds.logs.facts import CALLS
from rebalsim.worlds.logs.observation import GroupStory, Observation
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import Trigger
from rebalsim.worlds.logs.voices import Voice

Document = dict[str, object]


def document_of(observed: Observation) -> Document:
    """Times are ms since 1970 by the reference's clock."""
    groups = {name: _group(story) for name, story in observed.groups.items()}
    clocks = {
        file: round((clock.ahead_us - clock.zone_us) / 1_000)
        for file, clock in sorted(observed.clocks.items())
        if clock.is_known
    }
    return {"groups": groups, "clocks": clocks}


def _group(story: GroupStory) -> Document:
    return {
        "rebalances": [_round(r) for r in story.rounds],
        "callbacks": [
            {
                "member": member_of(v, f.at_us, f.member),
                "t": f.at_us // 1_000,
                "kind": f.what.value,
                "partitions": list(f.partitions),
            }
            for v in story.voices
            for f in v.facts
            if f.what in CALLS and f.partitions
        ],
        "pauses": [
            {
                "partition": p.partition,
                "start": p.start_us // 1_000,
                "end": p.end_us // 1_000 if p.end_us >= 0 else None,
                "how": p.how,
                "cause": {"kind": p.kind, "member": p.member or None},
            }
            for p in story.pauses
        ],
    }


def member_of(voice: Voice, at_us: int, told: str = "") -> str:
    """The member id it had then; its file where no line tells one."""
    return told or voice.id_at(at_us) or voice.instance or voice.stream.file


def _round(r: Round) -> Document:
    late = None
    if r.late_member:
        late = {"member": r.late_member, "ms": r.late_us // 1_000, "how": r.late_how}
    return {
        "generation": r.generation,
        "begin": r.begin_us // 1_000,
        "joined": r.joined_us // 1_000 if r.joined_us >= 0 else None,
        "end": r.end_us // 1_000 if r.end_us >= 0 else None,
        "trigger": _trigger(r.trigger),
        "late": late,
        **({"root": _trigger(r.root)} if r.root is not None else {}),
    }


def _trigger(t: Trigger) -> Document:
    return {"kind": t.kind, "member": t.member or None}
