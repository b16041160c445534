"""Where machine code finds the values of a launch: special registers, and the driver's part of constant bank 0.

    special_register("SR_TID.X")       "tid.x"
    driver_constant(90, 0x4)           "ntid.y"         c[0x0][0x4] of sm_90
    driver_constant(100, 0x364)        "ntid.y"         c[0x0][0x364] of sm_100

None of this is documented. Each entry was read from the code that ptxas of CUDA 13 generates for a PTX kernel that
stores that special register (test_places.py repeats this). A name that is not a PTX special register stands for
a value that is the same in all threads of a launch and known only to the driver.
"""

from __future__ import annotations

_DIMENSIONS = "xyz"
_WORD = 4  # bytes


def _three(first: int, name: str) -> dict[int, str]:
    return {first + _WORD * i: f"{name}.{d}" for i, d in enumerate(_DIMENSIONS)}


_VOLTA = {
    **_three(0x00, "ntid"),
    **_three(0x0C, "nctaid"),
    0x18: "shared_window_lo",
    0x1C: "shared_window_hi",
    0x20: "local_window_lo",
    0x24: "local_window_hi",
    0x28: "stack",
    0x2C: "dynamic_smem_size",
    0x30: "gridid_lo",
    0x34: "gridid_hi",
    0x10C: "nsmid",
    0x114: "reserved_smem_size",
    0x118: "descriptor_lo",
    0x11C: "descriptor_hi",
}
_HOPPER = {
    **_three(0x00, "ntid"),
    **_three(0x0C, "nctaid"),
    0x20: "local_window_lo",
    0x24: "local_window_hi",
    0x28: "stack",
    0x2C: "dynamic_smem_size",
    0x30: "gridid_lo",
    0x34: "gridid_hi",
    0x10C: "nsmid",
    0x114: "reserved_smem_size",
    0x140: "cluster_launch_kind",
    **_three(0x144, "cluster_nctaid"),
    **_three(0x150, "cluster_nctaid_reciprocal"),
    **_three(0x15C, "nclusterid"),
    0x188: "cluster_nctarank",
    0x198: "param_window_lo",
    0x19C: "param_window_hi",
    0x208: "descriptor_lo",
    0x20C: "descriptor_hi",
}
_BLACKWELL = {
    0x140: "gridid_lo",
    0x144: "gridid_hi",
    0x16C: "reserved_smem_size",
    **_three(0x2A0, "cluster_nctaid"),
    0x2AC: "dynamic_smem_size",
    **_three(0x2B0, "cluster_nctaid_reciprocal"),
    **_three(0x2C0, "nclusterid"),
    0x2CC: "cluster_nctarank",
    0x2D0: "nsmid",
    0x2F8: "local_window_lo",
    0x2FC: "local_window_hi",
    0x348: "param_window_lo",
    0x34C: "param_window_hi",
    0x358: "descriptor_lo",
    0x35C: "descriptor_hi",
    **_three(0x360, "ntid"),
    0x36C: "cluster_launch_kind",
    **_three(0x370, "nctaid"),
    0x37C: "stack",
}
_LAYOUTS = ((100, _BLACKWELL), (90, _HOPPER), (70, _VOLTA))
_PARAM_BASES = ((100, 0x380), (90, 0x210), (70, 0x160))

_REGISTERS = {
    "SR_LANEID": "laneid",
    "SR_CgaCtaId": "cga_ctaid",
    "SR_SWINHI": "shared_window_hi",
    "SR_LWINHI": "local_window_hi",
    "SR_SWINLO": "shared_window_lo",
    "SR_LWINLO": "local_window_lo",
    "SR_SMEMSZ": "smem_size_and_reserved",
    "SR_EQMASK": "lanemask_eq",
    "SR_LTMASK": "lanemask_lt",
    "SR_LEMASK": "lanemask_le",
    "SR_GTMASK": "lanemask_gt",
    "SR_GEMASK": "lanemask_ge",
    "SR_CLOCKLO": "clock",
    "SR_CLOCKHI": "clock_hi",
    "SR_GLOBALTIMERLO": "globaltimer_lo",
    "SR_GLOBALTIMERHI": "globaltimer_hi",
    "SR_VIRTUALSMID": "smid",
    **{
        f"SR_{kind}.{d.upper()}": f"{kind.lower()}.{d}"
        for kind in ("TID", "CTAID", "NTID", "NCTAID")
        for d in _DIMENSIONS
    },
}
CGA_SIZE = "SR_CgaSize"  # sm_100 multiplies it by the size of a table to find its cluster constants


def special_register(text: str) -> str | None:
    """The name in `ir.Special` of a special register as nvdisasm prints it, None if it has none."""
    return _REGISTERS.get(text)


def driver_constant(sm: int, offset: int) -> str | None:
    """The name of the value that the driver stores at a byte offset of constant bank 0, below the parameters."""
    return next(layout for first, layout in _LAYOUTS if sm >= first).get(offset)


def param_base(sm: int) -> int:
    """Where parameters begin in constant bank 0, for functions whose own section does not state it."""
    return next(base for first, base in _PARAM_BASES if sm >= first)
