"""Credentials: recognised by their key, never copied, and looked for once more before anything is
printed.
"""

from __future__ import annotations

import re
from typing import Any

_KEY = re.compile(
    r"passw|passphrase|\bpwd\b|secret|token(?!i)|credential|jaas|\bsalt|sasl.?username"
    r"|(api|access|private|account|shared|auth|license|encryption)[-_.]?key|user[-_.]?info",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"(name|ref|location|file|path|type|class|enabled?|provider|ur[li]|endpoint|mechanism|protocol"
    r"|interval|timeout|seconds|ms|ttl|size|format)s?$",
    re.IGNORECASE,
)
_PAIR = re.compile(r"""^[\s"'#-]*(?:export\s+)?([\w.\-/:%\[\]]+?)["']?\s*[:=]\s*(.*?)[\s,]*$""")
_INSIDE = re.compile(
    r"""(?:password|secret|token)\\?["']?\s*[=:]\s*\\?["']?([^"'\s;,\\]+)""", re.IGNORECASE
)
_IN_URL = re.compile(r"://[^/\s:@]+:([^@/\s]+)@")
MASKED = re.compile(r"REDACTED|\*{4,}|^<.*>$|^x{6,}$", re.IGNORECASE)


def is_credential(key: str) -> bool:
    """Whether a key's value must not be copied."""
    return bool(_KEY.search(key)) and not _HARMLESS.search(key)


def is_masked(text: str) -> bool:
    """A value that somebody blanked, or a gap to fill in: not a value."""
    return bool(MASKED.search(text))


def _parted(text: str) -> tuple[set[str], str]:
    """The credentials of a text, and the lines that hold none."""
    found: set[str] = set()
    rest: list[str] = []
    for document in re.split(r"(?m)^---", text):
        is_secret = bool(re.search(r"(?m)^\s*kind:\s*[\"']?Secret\b", document))
        name = ""
        for line in document.splitlines():
            if len(line) > 5000:
                continue
            pair = _PAIR.match(line)
            key, value = pair.groups() if pair else ("", "")
            if key == "name":
                name = value.strip("\"'")
            held = [*_INSIDE.findall(line), *_IN_URL.findall(line)]
            if _is_held(name if key == "value" else key, key, is_secret):
                held.append(value)
            found.update(held)
            rest.append("" if held else line)
    return {c for v in found if (c := _clean(v)) and len(c) > 4}, "\n".join(rest)


def _is_held(label: str, key: str, is_secret: bool) -> bool:
    """Whether the value of a key is a credential: by its label, or because it stands in a Secret."""
    plain = ("apiVersion", "kind", "name", "namespace", "type")
    return is_credential(label) or (is_secret and key not in plain)


def _clean(value: str) -> str:
    value = re.sub(r"\s+#.*$", "", value.strip()).strip("\"'")
    value = re.sub(r"\$\{[^{}:]*(?::-?([^{}]*))?\}", r"\1", value).strip("-} ")
    return "" if re.search(r"[`<>]|\{\{|\$[({]|^\$\w+$|^[{|&*]", value) else value


def without(thing: Any, hidden: set[str]) -> Any:
    """The thing, each text in it that holds one of the hidden values taken out."""
    if isinstance(thing, dict):
        return {k: without(v, hidden) for k, v in thing.items()}
    if isinstance(thing, (list, tuple)):
        return [without(v, hidden) for v in thing]
    if isinstance(thing, str) and any(h in thing for h in hidden):
        return "(a credential's value: left out)"
    return thing


def worth_hiding(text: str) -> set[str]:
    """The credentials of a text whose values stand nowhere else in it: one that is also a user's or a
    broker's name, or part of one, gives nothing away, and would hide too much.
    """
    found, rest = _parted(text)
    rest = rest.lower()
    return {c for c in found if c.lower() not in rest}
