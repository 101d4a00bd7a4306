"""One consumer whose lives lie in several files is one voice: by a client id of its own, or by files
that a number tells apart (`pay-3.1.log`, `pay-3.2.log`), where one begins after the other has ended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rebalsim.worlds.logs.parts import unnumbered
from rebalsim.worlds.logs.voices import Voice

_PROCESS = re.compile(r"\[[^\]]{1,128}\]$")


def join_lives(voices: Sequence[Voice]) -> list[Voice]:
    """The voices, those of one consumer joined in order of time."""
    kept: dict[tuple[str, str, str, str], list[Voice]] = {}
    found: list[Voice] = []
    for voice in sorted(voices, key=lambda v: v.facts[0].at_us if v.facts else 0):
        alike = kept.setdefault((voice.group, voice.client, voice.instance, _whose(voice)), [])
        ended = [v for v in alike if _follows(v, voice)]
        former = max(ended, key=lambda v: v.facts[-1].at_us, default=None)
        if former is not None:
            former.facts += voice.facts
            former.adopted += voice.adopted
            former.settings.update(voice.settings)
            former.stream = voice.stream
            former.index()
            continue
        alike.append(voice)
        found.append(voice)
    order = {id(v): n for n, v in enumerate(voices)}
    return sorted(found, key=lambda v: order[id(v)])


def _whose(voice: Voice) -> str:
    """Empty for a client id that nobody else has by default; else the file without its number."""
    is_default = not voice.client or voice.client.startswith(f"consumer-{voice.group}-")
    return f"{unnumbered(voice.stream.host)}\n{_program(voice.stream.whose)}" if is_default else ""


def _program(source: str) -> str:
    """Whose lives have a process number each."""
    return _PROCESS.sub("", source)


def _follows(former: Voice, voice: Voice) -> bool:
    if former.stream is voice.stream or not former.facts or not voice.facts:
        return False
    if former.facts[-1].at_us > voice.facts[0].at_us:
        return False
    if _program(former.stream.source) == _program(voice.stream.source):
        return True
    is_one_of_many = _takes_turns(former) or _takes_turns(voice)
    return not is_one_of_many or bool({*former.ids} & {*voice.ids})


def _takes_turns(voice: Voice) -> bool:
    """It speaks in a file of several processes, which may have the same client ids by default."""
    return voice.stream.whose != voice.stream.source
