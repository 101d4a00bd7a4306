"""How a consumer came to hold a partition no longer."""

from __future__ import annotations

from rebalsim.domain.open_codes import OpenCode


class HoldingEnd(OpenCode):
    """The codes that traces and results share."""

    REVOKED = "revoked"
    LOST = "lost"
    EXITED = "exited"
    HELD = "held"  # it still held it when observation ended
