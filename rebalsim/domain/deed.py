"""What a script does to the world."""

from __future__ import annotations


class Deed:
    """The ancestor of all actions' shapes: frozen values, told apart by their class."""

    __slots__ = ()
