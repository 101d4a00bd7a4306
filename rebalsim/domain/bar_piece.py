"""What a partition was at for a while: the pieces of its bar."""

from __future__ import annotations

from enum import StrEnum


class BarPiece(StrEnum):
    """A phase tells more of a pause. How a piece is drawn stands in `rebalsim/reports/palette.py`."""

    CONSUMING = "consuming"
    PAUSED = "paused"
    UNOWNED = "unowned"  # before its first owner, or gone for good
