"""One process of an audit with `--jobs`: reads pieces from stdin and writes results to stdout, by the protocol of
`pool`.

It is run as a file, so that nothing is imported before the first message sets the import path.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import sys
import threading
import time
from typing import Any

LENGTH = struct.Struct("<Q")


def read(stream: Any) -> Any:
    """The next message; None at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    return pickle.loads(stream.read(*LENGTH.unpack(head)))


def end_with_parent() -> None:
    """Ends this process when its parent ends, as nobody then needs the answer."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # from a terminal: the parent ends this process
    threading.Thread(target=end_with_parent, daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not mix with answers
    asked = sys.stdin.buffer
    sys.path[:] = read(asked)
    folder, options = read(asked)

    from msgspec.structs import replace

    from ptxaudit.base import temporary
    from ptxaudit.base.quiet import collect_seldom
    from ptxaudit.review.kept_parts import audit_part

    temporary.share(folder)
    collect_seldom()
    while (piece := read(asked)) is not None:
        try:
            answer: Any = audit_part(piece.files, replace(options, share=piece.share))
        except Exception as error:
            answer = error
        data = pickle.dumps(answer)
        answers.write(LENGTH.pack(len(data)))
        answers.write(data)
        answers.flush()


if __name__ == "__main__":
    main()
