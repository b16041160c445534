"""A GPU through its driver, and reports of Nsight Compute: the common part of the scripts that measure.

    Gpu().launch(function, grid, block, cluster, dynamic_shared, params)
    sites_of(action)     [[offset, sass, wavefronts, ideal, inst_executed, thread_inst_executed_true], …] of one
                         profiled launch

Needs Python and cuda-bindings; reports also need Nsight Compute with its `ncu_report` module. Uses nothing of
ptxaudit, which the machines that measure do not have.
"""

from __future__ import annotations

import ctypes
import glob
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

BUFFER_BYTES = 4 << 20  # more than any pointer parameter of a sample needs

WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared{}.sum"
WAVEFRONT_KINDS = ("", "_cmd_read", "_cmd_write", "_op_atom", "_op_ld", "_op_misc", "_op_st")
CONFLICT_KINDS = ("", "_op_atom", "_op_gmma", "_op_ld", "_op_ldgsts", "_op_st")
BY_INSTRUCTION = (
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    "inst_executed",
    "thread_inst_executed_true",
)

OF_MEMORY = (
    "memory_l2_theoretical_sectors_global",
    "memory_l2_theoretical_sectors_global_ideal",
    "memory_l2_theoretical_sectors_local",
    "memory_l1_tag_requests_global",
)
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_{}.sum"
SECTOR_KINDS = ("global_op_ld", "global_op_st", "global_op_red", "global_op_atom", "local_op_ld", "local_op_st")

SHARED = re.compile(r"\b(LDS|STS|LDSM|STSM|ATOMS|LDGSTS|UBLKCP|STAS|\w*GMMA|REDAS)\b|\bUTMA\w+")
DUMMY = re.compile(r"@!U?PT\s+LDS\s+RZ")  # before each LDGSTS: predicated off, not a site


class Gpu:
    """The first device, accessed through the driver API."""

    def __init__(self) -> None:
        from cuda.bindings import driver

        self.driver = driver
        self.call(driver.cuInit, 0)
        self.device = self.call(driver.cuDeviceGet, 0)
        context = self.call(driver.cuDevicePrimaryCtxRetain, self.device)
        self.call(driver.cuCtxSetCurrent, context)

    def call(self, function: Any, *arguments: Any) -> Any:
        status, *values = function(*arguments)
        if int(status) != 0:
            raise RuntimeError(f"{function.__name__}: {status}")
        return values[0] if len(values) == 1 else values

    def name(self) -> str:
        return self.call(self.driver.cuDeviceGetName, 128, self.device).split(b"\0")[0].decode()

    def kernels(self, cubin: Path) -> dict[str, Any]:
        module = self.call(self.driver.cuModuleLoadData, cubin.read_bytes())
        count = self.call(self.driver.cuModuleGetFunctionCount, module)
        functions = self.call(self.driver.cuModuleEnumerateFunctions, count, module)
        return {self.call(self.driver.cuFuncGetName, function).decode(): function for function in functions}

    def parameters(self, function: Any) -> list[tuple[int, int]]:
        """(offset, size) in bytes of each parameter."""
        found: list[tuple[int, int]] = []
        while True:
            status, offset, size = self.driver.cuFuncGetParamInfo(function, len(found))
            if int(status) != 0:
                return found
            found.append((int(offset), int(size)))

    def allocate(self, data: Any = None) -> int:
        pointer = int(self.call(self.driver.cuMemAlloc, BUFFER_BYTES))
        self.call(self.driver.cuMemsetD8, pointer, 0, BUFFER_BYTES)
        if data is not None:
            self.write(pointer, data)
        return pointer

    def write(self, pointer: int, data: Any) -> None:
        self.call(self.driver.cuMemcpyHtoD, pointer, data.ctypes.data, data.nbytes)

    def read(self, pointer: int, dtype: str, count: int) -> Any:
        import numpy

        data = numpy.empty(count, dtype)
        self.call(self.driver.cuMemcpyDtoH, data.ctypes.data, pointer, data.nbytes)
        return data

    def free(self, pointers: list[int]) -> None:
        for pointer in pointers:
            self.call(self.driver.cuMemFree, pointer)

    def launch(
        self,
        function: Any,
        grid: list[int],
        block: list[int],
        cluster: list[int] | None,
        dynamic_shared: int,
        params: bytes,
        wait: bool = True,
    ) -> None:
        driver = self.driver
        if dynamic_shared > 48 << 10:
            limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call(driver.cuFuncSetAttribute, function, limit, dynamic_shared)
        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = grid
        config.blockDimX, config.blockDimY, config.blockDimZ = block
        config.sharedMemBytes = dynamic_shared
        if cluster and any(number > 1 for number in cluster):
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = cluster
            config.attrs = [attribute]
            config.numAttrs = 1
        # One pointer per parameter, into a buffer that lives until the launch returns.
        raw = ctypes.create_string_buffer(params, max(len(params), 1))
        offsets = [offset for offset, _ in self.parameters(function)]
        places = (ctypes.c_void_p * max(len(offsets), 1))(*(ctypes.addressof(raw) + offset for offset in offsets))
        self.call(driver.cuLaunchKernelEx, config, function, ctypes.addressof(places), 0)
        if wait:
            self.call(driver.cuCtxSynchronize)


# --- reports ------------------------------------------------------------------------------------

SITE_COLUMNS = (
    "offset",
    "sass",
    "wavefronts (memory_l1_wavefronts_shared)",
    "ideal",
    "inst_executed",
    "thread_inst_executed_true",
)


def sites_of(action: Any) -> list[list[Any]]:
    """`SITE_COLUMNS` of each shared-memory instruction."""
    columns = {name: by_pc(action, name) for name in BY_INSTRUCTION}
    executed = columns["inst_executed"]
    base = min(executed)  # the first instruction of the kernel is always executed
    sites = []
    for pc in sorted(set(executed) | set(columns["memory_l1_wavefronts_shared"])):
        text = " ".join(action.sass_by_pc(pc).split())
        shared = columns["memory_l1_wavefronts_shared"].get(pc, 0)
        if (SHARED.search(text) or shared) and not DUMMY.search(text):
            sites.append([pc - base, text, *(columns[name].get(pc, 0) for name in BY_INSTRUCTION)])
    return sites


def memory_of(action: Any) -> list[list[int]]:
    """[place, *`OF_MEMORY`] of each instruction that accessed global or local memory; none if they were not counted."""
    if action.metric_by_name(OF_MEMORY[0]) is None:
        return []
    columns = [by_pc(action, name) if action.metric_by_name(name) is not None else {} for name in OF_MEMORY]
    base = min(by_pc(action, "inst_executed"))
    places = sorted(set().union(*columns))
    rows = [[pc - base, *(column.get(pc, 0) for column in columns)] for pc in places]
    return [row for row in rows if any(row[1:])]


def executed_of(action: Any) -> tuple[list[tuple[int, int, int]], dict[int, str]]:
    """Every instruction that ran, as (place, warps, lanes whose predicate held), and the opcode at each place.

    Places are bytes from the lowest address: code in a separate section may precede the kernel.
    """
    executed, lanes = by_pc(action, "inst_executed"), by_pc(action, "thread_inst_executed_true")
    base = min(executed)
    rows = [(pc - base, executed[pc], lanes.get(pc, 0)) for pc in sorted(executed) if executed[pc]]
    return rows, {place: opcode_of(action.sass_by_pc(base + place)) for place, _, _ in rows}


def opcode_of(sass: str) -> str:
    """ "@!P0 LDS.64 R2, [R4]" -> "LDS.64"."""
    words = sass.replace(";", " ").split()
    return next((word for word in words if not word.startswith("@")), "")


def by_pc(action: Any, name: str) -> dict[int, int]:
    metric = action.metric_by_name(name)
    if metric is None:
        raise SystemExit(f"the report has no {name}")
    places = metric.correlation_ids()
    return {places.as_uint64(i): round(metric.as_double(i)) for i in range(metric.num_instances())}


def totals_of(action: Any, pattern: str, kinds: tuple[str, ...]) -> dict[str, float | None]:
    metrics = {kind: action.metric_by_name(pattern.format(kind)) for kind in kinds}
    return {kind: None if metric is None else metric.as_double() for kind, metric in metrics.items()}


def import_ncu_report() -> Any:
    """Nsight Compute's own reader, from beside the ncu on the PATH."""
    ncu = shutil.which("ncu")
    near = [Path(os.path.realpath(ncu)).parent] if ncu else []
    near += [
        Path(p)
        for p in sorted(
            glob.glob("/opt/nvidia/nsight-compute/*") + glob.glob("/usr/local/cuda*/nsight-compute-*"), reverse=True
        )
    ]
    for folder in near:
        if (folder / "extras" / "python" / "ncu_report.py").is_file():
            sys.path.insert(0, str(folder / "extras" / "python"))
            break
    import ncu_report

    return ncu_report


def device_line(name: str) -> str:
    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True
    ).stdout.split("\n")[0]
    ncu = re.search(
        r"Version (\d+\.\d+\.\d+)", subprocess.run(["ncu", "--version"], capture_output=True, text=True).stdout
    )
    return (
        f"{name}, driver {driver}, Nsight Compute {ncu[1] if ncu else '?'}, --clock-control none --cache-control none"
    )
