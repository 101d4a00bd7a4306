"""`python -m rebalsim` and the command `rebalsim`: the door, and before it what must hold while the
door itself is still being imported.

What Python does before this file's first line (it starts, looks for packages, and reads the script
that pip has written) is Python's: there Ctrl-C ends by the signal, with a traceback of Python's.
"""

# `signal` itself imports much, in which Ctrl-C may strike; this is what lies beneath it.
import _signal  # type: ignore[import-not-found]
import os
import sys


def _stop(number: int, frame: object) -> None:
    """Ctrl-C while nothing of ours has begun: there is nothing to put in order."""
    try:
        os.write(2, b"Interrupted.\n")
    finally:
        os._exit(130)


def _takes_ctrl_c() -> bool:
    """Whether this process is the command, and Ctrl-C means what it usually does."""
    name = sys.argv[0].replace("\\", "/").rpartition("/")[2]
    is_command = __name__ == "__main__" or name.startswith("rebalsim")
    return is_command and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler


if _takes_ctrl_c():
    _signal.signal(_signal.SIGINT, _stop)


def run() -> None:
    """Run the command line. Ctrl-C ends with 130 from here on, imports included."""
    try:
        from rebalsim.cli.main import code_of

        if _signal.getsignal(_signal.SIGINT) is _stop:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        code = code_of(sys.argv[1:])
    except KeyboardInterrupt:
        # Nothing that takes time before the next one is ignored.
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        exec("")  # the interpreter forgets that it struck within another one, and ends with 130
        sys.stderr.write("Interrupted.\n")
        code = 130
    sys.exit(code)


if __name__ == "__main__":
    run()
