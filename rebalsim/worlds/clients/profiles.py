"""Spring's profiles: documents and files that hold only where a profile is active. They belong to the
document without one, as Spring lays them over it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from rebalsim.worlds.clients.reading import Keys
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.recognise import Config
from rebalsim.worlds.words import squash

_CONDITIONS = ("springconfigactivateonprofile", "springprofiles")
_ACTIVE = "springprofilesactive"
_FILE = re.compile(r"(?P<base>.*application|.*bootstrap)-(?P<profile>[\w.]+?)(?P<end>\.\w+)$")


def joined(configs: list[Config]) -> list[Config]:
    """The files of settings, those for a profile laid by at the one that they belong to."""
    made: list[Config] = []
    waiting: list[tuple[str, str, Config]] = []
    for config in configs:
        condition, file = _condition(config)
        if condition:
            waiting.append((condition, file, config))
        else:
            made.append(config)
    for condition, file, config in waiting:
        base = next((c for c in made if _is_base(c, file)), None)
        if base is None:
            made.append(config)
        else:
            base.profiles.append((condition, config.keys))
    return made


def _condition(config: Config) -> tuple[str, str]:
    """For which profile a document is, and to which file it belongs."""
    for key, text in config.keys.items():
        name = re.sub(r"\d+$", "", squash(key))
        if name in _CONDITIONS and text:
            said = [t for k, t in config.keys.items() if t and squash(k).startswith(squash(key))]
            return " | ".join(said), config.file
    is_springs = any(k.startswith("spring.") for k in config.keys)
    if is_springs and (named := _FILE.match(config.file)):
        return named["profile"], named["base"] + named["end"]
    return "", config.file


def _is_base(config: Config, file: str) -> bool:
    stem = file.rpartition(".")[0]
    return config.file == file or config.file.rpartition(".")[0] == stem


def active(keys: Keys, known: Mapping[str, str]) -> list[str]:
    """The profiles that are active, as far as variables, options and the files tell."""
    said = [t for k, t in known.items() if squash(k) == _ACTIVE]
    said += [r for k, t in keys.items() if squash(k) == _ACTIVE and t and (r := resolved(t, known))]
    return [p.strip() for p in re.split(r"[,\s]+", said[0]) if p.strip()] if said else []


def laid(config: Config, profiles: Iterable[str]) -> Keys:
    """The file's keys with those of the active profiles over them."""
    chosen = set(profiles)
    keys = dict(config.keys)
    for condition, more in config.profiles:
        if holds(condition, chosen):
            for key, text in more.items():
                keys.pop(key, None)
                keys[key] = text
    return keys


def holds(condition: str, chosen: set[str]) -> bool:
    """Whether a profile expression such as `prod & !eu | dev` is true."""
    return any(
        all(
            (name.strip(" ()").lstrip("!") in chosen) != name.strip(" ()").startswith("!")
            for name in part.split("&")
        )
        for part in re.split(r"[|,]", condition)
    )


def left_out(config: Config, profiles: Iterable[str]) -> list[str]:
    """The profiles that the file knows and that are not active."""
    chosen = set(profiles)
    return [condition for condition, _ in config.profiles if not holds(condition, chosen)]
