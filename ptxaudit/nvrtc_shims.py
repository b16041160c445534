"""The standard headers that NVRTC lacks, as one-line stand-ins over libcu++ (a table).

    #include <cstdint>      in the user's source
    -> SHIMS["cstdint"]     is given to NVRTC in memory, below the folder `FOLDER`
    -> std::uint16_t        is cuda::std::uint16_t

NVRTC has no system headers, so a kernel file that nvcc takes often fails at its first line.
Device code uses little of them, and libcu++ (nvidia-cuda-cccl) has that part under
`cuda/std`; functions such as `printf`, `memcpy` and `sqrtf` are built in. The include path
puts the user's folders before `FOLDER`, so a header of their own always wins.
https://nvidia.github.io/cccl/libcudacxx/standard_api.html
https://docs.nvidia.com/cuda/nvrtc/index.html#predefined-types
"""

from __future__ import annotations

FOLDER = "/ptxaudit/nvrtc"      # exists only inside NVRTC's include path

_CUDA_STD = """
    algorithm array atomic barrier bit bitset charconv chrono cmath complex concepts cstddef
    cstdint cstdlib cstring ctime execution expected functional initializer_list iterator latch
    limits mdspan memory numbers numeric optional ratio semaphore span string_view
    tuple type_traits utility variant
""".split()

_IMPORT_STD = "namespace cuda { namespace std {} }\nnamespace std { using namespace ::cuda::std; using ::size_t; using ::ptrdiff_t; }\n"

# <cuda/std/cstdint> has the types; the limits are C's, from the C standard's 7.20.2.
_INTEGER_LIMITS = "".join(
    f"#define INT{n}_MAX {2 ** (n - 1) - 1}{s}\n#define INT{n}_MIN (-INT{n}_MAX - 1)\n#define UINT{n}_MAX {2 ** n - 1}{u}\n"
    for n, s, u in ((8, "", ""), (16, "", ""), (32, "", "u"), (64, "ll", "ull"))
) + "#define SIZE_MAX UINT64_MAX\n#define UINTPTR_MAX UINT64_MAX\n#define INTPTR_MAX INT64_MAX\n"

# POSIX's constants and C's INFINITY and NAN, which NVRTC does not predefine.
_MATH_CONSTANTS = "".join(
    f"#ifndef {name}\n#define {name} {value}\n#endif\n"
    for name, value in (
        ("M_E", "2.7182818284590452354"), ("M_LOG2E", "1.4426950408889634074"),
        ("M_LOG10E", "0.43429448190325182765"), ("M_LN2", "0.69314718055994530942"),
        ("M_LN10", "2.30258509299404568402"), ("M_PI", "3.14159265358979323846"),
        ("M_PI_2", "1.57079632679489661923"), ("M_PI_4", "0.78539816339744830962"),
        ("M_1_PI", "0.31830988618379067154"), ("M_2_PI", "0.63661977236758134308"),
        ("M_2_SQRTPI", "1.12837916709551257390"), ("M_SQRT2", "1.41421356237309504880"),
        ("M_SQRT1_2", "0.70710678118654752440"),
        ("INFINITY", "__builtin_huge_valf()"), ("HUGE_VALF", "__builtin_huge_valf()"),
        ("HUGE_VAL", "__builtin_huge_val()"), ("NAN", '__builtin_nanf("")'),
    )
)

# NVRTC refuses the umbrella header but takes every block and warp header of it.
_CUB = "".join(f"#include <cub/{name}.cuh>\n" for name in """
    block/block_adjacent_difference block/block_discontinuity block/block_exchange block/block_histogram
    block/block_load block/block_merge_sort block/block_radix_rank block/block_radix_sort block/block_reduce
    block/block_run_length_decode block/block_scan block/block_shuffle block/block_store
    warp/warp_exchange warp/warp_load warp/warp_merge_sort warp/warp_reduce warp/warp_scan warp/warp_store
""".split())


def _std(name: str, extra: str = "") -> str:
    return f"#pragma once\n#include <cuda/std/{name}>\n{_IMPORT_STD}{extra}"


def _c(*includes: str, extra: str = "") -> str:
    return "#pragma once\n" + "".join(f"#include <{name}>\n" for name in includes) + _IMPORT_STD + extra


SHIMS: dict[str, str] = {name: _std(name) for name in _CUDA_STD} | {
    "cstdint": _std("cstdint", _INTEGER_LIMITS),
    "stdint.h": _c("cstdint"),
    "inttypes.h": _c("cstdint"),
    "cinttypes": _c("cstdint"),
    "stddef.h": _c("cuda/std/cstddef"),
    "cmath": _std("cmath", _MATH_CONSTANTS),
    # the functions are built in; libcu++'s <cmath> costs a second, so C's header leaves it out
    "math.h": _c(extra=_MATH_CONSTANTS),
    "climits": _c("cuda/std/climits"),
    "limits.h": _c("cuda/std/climits"),
    "cfloat": _c("cuda/std/cfloat"),
    "float.h": _c("cuda/std/cfloat"),
    "cassert": _c("cuda/std/cassert"),
    "assert.h": _c("cuda/std/cassert"),
    "stdbool.h": _c(),
    "new": _c("cuda/std/__new_"),
    "cstdio": _c(),
    "stdio.h": _c(),
    "stdlib.h": _c(),
    "string.h": _c(),
    "cub/cub.cuh": "#pragma once\n" + _CUB,
}
