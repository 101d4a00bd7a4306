"""rebalsim replays what a Kafka consumer group does when members come, go, crash or hang, and
says which partition paused, and why.

Nothing is imported here, not even `typing`: until `__main__` runs, Ctrl-C ends in Python's own
traceback.
"""

TYPE_CHECKING = False  # for checkers, which take it for true by its name

if TYPE_CHECKING:
    from rebalsim.api import analyse, milliseconds, minutes, replay, seconds
    from rebalsim.scenario.load import load_scenario

__version__ = "0.2.0"
__all__ = [
    "__version__",
    "analyse",
    "load_scenario",
    "milliseconds",
    "minutes",
    "replay",
    "seconds",
]

# What the package offers, and where it lives: imported when it is first asked for, so that `import
# rebalsim` costs nothing.
_OFFERED = {
    "load_scenario": "rebalsim.scenario.load",
    **dict.fromkeys(("analyse", "milliseconds", "minutes", "replay", "seconds"), "rebalsim.api"),
}


def __getattr__(name: str) -> object:
    if name in _OFFERED:
        import importlib

        return getattr(importlib.import_module(_OFFERED[name]), name)
    raise AttributeError(f"module 'rebalsim' has no attribute '{name}'")
