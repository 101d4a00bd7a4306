"""`journalctl -o json`: an object a line, with MESSAGE and __REALTIME_TIMESTAMP in µs."""

from __future__ import annotations

from rebalsim.worlds.logs.times import Stamp
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, document_of, process_of


def take(line: str) -> Unwrapped | None:
    """The message and whose it is."""
    if not line.startswith("{") or '"MESSAGE"' not in line:
        return None
    found = document_of(line, "MESSAGE")
    if found is None:
        return None
    document, text = found
    when = str(document.get("__REALTIME_TIMESTAMP", ""))
    stamp = Stamp(int(when), 0, True, True, 1) if when.isdigit() and len(when) < 18 else None
    host = document.get("_HOSTNAME", "")
    process = document.get("SYSLOG_IDENTIFIER") or document.get("_COMM", "")
    number = document.get("_PID") or document.get("SYSLOG_PID")
    return Unwrapped(text, stamp, process_of(host, process, number))


WRAPPING = Wrapping("journal as JSON", take, order=5)
