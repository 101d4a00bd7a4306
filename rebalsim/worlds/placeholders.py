"""Placeholders: `${VAR:default}` of Spring and others, `${VAR:-default}` of shells, `$(VAR)` of
Kubernetes, and the templates that nobody rendered.

A placeholder is resolved against what is known (the container's environment, other keys of the same
file); else its default holds; else the whole value is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds.secrets import is_masked
from rebalsim.worlds.values import Text, like

_INNERMOST = re.compile(r"\$\{\s*\??([^{}:$]*?)\s*(?:(:-|:\?|:\+|:|-(?=[^}]))([^{}]*))?\}")
_TEMPLATE = re.compile(r"\{\{|\{%|\$\{\{|\$\{|(?<!\$)\$\(|<%|@[\w.]+@|^\{[^{}]{3,}\}$")
# What Helm's reader leaves where it could not tell: it stands for "a template".
GAP = "\N{REPLACEMENT CHARACTER}"

Known = Mapping[str, str]


def resolved(text: Text, known: Known) -> Text | None:
    """The text with its placeholders filled in; None where one has neither value nor default.

    An empty default is none: it switches the thing off, or waits for somebody to say it.
    """
    if "$" not in text and "{" not in text and GAP not in text and "<" not in text:
        return None if is_masked(text) or not text.strip() else text
    if text == "{pod}":
        return text
    said = _filled_in(str(text), known)
    if said is None or not said.strip():
        return None
    if _TEMPLATE.search(said.replace("{pod}", "pod")) or GAP in said or is_masked(said):
        return None
    return like(said, text)


def _filled_in(said: str, known: Known) -> str | None:
    for _ in range(20):
        if not (found := _INNERMOST.search(said)):
            break
        value = _value(found, known)
        if value is None:
            return None
        said = said[: found.start()] + value + said[found.end() :]
    return said


def _value(found: re.Match[str], known: Known) -> str | None:
    name, operator, fallback = found[1], found[2], found[3]
    if operator == "-" and not re.fullmatch(r"[A-Z0-9_]+", name):
        name, colon, fallback = f"{name}-{fallback}".partition(":")  # a dash inside a dotted name
        operator = colon or None
    for spelling in (name, name.upper().replace(".", "_").replace("-", "")):
        if known.get(spelling):
            return str(known[spelling])
    if operator is None or operator == ":?":
        return None
    return fallback.strip("\"'`") if fallback else ""


def expanded(text: Text, known: Mapping[Text, Text | None]) -> Text | None:
    """`$(VAR)` as Kubernetes fills it in; unknown variables stay as they are, and unknown values
    make the whole unknown.
    """
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        name = Text(found[1])
        if name not in known:
            return found[0]
        if known[name] is None:
            missing = True
        return str(known[name] or "")

    said = re.sub(r"(?<!\$)\$\(([\w.-]+)\)", value, text)
    return None if missing else like(said.replace("$$", "$"), text)
