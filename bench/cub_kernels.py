"""Compiles kernels of CUB's device algorithms, for `bench.specified`: one call of each, as in a typical program.

    python -m bench.cub_kernels FOLDER [--arch sm_90] [--include CCCL…] [--only NAME…]      FOLDER/NAME.cubin

Needs nvcc with the headers of CCCL (those of nvcc, or of --include) and a host compiler; no GPU.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ptxaudit.base.errors import InputError
from ptxaudit.frontend.compile import nvcc

PAIRS = "const {0}* in, {0}* out, const {1}* values, {1}* values_out, int* count, void* work, size_t& bytes, int n"
PROLOGUE = """
struct Less { template <class T> __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; } };
struct Odd { template <class T> __host__ __device__ bool operator()(const T& a) const { return (int)a & 1; } };
struct Large { template <class T> __host__ __device__ bool operator()(const T& a) const { return a > T(100); } };
"""

# name: (header of cub/device, type of keys, type of values, call)
CALLS = {
    "radix_sort_keys": ("radix_sort", "unsigned", "int", "DeviceRadixSort::SortKeys(work, bytes, in, out, n)"),
    "radix_sort_pairs": (
        "radix_sort",
        "float",
        "int",
        "DeviceRadixSort::SortPairs(work, bytes, in, out, values, values_out, n)",
    ),
    "radix_sort_bytes": ("radix_sort", "unsigned char", "int", "DeviceRadixSort::SortKeys(work, bytes, in, out, n)"),
    "radix_sort_long_pairs": (
        "radix_sort",
        "long long",
        "double",
        "DeviceRadixSort::SortPairsDescending(work, bytes, in, out, values, values_out, n)",
    ),
    "merge_sort_keys": ("merge_sort", "int", "int", "DeviceMergeSort::SortKeys(work, bytes, out, n, Less{})"),
    "merge_sort_pairs": (
        "merge_sort",
        "float",
        "double",
        "DeviceMergeSort::SortPairs(work, bytes, out, values_out, n, Less{})",
    ),
    "merge_keys": ("merge", "int", "int", "DeviceMerge::MergeKeys(work, bytes, in, n, values, n, out, Less{})"),
    "scan_sum": ("scan", "int", "int", "DeviceScan::ExclusiveSum(work, bytes, in, out, n)"),
    "scan_double": ("scan", "double", "int", "DeviceScan::InclusiveSum(work, bytes, in, out, n)"),
    "scan_by_key": ("scan", "int", "float", "DeviceScan::InclusiveSumByKey(work, bytes, in, values, values_out, n)"),
    "reduce_sum": ("reduce", "float", "int", "DeviceReduce::Sum(work, bytes, in, out, n)"),
    "arg_min": (
        "reduce",
        "double",
        "int",
        "DeviceReduce::ArgMin(work, bytes, in, (cub::KeyValuePair<int, double>*)out, n)",
    ),
    "reduce_by_key": (
        "reduce",
        "int",
        "float",
        "DeviceReduce::ReduceByKey(work, bytes, in, out, values, values_out, count, Sum{}, n)",
    ),
    "select_if": ("select", "int", "int", "DeviceSelect::If(work, bytes, in, out, count, n, Odd{})"),
    "select_flagged": (
        "select",
        "double",
        "char",
        "DeviceSelect::Flagged(work, bytes, in, values, out, count, n)",
    ),
    "select_unique": ("select", "short", "int", "DeviceSelect::Unique(work, bytes, in, out, count, n)"),
    "unique_by_key": (
        "select",
        "int",
        "long long",
        "DeviceSelect::UniqueByKey(work, bytes, in, values, out, values_out, count, n)",
    ),
    "partition_if": ("partition", "int", "int", "DevicePartition::If(work, bytes, in, out, count, n, Odd{})"),
    "partition_three": (
        "partition",
        "float",
        "int",
        "DevicePartition::If(work, bytes, in, out, out + n, out + 2 * n, count, n, Odd{}, Large{})",
    ),
    "run_length_encode": (
        "run_length_encode",
        "int",
        "int",
        "DeviceRunLengthEncode::Encode(work, bytes, in, out, values_out, count, n)",
    ),
    "non_trivial_runs": (
        "run_length_encode",
        "short",
        "int",
        "DeviceRunLengthEncode::NonTrivialRuns(work, bytes, in, values_out, values_out + n, count, n)",
    ),
    "histogram_even": (
        "histogram",
        "float",
        "int",
        "DeviceHistogram::HistogramEven(work, bytes, in, values_out, 257, 0.f, 1.f, n)",
    ),
    "histogram_bytes": (
        "histogram",
        "unsigned char",
        "int",
        "DeviceHistogram::HistogramEven(work, bytes, in, values_out, 257, 0, 256, n)",
    ),
    "histogram_range": (
        "histogram",
        "float",
        "int",
        "DeviceHistogram::HistogramRange(work, bytes, in, values_out, 65, (const float*)out, n)",
    ),
    "segmented_sort": (
        "segmented_sort",
        "int",
        "int",
        "DeviceSegmentedSort::SortPairs(work, bytes, in, out, values, values_out, n, n / 8, count, count + 1)",
    ),
    "segmented_radix_sort": (
        "segmented_radix_sort",
        "unsigned",
        "int",
        "DeviceSegmentedRadixSort::SortPairs(work, bytes, in, out, values, values_out, n, n / 8, count, count + 1)",
    ),
    "segmented_reduce": (
        "segmented_reduce",
        "float",
        "int",
        "DeviceSegmentedReduce::Sum(work, bytes, in, out, n, count, count + 1)",
    ),
    "adjacent_difference": (
        "adjacent_difference",
        "int",
        "int",
        "DeviceAdjacentDifference::SubtractLeftCopy(work, bytes, in, out, n)",
    ),
    "top_k": (
        "topk",
        "float",
        "int",
        "DeviceTopK::MaxKeys(work, bytes, in, out, n, 100, cuda::std::execution::env{cuda::execution::require("
        "cuda::execution::determinism::not_guaranteed, cuda::execution::output_ordering::unsorted)})",
    ),
}

SUM = "struct Sum { template <class T> __host__ __device__ T operator()(const T& a, const T& b) const { return a + b; } };"


def source(name: str) -> str:
    """The text of one program."""
    header, key, value, call = CALLS[name]
    arguments = PAIRS.format(key, value)
    return (
        f"#include <cub/device/device_{header}.cuh>\n{PROLOGUE}{SUM}\n"
        f"cudaError_t {name}({arguments}) {{ return cub::{call}; }}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.cub_kernels", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--only", nargs="*", default=list(CALLS), choices=CALLS)
    chosen = parser.parse_args()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name in chosen.only:
        try:
            made = nvcc.compile_source(source(name), chosen.arch, chosen.include, name=f"{name}.cu")
        except InputError as error:
            failed += 1
            print(f"{name}: {error}\n{(error.detail or '')[:2000]}", file=sys.stderr)
            continue
        (chosen.folder / f"{name}.cubin").write_bytes(made.cubin or b"")
        print(f"{name}: {made.compiler}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
