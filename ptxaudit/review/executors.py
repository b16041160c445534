"""Audits on an executor of `concurrent.futures`, whose workers may be on other machines: a Dask cluster.

    with executor_of("dask://10.0.0.7:8786") as executor:
        for part in audited(pieces, options, executor): …        one Part per piece, in order

The workers have this package installed, and the files at the same paths. If a worker is lost, Dask gives its work to
another one; with executors that do not, the loss becomes a problem of the worker's files.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager
from urllib.parse import urlsplit

from msgspec.structs import replace

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.collect import Part, name_of
from ptxaudit.review.divided import Piece

WORKERS = 8  # for an executor that does not report its number
GREETING = 10.0  # seconds within which a scheduler must answer
RETRIES = 3  # for the work of a lost worker of a cluster
_one_at_a_time = threading.Lock()  # within a process, because compilers are called one at a time


@contextmanager
def executor_of(address: str) -> Iterator[Executor]:
    """The executor that `--executor` names: dask://HOST:PORT. Raises InputError if there is none."""
    scheme, _, place = address.partition("://")
    if scheme != "dask" or not place:
        raise InputError(f"there is no executor {address!r}", "name the scheduler of a Dask cluster: dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError:
        raise InputError("Dask is not installed", "run `pip install 'ptxaudit[dask]'`") from None
    try:
        _greeted(place)
        client = Client(f"tcp://{place}", set_as_default=False)
    except (OSError, ValueError) as error:
        raise InputError(f"the Dask scheduler at {place} cannot be reached: {error}", "check its address") from None
    with client:
        yield client.get_executor(pure=False, retries=RETRIES)


def _greeted(place: str) -> None:
    """Raises OSError or ValueError unless something at HOST:PORT sends data on connection, as a scheduler does at
    once: `Client` would wait forever for a silent peer."""
    parts = urlsplit(f"//{place}")
    if parts.hostname is None or parts.port is None:
        raise ValueError("it is no HOST:PORT")
    with socket.create_connection((parts.hostname, parts.port), timeout=GREETING) as connection:
        if not connection.recv(1):
            raise ConnectionError("the peer closes the connection")


def workers_of(executor: Executor) -> int:
    """The number of pieces that it processes at a time, if that can be determined."""
    known = getattr(executor, "_max_workers", None)
    return known if isinstance(known, int) and known > 0 else WORKERS


def audited(pieces: Sequence[Piece], options: Options, executor: Executor) -> Generator[Part, None, None]:
    """The results of each piece, in order. Raises what an audit in this process would."""
    given = replace(options, jobs=1)
    futures = [executor.submit(audit_there, piece, given, os.getcwd()) for piece in pieces]
    try:
        for piece, future in zip(pieces, futures, strict=True):
            try:
                yield future.result()
            except InputError:
                raise
            except (Exception, CancelledError) as error:
                yield _without(piece, error)
    finally:
        for future in futures:
            future.cancel()


def audit_there(piece: Piece, options: Options, folder: str) -> Part:
    """Audits a piece on a worker. folder: the base of relative paths."""
    from ptxaudit.review.kept_parts import audit_part

    with _one_at_a_time:
        if os.getcwd() != folder:
            os.chdir(folder)
        return audit_part(piece.files, replace(options, share=piece.share))


def _without(piece: Piece, error: BaseException) -> Part:
    """The part for files whose worker was lost."""
    part = Part()
    for file in piece.files:
        with part.collecting(name_of(file)):
            raise InputError(
                f"the worker that audited this file was lost: {type(error).__name__}",
                "it ran out of memory, crashed, or lacks this version of ptxaudit: audit this file alone",
                detail=str(error),
            )
    return part
