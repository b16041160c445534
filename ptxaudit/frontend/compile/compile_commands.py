"""Reads a `compile_commands.json`: what each source is built with, as far as it decides its device code.

    {"directory": "/b", "command": "nvcc -I../inc -DN=4 -std=c++20 -fmad=false -c ../k.cu", "file": "../k.cu"}
    ->  {"/k.cu": Flags(include=("/inc",), defines=("N=4",), std="c++20", code=("--fmad=false",))}

Include folders, macros, headers that are included first, the standard, and the options that NVRTC, nvcc and ptxas share
are passed on; others that may change the code are listed, for a note.

CMake writes one with `CMAKE_EXPORT_COMPILE_COMMANDS`, and keeps the include folders of CUDA sources in separate files
(`--options-file CMakeFiles/app.dir/includes_CUDA.rsp`). https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxaudit.base import files, limits
from ptxaudit.base.errors import InputError
from ptxaudit.base.records import Record
from ptxaudit.base.work import Account, Exhausted

HINT = (
    "CMake writes it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON; others as"
    " https://clang.llvm.org/docs/JSONCompilationDatabase.html says"
)
CUDA_SUFFIXES = (".cu",)

_FOLDERS = ("-I", "-isystem", "--include-path", "--system-include")
_MACROS = ("-D", "--define-macro")
_NO_MACROS = ("-U", "--undefine-macro")
_HEADERS = ("-include", "--pre-include")
_STANDARDS = ("-std", "--std")
_FOR_PTXAS = ("-Xptxas", "--ptxas-options")
_SWITCHES = {  # spelling -> the option of NVRTC and nvcc
    "use_fast_math": "--use_fast_math",
    "restrict": "--restrict",
    "extra-device-vectorization": "--extra-device-vectorization",
    "device-debug": "--device-debug",
    "G": "--device-debug",
}
_VALUED = ("fmad", "ftz", "prec-div", "prec-sqrt", "maxrregcount")
_VALUE = re.compile(r"true|false|\d{1,4}")
_PTXAS = re.compile(
    r"-O[0-3]|--?(opt-level=[0-3]|maxrregcount=\d{1,4}|register-usage-level=\d{1,2}|allow-expensive-optimizations=(true|false)"
    r"|(dlcm|dscm|def-load-cache|def-store-cache)=\w{1,9})"
)
_SILENT = re.compile(
    r"-v|--verbose|-w|-?-(warn|disable-warnings|suppress)[\w-]*"
)  # of ptxas, without effect on the code
_OTHERS = re.compile(
    r"-rdc(=true)?|--relocatable-device-code(=true)?|-dc|--device-c|-dlto|--dlink-time-opt|-ewp|--extensible-whole-program"
    r"|-?-Ofast-compile.*|-?-dopt.*|-Xcicc.*|-Xnvvm.*|-ffast-math|-ffp-contract=.*"
)
_FILES = ("--options-file", "-optf")  # files of further arguments; @FILE is equivalent
DEEPEST = 8  # nesting of argument files


class Flags(Record):
    """The flags that a source is built with.

    include: absolute folders, in order; std: None if not specified; undefines: macros that are not to be defined;
    headers: included before the source; code: options of NVRTC and nvcc that change the code; ptxas: those of ptxas;
    ignored: options that may change the code, and are not passed on.
    """

    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str | None = None
    undefines: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    code: tuple[str, ...] = ()
    ptxas: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def read_commands(path: str | os.PathLike[str]) -> dict[str, Flags]:
    """The flags of each CUDA source, by its real path. Raises InputError for a file of another kind."""
    name = os.fspath(path)
    try:
        entries = json.loads(files.read_bytes(path, limits.DOCUMENT))
    except OSError as error:
        raise InputError(f"cannot read the compile commands: {error.strerror}", HINT, name) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            "this is not complete JSON", HINT, name, getattr(error, "lineno", None), getattr(error, "colno", None)
        ) from None
    if not isinstance(entries, list):
        raise InputError("this is not a list of compile commands", HINT, name)
    return dict(_entry(entry, at, name) for at, entry in enumerate(entries) if _is_cuda(entry))


def _is_cuda(entry: Any) -> bool:
    """Whether the entry is for a CUDA source, or does not show its source."""
    file = entry.get("file") if isinstance(entry, dict) else None
    return not isinstance(file, str) or Path(file).suffix in CUDA_SUFFIXES


def _entry(entry: Any, at: int, name: str) -> tuple[str, Flags]:
    try:
        directory, file = _text(entry, "directory"), _text(entry, "file")
        words = _words(entry) if "arguments" in entry else shlex.split(_text(entry, "command"))
        path = os.path.realpath(os.path.join(directory, file))
    except (KeyError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else f"cannot be read: {error}"
        raise InputError(f"entry {at} of the compile commands {what}", HINT, name) from None
    return path, flags_of(words, directory)


def _text(entry: Any, key: str) -> str:
    text = entry[key]
    if not isinstance(text, str):
        raise ValueError(f"{key} is no string")
    return text


def _words(entry: Any) -> list[str]:
    words = entry["arguments"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("arguments is no list of strings")
    return words


def flags_of(words: list[str], directory: str = ".") -> Flags:
    """The flags in a compiler's arguments; folders are relative to `directory`."""
    words = list(_expanded(words, directory, Account(limits.ARGUMENTS.most)))
    include = tuple(
        os.path.normpath(os.path.join(directory, folder))
        for given in _values(words, _FOLDERS)
        for folder in given.split(",")
    )
    standards = list(_values(words, _STANDARDS))
    std = standards[-1].replace("gnu++", "c++") if standards else None
    defines, undefines = _macros(words)
    headers = tuple(_header(name, directory) for name in _values(words, _HEADERS))
    code, ignored = _code(words)
    for_ptxas = [option for value in _values(words, _FOR_PTXAS) for option in value.split(",")]
    ptxas = tuple(option for option in for_ptxas if _PTXAS.fullmatch(option))
    ignored += tuple(f"-Xptxas {o}" for o in for_ptxas if o and o not in ptxas and not _SILENT.fullmatch(o))
    return Flags(include, defines, std, undefines, headers, code, ptxas, ignored)


def _macros(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The macros that are defined after all definitions and their cancellations, in order, and those that are not."""
    defines: list[str] = []
    undefines: list[str] = []
    for option, value in _given(words, _MACROS + _NO_MACROS):
        name = macro_name(value)
        if option in _MACROS:
            defines.append(value)
            undefines = [other for other in undefines if other != name]
        else:
            defines = [other for other in defines if macro_name(other) != name]
            undefines.append(name)
    return tuple(defines), tuple(dict.fromkeys(undefines))


def macro_name(define: str) -> str:
    """`N` of `N`, `N=4` and `N(x)=x`."""
    return re.split(r"[=(]", define, maxsplit=1)[0].strip()


def _header(name: str, directory: str) -> str:
    """A header that is included first: in the folder of the build, or wherever the compiler finds it."""
    path = os.path.normpath(os.path.join(directory, name))
    return path if os.path.isfile(path) else name


def _code(words: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(options that change the code, others that may and are not known to all compilers)."""
    code: dict[str, str] = {}
    ignored: list[str] = []
    following = iter(words)
    for word in following:
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-"):
            continue
        if name in _SWITCHES and value in ("", "true", "false"):
            code[name] = _SWITCHES[name] if value != "false" else ""
        elif name in _VALUED:
            value = value if equals else next(following, "")
            code[name] = f"--{name}={value}" if _VALUE.fullmatch(value) else ""
            ignored += [] if code[name] else [f"{word} {value}"]
        elif _OTHERS.fullmatch(word):
            ignored.append(word)
    return tuple(dict.fromkeys(filter(None, code.values()))), tuple(ignored)


def _expanded(words: list[str], directory: str, account: Account, depth: int = 0) -> Iterator[str]:
    """The arguments, with argument files replaced by their content. Raises InputError if one cannot be read."""
    following = iter(words)
    for word in following:
        _take(account, directory)
        name = next((option for option in _FILES if word == option or word.startswith(option + "=")), None)
        if name is None and not (word.startswith("@") and len(word) > 1):
            yield word
            continue
        given = word[1:] if name is None else word[len(name) + 1 :] or next(following, "")
        for part in filter(None, given.split(",")):
            file = os.path.join(directory, part)
            try:
                inside = shlex.split(files.read_bytes(file, limits.SETTINGS, regular=True).decode("utf-8"))
            except (OSError, ValueError) as error:
                raise InputError(
                    f"cannot read the compiler's arguments in it: {error}",
                    "configure the build again to write it",
                    file,
                ) from None
            if depth == DEEPEST:
                raise InputError("argument files include each other endlessly", "configure the build again", file)
            yield from _expanded(inside, directory, account, depth + 1)


def _take(account: Account, directory: str) -> None:
    try:
        account.spend(1, "the arguments")
    except Exhausted:
        raise limits.ARGUMENTS.passed("the compiler's argument files include each other too often", directory) from None


def _values(words: list[str], options: tuple[str, ...]) -> Iterator[str]:
    """The values of some options, in order."""
    return (value for _, value in _given(words, options))


def _given(words: list[str], options: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """(option, value) of some options, written `-Ix`, `-I x`, `-isystem=x`; in order."""
    following = iter(words)
    for word in following:
        for option in options:
            if word == option:
                yield option, next(following, "")
            elif word.startswith(option + "="):
                yield option, word[len(option) + 1 :]
            elif len(option) == 2 and word.startswith(option):
                yield option, word[2:]
            else:
                continue
            break
