"""Member ids (and settings) that only the coordinator tells, given to the consumers whose they must be.

A client that prints no ids (librdkafka without debug, KafkaJS at INFO, …) is known by its client id,
which its ids begin with, where no other consumer of the logs has that name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.voices import OF_OTHERS, Voice

EARLY_US, SOON_US = 50_000, 500_000  # within which a JoinGroup's first answer follows it
_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def stem_of(member: str) -> str:
    """The client (or instance) id that a classic member id begins with; empty where it has none."""
    stem = _UUID.sub("", member)
    return stem if stem != member else ""


def _strays(coordinator: Iterable[Fact], known: set[str]) -> dict[str, list[Fact]]:
    """What the coordinator says of members that nobody's own lines name, by the stems of their ids."""
    strays: dict[str, list[Fact]] = {}
    telling = (FactKind.BORN, FactKind.ADDED, FactKind.REPLACED, FactKind.PREPARING)
    for f in coordinator:
        if f.member and f.member not in known and f.what in telling:
            strays.setdefault(stem_of(f.member), []).append(f)
    return strays


def adopt(voices: Sequence[Voice], coordinator: Iterable[Fact]) -> None:
    """Give ids and group to those who tell none themselves."""
    known = {i for v in voices for i in v.ids}
    names = Counter(name for v in voices for name in _names(v))
    strays = _strays(coordinator, known)
    for voice in voices:
        for name in _names(voice):
            if names[name] != 1 or (voice.ids and not voice.instance):
                continue
            for f in strays.get(name, ()):
                if not voice.group:
                    voice.group = f.group
                if f.group == voice.group:
                    voice.adopted.append((f.at_us, f.member))
        voice.index()


def adopt_by_time(voices: Sequence[Voice], coordinator: Iterable[Fact]) -> None:
    """Ids that no log tells, to lives that tell none (sarama prints its id when a session ends, which a
    killed one's does not): where exactly one such life asked to join as the id was given out, and
    no other id was given out then. Clocks are right by now.
    """
    known = {i for v in voices for i in v.ids}
    given = [
        f
        for f in coordinator
        if f.what in (FactKind.BORN, FactKind.ADDED) and f.member not in known
    ]
    strays = list({f.member: f for f in reversed(given)}.values())
    mute = [(v, at) for v in voices for at in _mute_since(v)]
    for voice, asked in mute:
        near = [f for f in strays if _is_near(f, voice, asked)]
        others = [v for v, at in mute for f in near if v is not voice and _is_near(f, v, at)]
        if len(near) == 1 and not others:
            voice.adopted.append((asked, near[0].member))
            voice.index()


def _mute_since(voice: Voice) -> list[int]:
    """When each of its lives that tell no id asked to join first."""
    found: list[int] = []
    asked, has_id = -1, False
    for f in [*voice.facts, None]:
        if f is None or f.what == FactKind.STARTED:
            found += [asked] if asked >= 0 and not has_id else []
            asked, has_id = -1, False
        elif f.what == FactKind.ASKING and asked < 0:
            asked = f.at_us
        has_id = has_id or (f is not None and bool(f.member) and f.what not in OF_OTHERS)
    return found


def _is_near(f: Fact, voice: Voice, asked: int) -> bool:
    step = max(voice.stream.step_us, 1_000)
    return f.group == voice.group and -EARLY_US <= f.at_us - asked < SOON_US + step


def give_timeouts(voices: Sequence[Voice], coordinator: Iterable[Fact]) -> None:
    """What only the coordinator tells of a member's settings, to those that print none themselves."""
    by_id = {i: v for v in voices for i in v.ids}
    for f in coordinator:
        if f.what == FactKind.SETTING and (voice := by_id.get(f.member)) is not None:
            voice.settings.setdefault(f.why, f.other)


def _names(voice: Voice) -> list[str]:
    """What its member ids may begin with."""
    file = re.sub(r"\.(?:log|txt|out|json)$", "", voice.stream.host.rpartition("/")[2])
    return list(dict.fromkeys(n for n in (voice.client, voice.instance, file) if n))
