"""Where an owner found the position at which it began, if it did not merely go on."""

from __future__ import annotations

from rebalsim.domain.open_codes import OpenCode


class PositionFrom(OpenCode):
    """The codes that traces and results share; the words of those that matter to records handled twice
    or never stand in `rebalsim/reports/evidence_told.py`.
    """

    COMMITTED = "committed"
    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"
    BESIDE = "beside"  # it had one, and went on beside the next owner
