"""The addresses of generated kernels from compiled C, the interpreter twin, and (their counts) the engine.

tests/data/c_addresses.json.gz has the addresses from C; where a C compiler is available it runs again, on other
kernels too.
"""

from __future__ import annotations

import pytest
from twin import c_side, c_table, compare, generate

TABLE = c_table.read()
needs_compiler = pytest.mark.skipif(
    c_side.COMPILER is None, reason="no C compiler (cc, gcc or clang) is installed; the table of its results is checked"
)


def test_interpreter_addresses_equal_those_of_compiled_c():
    for kernel, places, addresses in TABLE:
        requests = c_table.machine(kernel, places).run()
        assert c_side.of_requests(requests, kernel.grid, kernel.block) == addresses, f"seed {kernel.seed}"


def test_engine_counts_agree_with_compiled_c():
    verdict = compare.Verdict()
    for kernel, _, _ in TABLE:
        compare.told(kernel, verdict)
    assert not verdict.wrong, "\n".join(verdict.wrong)
    assert verdict.exact > 0.8 * verdict.sites, verdict.others


@needs_compiler
def test_committed_addresses_equal_those_of_compiled_c(tmp_path):
    for kernel, places, addresses in TABLE[::4]:
        folder = tmp_path / str(kernel.seed)
        folder.mkdir()
        assert c_side.addresses(c_table.machine(kernel, places), folder, kernel.grid, kernel.block) == addresses, (
            f"seed {kernel.seed}"
        )


@needs_compiler
@pytest.mark.parametrize("straight", [True, False], ids=["expressions", "control-flow"])
def test_addresses_of_new_kernels_equal_those_of_compiled_c(tmp_path, straight):
    for seed in range(500, 506):
        kernel = generate.kernel(seed, straight=straight, lonely=True, small=True)
        folder = tmp_path / str(seed)
        folder.mkdir()
        twin = c_table.machine(kernel)
        assert c_side.of_requests(twin.run(), kernel.grid, kernel.block) == c_side.addresses(
            twin, folder, kernel.grid, kernel.block
        ), f"seed {seed}"
