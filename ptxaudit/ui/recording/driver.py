"""Builds the library that records through the driver, once, with the C compiler of this machine.

    built()  ->  Library(path="~/.cache/ptxaudit/recording/…/libptxaudit_record.so", cupti="…/libcupti.so.13")

`injection.c` needs the headers of CUDA and CUPTI, and the CUPTI library at run time: from the wheels
nvidia-cuda-cupti, nvidia-cuda-runtime and nvidia-cuda-crt, or from a toolkit.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from ptxaudit.base import limits, private, temporary, vendor
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.frontend.compile.toolchains import roots

SOURCE = Path(__file__).with_name("injection.c")
NAME = "libptxaudit_record.so"
WITHOUT = "or record without it: --via frameworks"
_FLAGS = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-w")
_OF_WHEELS = ("cuda_cupti/include", "cuda_runtime/include", "cuda_nvcc/include")  # before CUDA 13: one folder each
_INCLUDES = ("include", "extras/CUPTI/include", "targets/x86_64-linux/include", *_OF_WHEELS)
_LIBRARIES = ("lib", "lib64", "extras/CUPTI/lib64", "targets/x86_64-linux/lib", "cuda_cupti/lib")


class Library(Record):
    """path: the library to inject; cupti: the CUPTI library that it loads."""

    path: str
    cupti: str


def built() -> Library:
    """The library, built if necessary. Raises InputError if it cannot be built."""
    headers, cupti = _found()
    compiler = os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        raise InputError(
            "no C compiler was found to build the library that records through the driver",
            f"install gcc or clang, or name one in the environment variable CC; {WITHOUT}",
        )
    home = private.folder("recording")
    if home is None:
        raise InputError(
            "the library that records through the driver cannot be stored: the cache folder is not writable, or is"
            " writable by others",
            f"name another one in XDG_CACHE_HOME; {WITHOUT}",
            str(private.place("recording")),
        )
    path = home / f"{_digest(headers, compiler)}-{NAME}"
    if not path.is_file():
        _build(compiler, headers, path)
    return Library(str(path), cupti)


def _found() -> tuple[list[str], str]:
    """(header folders, CUPTI library), each from the first place that has it. Raises InputError if one is missing."""
    folders = [str(folder) for root, _ in roots() for part in _INCLUDES if (folder := root / part).is_dir()]
    cupti = next((folder for folder in folders if Path(folder, "cupti.h").is_file()), None)
    cuda = next((folder for folder in folders if Path(folder, "cuda.h").is_file()), None)
    library = next(_libraries(), None)
    missing = [name for name, there in (("cupti.h", cupti), ("libcupti.so", library), ("cuda.h", cuda)) if not there]
    if missing or cupti is None or cuda is None or library is None:
        raise InputError(
            f"{' and '.join(missing)} not found, but needed to record through the driver",
            f"pip install nvidia-cuda-cupti, or name a toolkit in CUDA_HOME; {WITHOUT}",
        )
    crt = [folder for folder in folders if Path(folder, "crt/host_defines.h").is_file()][:1]
    return list(dict.fromkeys([cupti, cuda, *crt])), library


def _libraries() -> Iterator[str]:
    named = os.environ.get("PTXAUDIT_CUPTI")
    if named:
        yield named
    for root, _ in roots():
        for part in _LIBRARIES:
            for library in sorted((root / part).glob("libcupti.so*"), reverse=True):
                yield str(library)


def _digest(headers: list[str], compiler: str) -> str:
    """A digest of everything that determines the built library."""
    version = Path(headers[0], "cupti_version.h")
    parts = (
        SOURCE.read_bytes(),
        version.read_bytes() if version.is_file() else b"",
        os.path.realpath(compiler),
        headers,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _build(compiler: str, headers: list[str], path: Path) -> None:
    with temporary.folder() as folder:
        out = os.path.join(folder, NAME)
        command = [compiler, *_FLAGS, *(f"-I{one}" for one in headers), "-o", out, str(SOURCE), "-ldl", "-lpthread"]
        try:
            done = vendor.run(command, limits.COMPILER_TIME, temporary=folder)
        except OSError as error:
            raise InputError(f"{compiler} cannot be run: {error.strerror}", f"name another in CC; {WITHOUT}") from None
        if done.status or not os.path.isfile(out):
            raise InputError(
                f"{compiler} does not build the library that records through the driver",
                f"the headers may be too old for it; {WITHOUT}",
                str(SOURCE),
                detail=done.said,
            )
        beside = path.with_name(f"{path.name}.{os.getpid()}")
        shutil.copyfile(out, beside)
        os.replace(beside, path)
