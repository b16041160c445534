"""A copy of a source tree with some files changed: real files for these, links for everything else.

shadowed({"/p/inc/tile.h": "…"}, ["/p/src/k.cu"], options)    /tmp/…/p/inc/tile.h   the changed text
                                                              /tmp/…/p/src/k.cu     a copy, so that its includes are
                                                                                    looked up beside it
                                                              /tmp/…/p/…            links to the rest
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec.structs import replace

from ptxaudit.frontend.options import Options


@contextmanager
def shadowed(texts: Mapping[str, str], inputs: Sequence[str], options: Options) -> Iterator[tuple[list[str], Options]]:
    """(the inputs, the options) in a tree with these texts in place of the files. inputs: files. Raises OSError."""
    real = {Path(os.path.realpath(file)): text for file, text in texts.items()}
    copied = {Path(os.path.realpath(file)) for file in inputs}
    top = Path(os.path.commonpath([path.parent for path in (*real, *copied)]))
    with tempfile.TemporaryDirectory(prefix="ptxaudit-") as folder:
        root = Path(folder).resolve()
        places = {root / file.relative_to(top): file for file in {*real, *copied}}
        _make(root, top, places)
        for place, file in places.items():
            place.unlink(missing_ok=True)
            if file in real:
                place.write_bytes(real[file].encode())
            else:
                shutil.copyfile(file, place)

        def moved(path: str) -> str:
            there = Path(os.path.realpath(path))
            return str(root / there.relative_to(top)) if there.is_relative_to(top) else path

        commands = {
            moved(file): replace(
                flags,
                include=tuple(map(moved, flags.include)),
                headers=tuple([moved(header) if os.path.isabs(header) else header for header in flags.headers]),
            )
            for file, flags in options.commands.items()
        }
        yield (
            [moved(file) for file in inputs],
            replace(options, include=tuple(map(moved, options.include)), commands=commands),
        )


def _make(root: Path, top: Path, places: Mapping[Path, Path]) -> None:
    """Creates the folders on the way to the files, with links to everything else in them."""
    folders = {root, *(parent for place in places for parent in place.parents if parent.is_relative_to(root))}
    for folder in sorted(folders):
        folder.mkdir(exist_ok=True)
        for entry in os.scandir(top / folder.relative_to(root)):
            link = folder / entry.name
            if link not in folders and not link.exists():
                link.symlink_to(entry.path)
