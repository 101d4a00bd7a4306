"""Whether a cluster's workers can do the work, found out before they are asked to: pyarrow,
rebalsim, and the same version of it.
"""

from __future__ import annotations

from typing import Any

from rebalsim import __version__
from rebalsim.domain.errors import Missing

# Sent as text: a function of this package could not be unpacked by a worker that lacks the package.
_LOOK = """
def look(_):
    import importlib, sys
    found = {}
    for name in ("rebalsim", "pyarrow", "simpy", "yaml"):
        try:
            found[name] = getattr(importlib.import_module(name), "__version__", "?")
        except Exception as e:
            found[name] = None
    yield (sys.executable, "%d.%d" % sys.version_info[:2], found)
"""


def check_workers(spark: Any) -> None:
    """Missing says what the workers lack, and how they get it. Local masters need no asking:
    they run this very Python.
    """
    context = spark.sparkContext
    if str(context.master).startswith("local"):
        return
    named: dict[str, Any] = {"__name__": "__main__"}
    exec(
        _LOOK, named
    )  # a function of __main__ is pickled whole, and needs no rebalsim on the workers
    seats = max(2, int(context.defaultParallelism))
    for python, version, found in (
        context.parallelize(range(seats), seats).mapPartitions(named["look"]).collect()
    ):
        if found["pyarrow"] is None:
            raise Missing(
                f"The workers' Python ({python}, {version}) has no pyarrow, which Spark's Python "
                "data sources need — "
                "install it there: pip install pyarrow."
            )
        gone = [name for name in ("rebalsim", "simpy", "yaml") if found[name] is None]
        if gone:
            raise Missing(
                f"The workers' Python ({python}, {version}) has no {' and no '.join(gone)} — "
                "send it along with --pack rebalsim.zip, or install it there."
            )
        if found["rebalsim"] != __version__:
            raise Missing(
                f"The workers have rebalsim {found['rebalsim']}, and this is {__version__} — "
                "send this one along with --pack rebalsim.zip."
            )
        if tuple(map(int, version.split("."))) < (3, 11):
            raise Missing(
                f"The workers' Python ({python}) is {version}, and rebalsim needs 3.11 or newer "
                "— name another with --conf spark.pyspark.python=…."
            )
