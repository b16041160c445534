"""Records the kernels that this process compiles and launches within a `with` block.

    with ptxaudit.watch() as w:
        kernel[grid](x, y, n)
    w.launches        [Launch("kernel", grid=(64, 1, 1), block=(128, 1, 1), …, count=1)]
    w.audit()         the report

Frameworks are hooked at once if they are imported already, otherwise on import, and restored afterwards. Code that
they compiled before is recorded when it is launched.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from ptxaudit.base import temporary
from ptxaudit.base.errors import InputError
from ptxaudit.ui.recording.inside.session import Session

if TYPE_CHECKING:
    from ptxaudit.frontend.launch.launch import Launch
    from ptxaudit.report.model import Report
    from ptxaudit.ui.recording.finish import Recording


def watch(folder: str | os.PathLike[str] | None = None, *, arrays: int = 0, launches: int = 32) -> Watch:
    """A context in which kernels are recorded.

    folder: where the recording is kept, for `ptxaudit audit`; None: deleted when this process ends.
    arrays: copies arrays of up to this size, in bytes, from the device before a launch; 0 for none.
    launches: distinct launches to keep per kernel; others are only counted.

    Raises InputError if the folder cannot be written or contains something else.
    """
    return Watch(folder, arrays, launches)


class Watch:
    """The recording of one `with` block. recording: the result, None until the block has ended."""

    def __init__(self, folder: str | os.PathLike[str] | None, arrays: int, launches: int) -> None:
        for name, value, least in (("arrays", arrays, 0), ("launches", launches, 1)):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name} is {value!r}; it is a number, {least} or more")
        self._arrays, self._most = arrays, launches
        self._folder = None if folder is None else os.fspath(folder)
        self._raw = ""
        self._session: Session | None = None
        self.recording: Recording | None = None

    def __enter__(self) -> Watch:
        from ptxaudit.ui.recording.finish import prepared

        if self._session is not None:
            raise InputError("this recording has already started", "start another: with ptxaudit.watch()")
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="recording-", dir=temporary.root())
        self._raw = prepared(self._folder)
        self._session = Session(self._raw, self._arrays, self._most)
        self._session.open()
        return self

    def __exit__(self, *error: object) -> None:
        from ptxaudit.ui.recording.finish import finish

        if self._session is not None:
            self._session.close()
            self.recording = finish(self._raw, self.folder)

    @property
    def folder(self) -> str:
        """The folder of the recording."""
        if self._folder is None:
            raise InputError("nothing is recorded yet", "begin with: with ptxaudit.watch() as w")
        return self._folder

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing that could not be recorded."""
        return self._finished().notes

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The distinct launches, each with the path of its code and its count."""
        from ptxaudit.frontend.launch.launch_file import read_launches
        from ptxaudit.frontend.recorded.folder import LAUNCH_FILE

        if not self._finished().launches:
            return ()
        return tuple(read_launches(os.path.join(self.folder, LAUNCH_FILE)))

    def audit(self, **options: Any) -> Report:
        """The report of the recording; options as for `ptxaudit.audit`. Raises InputError if nothing was recorded."""
        from ptxaudit.review.audit import audit

        self._finished()
        return audit(self.folder, **options)

    def _finished(self) -> Recording:
        if self.recording is None:
            raise InputError("this recording has not finished", "access it after the `with` block")
        return self.recording
