"""Randomly damaged PTX and launch files: each is audited or rejected with a message; none causes a fault or a hang."""

import random
import re

import pytest
from kernels import COLUMN, PITCH

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile.nvrtc import compile_source
from ptxaudit.frontend.launch.launch_file import read_launches

LAUNCH = ptxaudit.Launch("*", grid=2, block=(32, 4))
CASES = 60
WORD = re.compile(r"[%\w.$]+")
TOML = (
    '[[launch]]\nkernel = "*"\ngrid = [2, 1]\nblock = [32, 4]\ndynamic_shared = 16\nparams = ["?", {values = [1, 2],'
    ' type = "i32"}, 3]\n'
)
PIECES = [
    ",",
    '"',
    "[",
    "]",
    "{",
    "}",
    "-1",
    "1e9",
    '"?"',
    "true",
    "99999999999999999999999",
    "nan",
    "x = 1\n",
    "\n",
    ",,",
    '{file = "x"}',
    "[1, 2]",
]


@pytest.fixture(scope="module")
def texts():
    return [compile_source(source, name="k.cu").ptx for source in (COLUMN, PITCH)]


def damaged(text, rng):
    """The text after one mutation: truncated, a piece removed, a word replaced, a number too large, lines swapped."""
    place = rng.randrange(len(text))
    lines = text.split("\n")
    first, second = rng.randrange(len(lines)), rng.randrange(len(lines))
    words = list(WORD.finditer(text))
    one, other = rng.choice(words), rng.choice(words)
    swapped = list(lines)
    swapped[first], swapped[second] = swapped[second], swapped[first]
    return rng.choice(
        [
            text[:place],
            text[:place] + text[place + rng.randrange(1, 30) :],
            text[: one.start()] + other[0] + text[one.end() :],
            text[: one.start()] + str(rng.choice([0, 2**31, 2**32, 2**70])) + text[one.end() :],
            "\n".join(swapped),
        ]
    )


@pytest.mark.parametrize("seed", range(CASES))
def test_damaged_ptx_causes_no_fault(texts, seed):
    rng = random.Random(seed)
    text = damaged(rng.choice(texts), rng) + "\n"
    report = ptxaudit.audit(text, launches=rng.choice([(), (LAUNCH,)]), budget=5)
    for problem in report.problems:
        assert "failed here" not in problem.what, problem
        assert problem.what and problem.file == "<string>"


@pytest.mark.parametrize("seed", range(CASES))
def test_damaged_launch_file_causes_no_fault(tmp_path, seed):
    rng = random.Random(seed)
    place = rng.randrange(len(TOML))
    (tmp_path / "l.toml").write_text(TOML[:place] + rng.choice(PIECES) + TOML[place + rng.randrange(6) :])
    try:
        launches = read_launches(tmp_path / "l.toml")
    except InputError as error:
        assert error.file == str(tmp_path / "l.toml") and error.what
    else:
        assert all(isinstance(launch, ptxaudit.Launch) for launch in launches)
