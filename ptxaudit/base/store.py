"""A key-value store in a SQLite file that evicts the least recently used values.

Values are bytes, never code to execute.

    store = Store(folder / "results.db", most=1 << 30)
    store.put("k", b"…");  store.get("k") -> b"…";  store.get("other") -> None

Every value is compressed; one that does not decompress completely counts as damaged.
"""

from __future__ import annotations

import sqlite3
import time
import zlib
from pathlib import Path

WAIT = 5.0  # seconds to wait for another process that writes
LEVEL = 1  # of zlib: results are repetitive text
FRESH = 86_400  # seconds; a use within them of the last recorded one is not recorded
LAYOUT = 1  # of the table; a file with another layout is emptied
SHARE = 10  # a full file evicts one value of this many
_PRAGMAS = ("journal_mode=WAL", "synchronous=OFF", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0")


class Store:
    """The values in a file. Raises sqlite3.Error if it is not a database, or cannot be written."""

    def __init__(self, file: Path, most: int) -> None:
        self._most = most
        self._rows = sqlite3.connect(file, timeout=WAIT, isolation_level=None, check_same_thread=False)
        for pragma in _PRAGMAS:
            self._rows.execute(f"PRAGMA {pragma}")
        if self._pragma("user_version") != LAYOUT:
            self._lay_out()

    def _lay_out(self) -> None:
        """Creates an empty table, unless another process already has."""
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
        """The value of a key, or None. Raises sqlite3.Error or zlib.error for a damaged file."""
        row = self._rows.execute("SELECT value, used FROM kept WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value, used = row
        now = int(time.time())
        if now - used > FRESH:
            self._rows.execute("UPDATE kept SET used = ? WHERE key = ?", (now, key))
        return _unpacked(value, self._most)

    def put(self, key: str, value: bytes) -> None:
        """Stores a value, replacing that of the same key."""
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
        """The bytes in use."""
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
