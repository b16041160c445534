"""Values that lanes of one warp hand to each other through shared memory: known where code or barriers order the store and
the load, unknown where only the hardware's choice among diverged lanes does.
"""

from __future__ import annotations

import numpy as np

import ptxaudit

BLOCKS = 3
HEAD = (
    'extern "C" __global__ void k{}(float* out, const int* in, const int* open)'
    " {{ __shared__ float s[8192]; __shared__ volatile int t[64]; int x = threadIdx.x, l = x & 31, a = 1;"
    " volatile int* mine = t + (x & 32); if (x < 64) t[x] = 0; __syncthreads();"
)
USE = "out[x] = s[(l * a) % 8192]; }"
# a is the stride in words: a power of two up to 32 causes an a-way conflict; each case has 64 threads
BY_SYNCWARP = {
    "by an atomic operation": ("if (l == 1) atomicAdd((int*)&mine[0], 8); __syncwarp(); a = mine[0];", 8),
    "one lane after another": (
        "for (int i = 0; i < 4; i++) { __syncwarp(); if (l == i * 3) mine[0] = i + 1; __syncwarp(); a = mine[0]; }",
        4,
    ),
    "each of the lanes adds": (
        "for (int i = 0; i < 8; i++) { __syncwarp(); if (l == (i * 5 & 31)) mine[0] = mine[0] + 1; } __syncwarp();"
        " a = mine[0];",
        8,
    ),
    "halves by their masks": (
        "if (l < 16) { mine[l] = l; __syncwarp(0xffff); a = mine[15 - l] == 15 - l ? 8 : 1; }"
        " else { mine[l] = l; __syncwarp(0xffff0000); a = mine[47 - l] == 47 - l ? 8 : 1; } __syncwarp();",
        8,
    ),
    "a chain of masks that overlap": (
        "if (l == 0) mine[0] = 16; if (l < 8) __syncwarp(0xff); if (l >= 7 && l < 20) __syncwarp(0xfff80);"
        " if (l >= 19) __syncwarp(0xfff80000); a = l >= 19 ? mine[0] : 16; __syncwarp();",
        16,
    ),
}
BY_CODE = {
    "before lanes part": ("if (l < 6) mine[0] = 8; if (l > 20) a = mine[0]; else a = 8;", 8),
    "before a lane ends": (
        "if (l == 5) mine[1] = 8; int b = __shfl_sync(~0u, in[l], 3); if (l == 5) return; a = mine[1] + b - 3;",
        8,
    ),
    "over two places where lanes come together": (
        "if (l == 2) mine[9] = in[5] > 3 ? 2 : 1; if (l > 1 && l < 9) mine[9] = mine[9] * 2; if (l > 7) a = mine[9];"
        " else a = 4;",
        4,
    ),
}
UNKNOWN = {
    "of the other half, which runs when it likes": (
        "if (l < 16) { mine[0] = 4; a = 4; } else { if (in[l] > 3) mine[1] = 3; a = mine[0]; }"
    ),
    "of a lane that has ended since": "if (l == 5) { mine[0] = 8; if (in[x] > 2) mine[2] = 1; return; } a = mine[0];",
    "of another warp": "if (x == 3) t[0] = 4; __syncwarp(); a = t[0];",
    "of a lane in another mask": (
        "if (l < 16) { if (l == 2) mine[3] = 4; __syncwarp(0xffff); } else { __syncwarp(0xffff0000);"
        " if (in[l] > 3) mine[1] = 3; a = mine[3]; }"
    ),
    "that is overwritten by the other half": (
        "if (l == 1) mine[0] = 8; __syncwarp(); if (l < 16) { for (int i = 0; i < in[l]; i++) mine[1] = i;"
        " mine[0] = 2; a = 2; }"
        " else { a = mine[0]; }"
    ),
    "by a copy that may arrive later": (
        'if (l == 1) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared('
        '(void*)&mine[0])), "l"(in + 8)); __syncwarp(); a = mine[0];'
    ),
    "that lanes of an unknown mask wait for": (
        "unsigned m = open[l]; if (m >> l & 1) { if (l == 1) mine[0] = 8; __syncwarp(m); a = mine[0]; }"
    ),
}


def audited(tmp_path, bodies: dict[str, str], isa: str) -> dict[tuple[str, str], object]:
    """(case, isa) -> the access whose stride is handed over."""
    path = tmp_path / "k.cu"
    path.write_text("\n".join(f"{HEAD.format(at)}\n{body}\n{USE}" for at, body in enumerate(bodies.values())))
    given = [np.zeros(4096, np.float32), np.arange(4096, dtype=np.int32), None]
    launches = [ptxaudit.Launch(f"k{at}", grid=BLOCKS, block=64, params=given) for at in range(len(bodies))]
    report = ptxaudit.audit(path, arch="sm_90", isa=isa, launches=launches)
    names = list(bodies)
    return {
        (names[int(kernel.name[1:])], str(kernel.isa)): max(
            (site for site in kernel.sites if "ld" in site.opcode.lower()), key=lambda site: site.source.line
        )
        for kernel in report.kernels
    }


def test_values_passed_between_lanes_across_syncwarp_are_exact(tmp_path):
    for key, site in audited(tmp_path, {name: body for name, (body, _) in BY_SYNCWARP.items()}, "both").items():
        assert str(site.status) == "exact", (key, site.reason)
        assert (site.requests, site.wavefronts) == (2 * BLOCKS, 2 * BLOCKS * BY_SYNCWARP[key[0]][1]), key


def test_values_passed_between_converged_lanes_are_exact_in_machine_code(tmp_path):
    """In PTX, nothing orders them."""
    for key, site in audited(tmp_path, {name: body for name, (body, _) in BY_CODE.items()}, "both").items():
        name, isa = key
        if isa == "ptx":
            assert str(site.status) != "exact", key
            continue
        assert str(site.status) == "exact", (key, site.reason)
        assert site.requests == 2 * BLOCKS, key
        assert site.wavefronts == 2 * BLOCKS * BY_CODE[name][1], (key, site.wavefronts)


def test_values_passed_between_unordered_lanes_are_not_exact(tmp_path):
    for key, site in audited(tmp_path, UNKNOWN, "both").items():
        assert str(site.status) not in ("exact", "invariant"), (key, site.wavefronts)
