"""Matrices that warps store to shared memory and load from it: their contents, as the twin has them.

In the kernels of `read_back`, each lane addresses row `tid` of the table, of 16 bytes.
"""

from __future__ import annotations

import numpy as np
import pytest
from read_back import HEAD, TURNS, USE, told
from twin import compare

import ptxaudit
from ptxaudit.engine.answer.result import Status
from ptxaudit.engine.memory import matrices
from ptxaudit.frontend.compile.ptxas import assemble
from ptxaudit.frontend.launch.launch import Launch

ROWS = "mad.lo.u32 %r40, %r1, 16, %r2; mad.lo.u32 %r41, %r13, 16, %r2;\nmul.lo.u32 %r42, %r1, 0x30007; xor.b32 %r43, %r42, %r13;\n"
FORMS = [(n, trans) for n in (1, 2, 4) for trans in ("", ".trans")]


def form(n: int, trans: str) -> str:
    return f"sync.aligned.m8n8.x{n}{trans}.shared.b16"


def stored(n: int, trans: str, where: str = "%r40") -> str:
    return f"stmatrix.{form(n, trans)} [{where}], {{{', '.join(('%r42', '%r43', '%r1', '%r13')[:n])}}};\n"


def loaded(n: int, trans: str, where: str = "%r41") -> str:
    registers = [f"%r{k}" for k in range(30, 30 + n)]
    summed = "".join(f"add.u32 %r20, %r20, {r};\n" for r in registers)
    return f"ldmatrix.{form(n, trans)} {{{', '.join(registers)}}}, [{where}];\nmov.u32 %r20, %r1;\n{summed}{SMALL}"


SMALL = "shr.u32 %r39, %r20, 16; add.u32 %r20, %r20, %r39; and.b32 %r20, %r20, 1023;\n"
FILL = "st.shared.v4.u32 [%r40], {%r42, %r43, %r1, %r13};\nbar.sync 0;\n"
PAIRS = "and.b32 %r51, %r1, 30; mov.b32 %r50, 3; shl.b32 %r50, %r50, %r51; bar.warp.sync %r50;\n"
WORD = "and.b32 %r44, %r1, 7; mad.lo.u32 %r44, %r44, 16, %r2; ld.shared.u32 %r20, [%r44+4];\n"


@pytest.mark.parametrize("n, trans", FORMS)
def test_stmatrix_rows_are_known(n, trans):
    for body in (
        stored(n, trans) + "bar.sync 0;\n" + WORD + SMALL,
        FILL + stored(n, trans, "%r41") + "bar.sync 0;\n" + WORD + SMALL,
    ):
        exact(ROWS + body)


@pytest.mark.parametrize("n, trans", FORMS)
def test_ldmatrix_registers_are_known(n, trans):
    exact(ROWS + FILL + loaded(n, trans))


@pytest.mark.parametrize("n, trans", FORMS)
def test_ldmatrix_reads_what_stmatrix_stored(n, trans):
    exact(ROWS + FILL + stored(n, trans) + "bar.sync 0;\n" + loaded(4, "", "%r40"))
    exact(ROWS + FILL + stored(n, trans) + "bar.warp.sync -1;\n" + loaded(n, trans, "%r40"))


def exact(body: str) -> None:
    for turn in TURNS:
        verdict, last = told(body, turn)
        assert not verdict.wrong, verdict.wrong
        assert last.status is Status.EXACT, last
    text = (HEAD + body + USE).replace("ld.shared", "ld.volatile.shared")
    launch = Launch("k", grid=1, block=64, params=[9, None])
    of_machine = ptxaudit.audit(assemble(text, "sm_90").cubin, launches=[launch]).sites[-1]
    assert (of_machine.status, of_machine.wavefronts) == ("exact", last.wavefronts)


OPEN = {
    "without a barrier": ROWS + FILL + stored(4, "") + loaded(4, "", "%r40"),
    "a word of the own row": ROWS + FILL + stored(4, "") + "ld.shared.u32 %r20, [%r40];\n" + SMALL,
    "a word of the own row behind a barrier of pairs": (
        f"{ROWS}{FILL}{stored(4, '')}{PAIRS}ld.shared.u32 %r20, [%r40];\n{SMALL}"
    ),
    "the same, of a row that each lane has written, too": (
        f"{ROWS}{FILL}st.shared.u32 [%r40], 0;\n{stored(4, '')}{PAIRS}ld.shared.u32 %r20, [%r40];\n{SMALL}"
    ),
    "a load before a barrier of pairs": f"{ROWS}{FILL}{loaded(4, '', '%r40')}{PAIRS}st.shared.u32 [%r40], 0;\n",
    "overwritten by another warp": ROWS + FILL + stored(4, "") + stored(4, "", "%r41") + "bar.sync 0;\n" + WORD + SMALL,
    "overwritten after the load": ROWS + FILL + loaded(4, "", "%r40") + "st.shared.u32 [%r40], 0;\n",
    "an unknown register": ROWS
    + FILL
    + "ld.global.u32 %r42, [%rd1];\n"
    + stored(4, "")
    + "bar.sync 0;\n"
    + WORD
    + SMALL,
    "rows that no one wrote": ROWS + stored(1, "") + "bar.sync 0;\n" + loaded(2, "", "%r40"),
    "a warp with fewer lanes": (
        f"{ROWS}{FILL}setp.gt.u32 %p4, %r1, 60;\n@%p4 exit;\n{stored(4, '')}bar.sync 0;\nld.shared.u32 %r20, [%r41];\n{SMALL}"
    ),
    "a load by fewer lanes": f"{ROWS}{FILL}setp.gt.u32 %p4, %r1, 60;\n@%p4 exit;\n{loaded(4, '')}",
}


@pytest.mark.parametrize("name", OPEN)
def test_uncertain_matrices_are_not_exact(name):
    for turn in TURNS:
        verdict, last = told(OPEN[name], turn)
        assert last.status is not Status.EXACT
        assert not verdict.wrong


def test_matrix_load_inverts_matrix_store():
    rng = np.random.default_rng(3)
    for count in (1, 2, 4):
        registers = rng.integers(0, 256, (3, 32, 4 * count), dtype=np.uint8)
        for transposed in (False, True):
            rows = matrices.rows_of(registers, transposed)
            assert not rows[:, 8 * count :].any()
            assert np.array_equal(matrices.registers_of(rows, count, transposed), registers)


def test_ldmatrix_with_a_uniform_address_is_not_uniform():
    """The result of a load is not uniform, as that of an ordinary load is."""
    text = HEAD + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r20}, [%r2];" + USE
    for launch in (None, Launch("k", grid=1, block=64, params=[9, None])):
        assert compare.figures(*answered(text, launch))[-1].status not in (Status.EXACT, Status.INVARIANT)


def answered(text, launch):
    from ptxaudit.engine import evaluate as engine

    function, flow = compare.lifted(text, "k")
    return function, engine.evaluate(function, flow, launch=launch, machine=compare.MACHINE)
