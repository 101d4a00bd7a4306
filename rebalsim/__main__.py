"""`python -m rebalsim` and the command `rebalsim`: the door, and before it what must hold while the
door itself is still being imported.
"""

from __future__ import annotations

import sys


def run() -> None:
    """Run the command line. Ctrl-C ends with 130 from here on, imports included."""
    try:
        from rebalsim.cli.main import code_of

        code = code_of(sys.argv[1:])
    except KeyboardInterrupt:
        # Nothing that takes time before the next one is ignored: `signal` itself imports much.
        import _signal  # type: ignore[import-not-found]

        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        exec("")  # the interpreter forgets that it struck within another one, and ends with 130
        sys.stderr.write("Interrupted.\n")
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
