"""A Spark session that starts anywhere and speaks only when asked: embedded by default, any master
on demand.

The JVM writes its start-up notes straight to the standard error it inherits, where no logger
reaches them. So it is started with standard error turned to a file, which is asked for the
reason when something fails and thrown away in the end.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError, Missing, RebalsimError
from rebalsim.spark.java import check_spark

LOCAL_MASTER = "local[*]"
_RETRIES = 4
_LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d{0,4})(?:,\s*\d+)?\])?")
_MASTER = re.compile(
    rf"{_LOCAL.pattern}|local-cluster\[.+\]|spark://\S+|k8s://\S+|yarn(?:-client|-cluster)?"
)
_PREFIX = re.compile(
    r'(?:Exception in thread "[^"]*" |[a-z][\w$]*(?:\.[\w$]+)+(?:Exception|Error): )+'
)


class SparkFailed(RebalsimError):
    """Spark did not start, or could not finish; the message says what it said."""


def local_cores(master: str) -> int | None:
    """How many cores a local master has; None for a cluster. InputError for what is no master."""
    if not _MASTER.fullmatch(master):
        raise InputError(
            f"Spark knows no master '{master}' — write local[4], local[*], spark://HOST:PORT, "
            "yarn or k8s://https://HOST:PORT."
        )
    found = _LOCAL.fullmatch(master)
    if not found:
        return None
    if found[1] == "*":
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    return int(found[1] or 1)


def start_session(
    master: str = "",
    conf: Mapping[str, str] | None = None,
    *,
    is_loud: bool = False,
    name: str = "rebalsim",
    is_brief: bool = False,
) -> Any:
    """A session on `master` (empty: what spark-submit says, else all cores of this machine).
    `is_brief`: not worth optimising machine code for.
    """
    check_spark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    given = dict(conf or {})
    wanted = master or given.get("spark.master") or ("" if _is_submitted() else LOCAL_MASTER)
    if wanted:
        local_cores(wanted)  # says what is no master, before Spark is waited for
    builder = SparkSession.builder.appName(name)
    if wanted:
        builder = builder.master(_with_retries(wanted))
    for key, value in {**_defaults(wanted, is_loud, is_brief), **given}.items():
        builder = builder.config(key, value)
    # Workers run the Python that rebalsim is installed in, unless the user names another. PySpark
    # heeds the variable alone, not the setting.
    if "spark.pyspark.python" in given:
        os.environ["PYSPARK_PYTHON"] = given["spark.pyspark.python"]
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    _must_answer(wanted)
    try:
        with contextlib.nullcontext() if is_loud else _standard_error_to(_log()):
            session = builder.getOrCreate()
    except Exception as e:
        raise SparkFailed(
            f"Spark did not start{f' on {wanted}' if wanted else ''}: {reason_in(e)}"
        ) from None
    if threading.current_thread() is threading.main_thread():
        # PySpark's own answer to Ctrl-C talks to the JVM from wherever it falls, in the middle of a
        # word of ours too; whoever needs jobs cancelled does it himself.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if not is_loud:
        _without_noise()
    return session


def _must_answer(master: str) -> None:
    """Spark itself needs a minute to find out that nobody listens at a standalone master's
    address.
    """
    if not master.startswith("spark://"):
        return
    addresses = [a.rpartition(":") for a in master.removeprefix("spark://").split(",")]
    for host, _, port in addresses:
        try:
            with socket.create_connection((host, int(port)), timeout=5):
                return
        except (OSError, ValueError):
            continue
    raise SparkFailed(
        f"No Spark master answers at {master} — is it running, and is the address the one its "
        "page shows?"
    )


@functools.cache
def _log() -> Path:
    """The file that the JVM's standard error goes to, for as long as this process lives."""
    path = Path(tempfile.mkstemp(prefix="rebalsim-spark-", suffix=".log")[1])
    atexit.register(path.unlink, missing_ok=True)
    return path


def _is_submitted() -> bool:
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _with_retries(master: str) -> str:
    """`local[2]` gives up at the first worker that dies; `local[2,4]` tries a task four times,
    as a cluster does.
    """
    if not master.startswith("local") or "," in master or master.startswith("local-cluster"):
        return master
    inside = master.removeprefix("local").strip("[]") or "1"
    return f"local[{inside},{_RETRIES}]"


def _defaults(master: str, is_loud: bool, is_brief: bool) -> dict[str, str]:
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.python.filterPushdown.enabled": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        # A long sweep is thousands of jobs: Spark need not remember them all.
        "spark.ui.retainedJobs": "20",
        "spark.ui.retainedStages": "20",
        "spark.ui.retainedTasks": "4000",
        "spark.sql.ui.retainedExecutions": "5",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        # All tasks of a sweep cost about the same by construction; two chunks overlap, so that no
        # core waits for a chunk's last task.
        "spark.scheduler.mode": "FIFO",
    }
    if not is_loud:
        conf["spark.log.level"] = "ERROR"
    cores = local_cores(master) if master else None
    if cores is not None:
        conf |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",  # no name service, no network needed
            "spark.sql.shuffle.partitions": str(max(2, cores)),
            "spark.default.parallelism": str(max(2, cores)),
        }
        if is_brief:
            # The work is Python's; what the JVM does in a minute is not worth its second compiler,
            # which would fight the workers for the cores.
            conf["spark.driver.extraJavaOptions"] = "-XX:TieredStopAtLevel=1"
    elif "//127.0.0.1" in master or "//localhost" in master:
        conf |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    return conf


@contextlib.contextmanager
def _standard_error_to(path: Path) -> Iterator[None]:
    """Whoever is started meanwhile inherits a standard error that goes to the file."""
    sys.stderr.flush()
    saved = os.dup(2)
    target = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.dup2(target, 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(saved, 2)
        os.close(saved)
        os.close(target)


def _without_noise() -> None:
    """PySpark writes a failed query's whole Java stack to standard error by loggers of its own,
    and warns of packages that nobody asked for.
    """
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).disabled = True
    warnings.filterwarnings("ignore", message=".*pandas.*", module=r"pyspark\..*")


def reason_in(error: BaseException) -> str:
    """The one line of a failure that says why: the innermost Java cause, or what Spark last
    called an error. Java's class is no part of it.
    """
    reason = _reason_in(error)
    return _PREFIX.sub("", reason, count=1) or reason


def _reason_in(error: BaseException) -> str:
    if isinstance(error, OSError) and not isinstance(error, ConnectionError):
        return str(error)  # a file's own failure: what Spark last logged was of something else
    java = getattr(error, "java_exception", None)
    if java is not None and (said := _said_by_java(java)):
        return said
    has_log = _log.cache_info().currsize and _log().exists()
    if has_log and (logged := _logged(_log().read_text("utf-8", "replace"))):
        return logged
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__


def _said_by_java(cause: Any) -> str:
    """The innermost cause; of a Python worker that died, Python's own error. Empty where Spark was
    stopped, for whatever reason that its log knows.
    """
    seen = 0
    while cause.getCause() is not None and seen < 20:
        cause, seen = cause.getCause(), seen + 1
    text = str(cause.toString())
    said = _last_error_in(text) if _TRACEBACK in text else text.splitlines()[0]
    if "Python worker" in said or "EOFException" in said or "Connection reset" in said:
        said = _python_error() or said
    return "" if "stopped SparkContext" in said else said


def _logged(log: str) -> str:
    if _TRACEBACK in log:
        return _last_error_in(log)
    lines = log.splitlines()
    errors = [line.split(" ERROR ", 1)[1] for line in lines if " ERROR " in line]
    logged = [told for told in errors if "Aborting" not in told]
    logged = logged or [line for line in lines if "Exception" in line or "Error" in line]
    return logged[0].strip()[:300] if logged else ""


_TRACEBACK = "Traceback (most recent call last)"


def _last_error_in(text: str) -> str:
    """The line of a Python traceback that says what happened."""
    lines = [
        line.strip()
        for line in text.splitlines()
        if re.match(r"\s*[A-Za-z_][\w.]*(Error|Exception|Missing)\b(: |$)", line)
    ]
    # the interpreter itself forgets its MemoryError where there is no room even for that
    out_of_memory = ("MemoryError", "SystemError: error return without exception set")
    if any(line.startswith(out_of_memory) for line in lines):
        return "a worker's Python ran out of memory (spark.executor.pyspark.memory)"
    return lines[-1] if lines else text.splitlines()[0]


def _python_error() -> str:
    """The last line of the last Python traceback in the log: what a worker said before it died."""
    if not _log.cache_info().currsize or not _log().exists():
        return ""
    lines = _log().read_text("utf-8", "replace").splitlines()
    found = [
        line
        for line in lines
        if re.match(r"[A-Za-z_.]*(Error|Exception)\b: ", line)
        and not line.startswith(("java.", "org."))
    ]
    return f"a Python worker died: {found[-1][:200]}" if found else ""


def stop_session(session: Any) -> None:
    """Stop Spark and its JVM's connection; a second stop does no harm."""
    with contextlib.suppress(Exception):
        session.stop()


__all__ = [
    "LOCAL_MASTER",
    "Missing",
    "SparkFailed",
    "local_cores",
    "reason_in",
    "start_session",
    "stop_session",
]
