"""What was measured on sm_90: how many requests of each machine instruction, the cycles of cp.async.cg, and which functions of MUFU.

The requests are those of tests/data/requests_sm90.json.gz and tests/data/calibration_sm90.json.gz; a test counts them.
ATOMS.CAST.SPIN was measured inside its loops, all passes together.
"""

from __future__ import annotations

MEASURED_ARCHS = ("sm_90", "sm_90a")
# machine instruction: requests; of LDGSTS.E.BYPASS.128 destination patterns that were timed, as no counter sees it
MEASURED = {
    "LDS": 132, "LDS.128": 181, "LDS.64": 189, "LDS.S16": 8, "LDS.S8": 8, "LDS.U16": 113, "LDS.U8": 99,
    "STS": 122, "STS.128": 149, "STS.64": 130, "STS.U16": 110, "STS.U8": 106,
    "LD.E": 20, "LD.E.128": 32, "LD.E.128.STRONG.GPU": 28, "LD.E.128.STRONG.SM": 28, "LD.E.128.STRONG.SYS": 15, "LD.E.64": 46,
    "LD.E.64.STRONG.GPU": 28, "LD.E.64.STRONG.SM": 28, "LD.E.64.STRONG.SYS": 15, "LD.E.EF": 16, "LD.E.EF.128": 28,
    "LD.E.EF.64": 28, "LD.E.LU": 16, "LD.E.LU.128": 28, "LD.E.LU.64": 28, "LD.E.NA": 16, "LD.E.NA.128": 28, "LD.E.NA.64": 28,
    "LD.E.S16": 16, "LD.E.S8": 16, "LD.E.STRONG.GPU": 16, "LD.E.STRONG.SM": 16, "LD.E.STRONG.SYS": 3, "LD.E.U16": 16,
    "LD.E.U8": 16,
    "ST.E": 4, "ST.E.128": 4, "ST.E.128.STRONG.SYS": 3, "ST.E.64": 4, "ST.E.64.STRONG.SYS": 3, "ST.E.U16": 8, "ST.E.U8": 8,
    "ATOMS.ADD": 197, "ATOMS.ADD.S32": 16, "ATOMS.AND": 16, "ATOMS.CAS": 118, "ATOMS.CAS.128": 8, "ATOMS.CAS.64": 85,
    "ATOMS.CAST.SPIN": 20, "ATOMS.CAST.SPIN.64": 40, "ATOMS.DEC": 16, "ATOMS.EXCH": 96, "ATOMS.EXCH.128": 24, "ATOMS.EXCH.64": 88,
    "ATOMS.INC": 16, "ATOMS.MAX": 16, "ATOMS.MAX.S32": 16, "ATOMS.MIN": 16, "ATOMS.MIN.S32": 16, "ATOMS.OR": 16,
    "ATOMS.POPC.INC.32": 90, "ATOMS.XOR": 16,
    "ATOM.E.ADD.S32.STRONG.GPU": 8, "ATOM.E.ADD.STRONG.GPU": 4, "ATOM.E.AND.STRONG.GPU": 8, "ATOM.E.CAS.64.STRONG.GPU": 8,
    "ATOM.E.CAS.STRONG.GPU": 4, "ATOM.E.DEC.STRONG.GPU": 8, "ATOM.E.EXCH.64.STRONG.GPU": 8, "ATOM.E.EXCH.STRONG.GPU": 8,
    "ATOM.E.INC.STRONG.GPU": 8, "ATOM.E.MAX.S32.STRONG.GPU": 8, "ATOM.E.MAX.STRONG.GPU": 8, "ATOM.E.MIN.S32.STRONG.GPU": 8,
    "ATOM.E.MIN.STRONG.GPU": 8, "ATOM.E.OR.STRONG.GPU": 8, "ATOM.E.XOR.STRONG.GPU": 8,
    "LDSM.16.M88": 105, "LDSM.16.M88.2": 98, "LDSM.16.M88.4": 93, "LDSM.16.MT88": 10, "LDSM.16.MT88.2": 10, "LDSM.16.MT88.4": 103,
    "STSM.16.M88": 93, "STSM.16.M88.2": 105, "STSM.16.M88.4": 94, "STSM.16.MT88": 10, "STSM.16.MT88.2": 10, "STSM.16.MT88.4": 10,
    "LDGSTS.E": 900, "LDGSTS.E.128": 483, "LDGSTS.E.128.ZFILL": 14, "LDGSTS.E.64": 497, "LDGSTS.E.64.ZFILL": 13,
    "LDGSTS.E.LTC128B": 24, "LDGSTS.E.LTC128B.128": 24, "LDGSTS.E.LTC128B.64": 24, "LDGSTS.E.LTC256B.128": 24,
    "LDGSTS.E.LTC64B.128": 24, "LDGSTS.E.ZFILL": 14, "LDGSTS.E.BYPASS.128": 582, "LDGSTS.E.BYPASS.128.ZFILL": 120,
    "LDGSTS.E.BYPASS.LTC128B.128": 10,
    "atom.shared.add.f32": 4, "atom.shared.add.f64": 4, "atom.shared.add.noftz.bf16": 4, "atom.shared.add.noftz.bf16x2": 4,
    "atom.shared.add.noftz.f16": 4, "atom.shared.add.noftz.f16x2": 4, "atom.shared.add.u64": 4, "atom.shared.and.b64": 4,
    "atom.shared.cas.b16": 10, "atom.shared.max.s64": 4, "atom.shared.max.u64": 4, "atom.shared.min.s64": 4,
    "atom.shared.min.u64": 4, "atom.shared.or.b64": 4, "atom.shared.xor.b64": 4,
    "red.shared.add.f32": 4, "red.shared.add.f64": 4, "red.shared.add.noftz.f16x2": 4,
}
# machine instructions of a wgmma whose charge was counted: tests/data/tensor_sm90.json.gz, and sites of the measured kernels
MEASURED_PRODUCTS = frozenset({
    "HGMMA.64x8x16.F32", "HGMMA.64x32x16.F32", "HGMMA.64x64x16.F32", "HGMMA.64x256x16.F32", "HGMMA.64x64x16.F32.BF16",
    "HGMMA.64x128x16.F32.BF16", "HGMMA.64x64x8.F32.TF32", "QGMMA.64x128x32.F32.E4M3.E4M3",
})
# cycles per request of cp.async.cg by k, 8 warps a block, the same sources again and again: k low, k high, cycles low, cycles high
LINE_CYCLES = (
    (1, 1, 7.0, 7.4), (2, 2, 9.6, 10.6), (3, 3, 12.0, 13.1), (4, 4, 14.0, 15.4),
    (5, 5, 44.9, 46.5), (6, 8, 46.6, 56.2), (9, 13, 56.6, 73.1), (16, 16, 73.0, 73.9), (32, 32, 103.1, 105.2),
)
# the same where each request reads new sources: one block or one on each multiprocessor, waiting every 8 copies or at the end
FRESH_CYCLES = (
    (1, 1, 6.7, 10.2), (2, 2, 7.1, 13.9), (3, 3, 7.7, 17.1), (4, 4, 8.9, 16.5), (5, 5, 11.0, 18.3), (6, 6, 12.3, 19.8),
    (8, 8, 11.6, 24.7), (16, 16, 17.9, 36.2), (32, 32, 34.1, 58.1),
)
# cp.async.ca beside it, for every one of the patterns: cycles a wavefront, and once a request
COPY_CYCLES = (1.08, 1.2)
# functions of MUFU whose result was measured for every input
SPECIAL_FUNCTIONS = frozenset({"rcp", "rsq", "sqrt", "ex2", "lg2", "sin", "cos", "rcp64h", "rsq64h", "ex2.f16", "ex2.bf16"})
