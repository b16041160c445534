"""Archives of measured data, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path


def unpack(archive: Path, folder: Path) -> None:
    """Puts what an archive holds into a folder, and nothing outside of it where Python can see to that (from 3.11.4)."""
    with tarfile.open(archive) as opened:
        opened.extraction_filter = getattr(tarfile, "data_filter", None)
        opened.extractall(folder)
