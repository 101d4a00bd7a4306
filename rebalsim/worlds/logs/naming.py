"""What a consumer is called: by its file, pod or host where that is one consumer's, else with what
tells it from its neighbours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rebalsim.worlds.logs.parts import unnumbered
from rebalsim.worlds.logs.voices import Voice

_CONTAINER = re.compile(r"(?:^|/)containers/([0-9a-f]{12})[0-9a-f]{52}/")
_POD = re.compile(r"(?:^|/)pods/[^_/]+_([^_/]+)_[^/]+/")
_NUMBER = re.compile(r"-(\d{1,6})(?:-consumer)?$")


def name_voices(voices: Sequence[Voice]) -> None:
    """Give each voice a name of its own; of several that would have the same, in order of time."""
    often = Counter(_stem(v) for v in voices)
    taken: Counter[str] = Counter()
    for voice in sorted(voices, key=_since):
        stem = _stem(voice)
        name = stem if often[stem] == 1 else f"{stem}/{_own(voice)}"
        taken[name] += 1
        voice.name = name if taken[name] == 1 else f"{name}-{taken[name]}"


def _since(voice: Voice) -> int:
    return voice.facts[0].at_us if voice.facts else 0


def _stem(voice: Voice) -> str:
    stream = voice.stream
    if stream.whose:
        host, _, process = stream.whose.partition("/")
        return host or process
    if (found := _CONTAINER.search(stream.host)) is not None:
        return found[1]
    if (found := _POD.search(stream.host)) is not None:
        return found[1]
    name = unnumbered(stream.host).rpartition("/")[2]
    return re.sub(r"\.(?:log|txt|out|json)$", "", name) or stream.host


def _own(voice: Voice) -> str:
    """The part of the client's name that tells it from its neighbours."""
    if voice.instance:
        return voice.instance
    found = _NUMBER.search(voice.client)
    return found[1] if found is not None else voice.client or voice.group
