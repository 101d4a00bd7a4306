"""`journalctl -o json`: an object a line, with MESSAGE and __REALTIME_TIMESTAMP in µs."""

from __future__ import annotations

import json

from rebalsim.worlds.logs.times import Stamp
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping


def take(line: str) -> Unwrapped | None:
    """The message and whose it is."""
    if not line.startswith("{") or '"MESSAGE"' not in line:
        return None
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None
    text = document.get("MESSAGE") if isinstance(document, dict) else None
    if not isinstance(text, str):
        return None
    when = str(document.get("__REALTIME_TIMESTAMP", ""))
    stamp = Stamp(int(when), 0, True, True, 1) if when.isdigit() and len(when) < 18 else None
    host = document.get("_HOSTNAME", "")
    process = document.get("SYSLOG_IDENTIFIER") or document.get("_COMM", "")
    return Unwrapped(text, stamp, f"{host}/{process}")


WRAPPING = Wrapping("journal as JSON", take, order=5)
