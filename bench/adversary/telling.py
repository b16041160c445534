"""The tellings: how much of a measured launch is specified to the engine, from everything to nothing.

told      grid, block, the value of every parameter, contents and addresses of buffers, the host's writes to variables
placed    the same without the addresses of buffers
bytes     grid, block and the parameter buffer, as a capture tool records it
shape     grid and block
block     the block alone
aligned   grid and block, and that every pointer is a multiple of 256; for global memory
nothing   no launch
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.adversary.program import Fill
from ptxaudit.engine.memory.environment import Facts
from ptxaudit.frontend.launch.buffers import Buffer
from ptxaudit.frontend.launch.kernel_names import same_name
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.ir import nodes as ir

Entry = Mapping[str, Any]


def told(entry: Entry, function: ir.Function) -> Launch:
    buffers = {name: _buffer(entry, name) for name in entry["buffers"]}
    return _with_shape(
        entry, params=[_value(p, buffers) for p in entry["parameters"]], symbols=_symbols(entry, function)
    )


def placed(entry: Entry, function: ir.Function) -> Launch:
    arrays = {name: Fill(**fill).data() for name, fill in entry["buffers"].items()}
    params = [None if p["kind"] in ("low", "high") else _value(p, arrays) for p in entry["parameters"]]
    return _with_shape(entry, params=params, symbols=_symbols(entry, function))


def parameter_bytes(entry: Entry, function: ir.Function) -> Launch:
    return _with_shape(entry, param_bytes=entry["param_bytes"], symbols=_symbols(entry, function, "?"))


def shape(entry: Entry, function: ir.Function) -> Launch:
    return _with_shape(entry, symbols=_symbols(entry, function, "?"))


def block(entry: Entry, function: ir.Function) -> Launch:
    return Launch(entry["kernel"], block=entry["block"], symbols=_symbols(entry, function, "?"))


def nothing(entry: Entry, function: ir.Function) -> None:
    return None


TELLINGS: dict[str, Callable[[Entry, ir.Function], Launch | None]] = {
    "told": told,
    "placed": placed,
    "bytes": parameter_bytes,
    "shape": shape,
    "block": block,
    "nothing": nothing,
}
EVERY = TELLINGS | {"aligned": shape}
FACTS = {"aligned": Facts(aligned={"*": 256})}


def applies(name: str, entry: Entry, function: ir.Function) -> bool:
    """Whether this telling is possible: only a launch can specify what the host wrote to variables."""
    return name != "nothing" or not _symbols(entry, function)


def _with_shape(entry: Entry, **more: Any) -> Launch:
    cluster = [blocks or 1 for blocks in entry["cluster"]]
    return Launch(
        entry["kernel"],
        grid=entry["grid"],
        block=entry["block"],
        cluster=cluster,
        dynamic_shared=entry["dynamic_shared"],
        **more,
    )


def _value(parameter: Mapping[str, Any], buffers: Mapping[str, Any]) -> Any:
    value = parameter["value"]
    match parameter["kind"]:
        case "buffer":
            return buffers[value]
        case "low":
            return buffers[value].address & 0xFFFFFFFF
        case "high":
            return buffers[value].address >> 32
        case "bytes":
            return bytes.fromhex(value)
    return value


def _buffer(entry: Entry, name: str) -> Buffer:
    import numpy as np

    data = Fill(**entry["buffers"][name]).data()
    address = next(
        (entry["addresses"][p["name"]] for p in entry["parameters"] if p["kind"] == "buffer" and p["value"] == name), 0
    )
    raw = data.view(np.uint8)
    raw.flags.writeable = False
    return Buffer(raw, "u32", data.shape, None, address)


def _symbols(entry: Entry, function: ir.Function, value: str | None = None) -> dict[str, Any]:
    """The variables written by the host that the kernel can name."""
    named = {name for name in entry["symbols"] if any(same_name(v.name, name) for v in function.variables)}
    return {name: value or Fill(**entry["symbols"][name]).data() for name in sorted(named)}
