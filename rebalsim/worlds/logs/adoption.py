"""Member ids (and settings) that only the coordinator tells, given to the consumers whose they must be.

A client that prints no ids (librdkafka without debug, KafkaJS at INFO, …) is known by its client id,
which its ids begin with, where no other consumer of the logs has that name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from rebalsim.worlds.logs.facts import Fact
from rebalsim.worlds.logs.voices import Voice

_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def stem_of(member: str) -> str:
    """The client (or instance) id that a classic member id begins with; empty where it has none."""
    stem = _UUID.sub("", member)
    return stem if stem != member else ""


def adopt(voices: Sequence[Voice], coordinator: Iterable[Fact]) -> None:
    """Give ids and group to those who tell none themselves."""
    known = {i for v in voices for i in v.ids}
    names = Counter(name for v in voices for name in _names(v))
    strays: dict[str, list[Fact]] = {}
    for f in coordinator:
        if (
            f.member
            and f.member not in known
            and f.what in ("born", "added", "replaced", "preparing")
        ):
            strays.setdefault(stem_of(f.member), []).append(f)
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


def give_timeouts(voices: Sequence[Voice], coordinator: Iterable[Fact]) -> None:
    """What only the coordinator tells of a member's settings, to those that print none themselves."""
    by_id = {i: v for v in voices for i in v.ids}
    for f in coordinator:
        if f.what == "setting" and (voice := by_id.get(f.member)) is not None:
            voice.settings.setdefault(f.why, f.other)


def _names(voice: Voice) -> list[str]:
    """What its member ids may begin with."""
    file = re.sub(r"\.(?:log|txt|out|json)$", "", voice.stream.host.rpartition("/")[2])
    return list(dict.fromkeys(n for n in (voice.client, voice.instance, file) if n))
