"""A file of values by their keys, the least recently used going first: SQLite, and bytes that nothing executes.

    store = Store(folder / "results.db", most=1 << 30)
    store.put("k", b"…");  store.get("k") -> b"…";  store.get("other") -> None

Every value is compressed, and what does not unpack whole is as good as nothing.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from pathlib import Path

WAIT = 5.0  # seconds for another process that writes
LEVEL = 1  # of zlib: results are text that repeats itself
FRESH = 86_400  # seconds in which a use is not noted again
LAYOUT = 1  # of the table; a file of another one is emptied
SHARE = 10  # of so many values one goes, when the file is full
_PRAGMAS = ("journal_mode=WAL", "synchronous=OFF", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0")


class Store:
    """The values in a file. Raises sqlite3.Error where it is none, or cannot be written."""

    def __init__(self, file: Path, most: int) -> None:
        self._most = most
        self._rows = sqlite3.connect(file, timeout=WAIT, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            self._rows.execute(f"PRAGMA {pragma}")
        if self._pragma("user_version") != LAYOUT:
            self._lay_out()

    def _lay_out(self) -> None:
        """An empty table, unless another process was quicker."""
        self._rows.execute("BEGIN IMMEDIATE")
        if self._pragma("user_version") != LAYOUT:
            for statement in (
                "DROP TABLE IF EXISTS kept",
                "CREATE TABLE kept (key TEXT PRIMARY KEY, used INTEGER, value BLOB)",
                "CREATE INDEX kept_used ON kept (used)",
                f"PRAGMA user_version={LAYOUT}",
            ):
                self._rows.execute(statement)
        self._rows.execute("COMMIT")

    def get(self, key: str) -> bytes | None:
        """The value of a key. Raises sqlite3.Error or zlib.error for a damaged file."""
        row = self._rows.execute("SELECT value, used FROM kept WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value, used = row
        now = int(time.time())
        if now - used > FRESH:
            self._rows.execute("UPDATE kept SET used = ? WHERE key = ?", (now, key))
        return _unpacked(value, self._most)

    def put(self, key: str, value: bytes) -> None:
        """Keeps a value, in place of the one that is there."""
        packed = zlib.compress(value, LEVEL)
        if self._size() + len(packed) > self._most:
            self._rows.execute(
                "DELETE FROM kept WHERE key IN (SELECT key FROM kept ORDER BY used LIMIT 1 + (SELECT COUNT(*) FROM"
                f" kept) / {SHARE})"
            )
        self._rows.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (key, int(time.time()), packed))

    def close(self) -> None:
        self._rows.close()

    def _size(self) -> int:
        """Bytes that are in use."""
        return (self._pragma("page_count") - self._pragma("freelist_count")) * self._pragma("page_size")

    def _pragma(self, name: str) -> int:
        value: int = self._rows.execute(f"PRAGMA {name}").fetchone()[0]
        return value


def _unpacked(value: bytes, most: int) -> bytes:
    unpack = zlib.decompressobj()
    out = unpack.decompress(value, most)
    if not unpack.eof:
        raise zlib.error("it is not whole")
    return out
