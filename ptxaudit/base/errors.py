"""The one exception for bad input: which file, where in it, what is wrong, what to do.

Errors are values until the edge. Library code raises :class:`InputError`; the pipeline
collects it as a *problem* of the report; the command line prints it and exits with status 2.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(eq=False)
class InputError(Exception):
    """Something the user gave cannot be used.

    what: one sentence without a full stop, what is wrong.
    hint: one sentence, what to do about it ("" where there is nothing to advise).
    file, line, column: where (1-based; None where there is no such place).
    detail: several lines to show as they are (a compiler's log), or "".
    setting: the name of the setting that it is about, for who knows where that was made; or "".
    lasting: it follows from what is in the file, and from the programs that there are: it is the same next time.
    images: names of all images of the file that it is about, where they are several.
    """

    what: str
    hint: str = ""
    file: str | None = None
    line: int | None = None
    column: int | None = None
    detail: str = ""
    setting: str = ""
    lasting: bool = False
    images: tuple[str, ...] = ()

    def place(self) -> str:
        parts = [self.file or ""]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)

    def __str__(self) -> str:
        place = self.place()
        text = f"{place}: {self.what}" if place else self.what
        if self.hint:
            text += f" — {self.hint}"
        return text

    def in_file(self, file: str) -> InputError:
        """The same error with the file filled in where it was not known yet."""
        if self.file is None:
            self.file = file
        return self
