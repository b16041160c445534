"""The steps of a kernel that may decide an address: all that the twin runs of a kernel that is too long for it.

A closure over register names that ignores order. It saves the arithmetic of a matrix product.
"""

from __future__ import annotations

from .code import Code, Many, Mem, Not, Reg

PURE = {
    "add",
    "sub",
    "mul",
    "mad",
    "fma",
    "div",
    "rem",
    "mov",
    "cvt",
    "and",
    "or",
    "xor",
    "not",
    "shl",
    "shr",
    "max",
    "min",
    "neg",
    "abs",
    "selp",
    "sqrt",
    "rcp",
    "mma",
    "ex2",
    "sin",
    "cos",
    "lg2",
    "rsqrt",
    "dp4a",
    "prmt",
    "setp",
    "wmma",
    "tanh",
    "shfl",
}


def names(x) -> set[str]:
    """The registers of an operand."""
    match x:
        case Reg(name=n):
            return {n}
        case Mem(base=b):
            return names(b)
        case Many(items=items):
            return set().union(*map(names, items)) if items else set()
        case Not(value=v):
            return names(v)
    return set()


def needed(code: Code) -> set[int]:
    """Steps that may affect an address, a branch or a guard, including the values of all stores once any load may."""
    wanted: set[str] = set()
    keep: set[int] = set()
    steps = [
        (at, step, step.opcode.split(".")[0], [names(o) for o in step.operands]) for at, step in enumerate(code.steps)
    ]
    while True:
        before = len(keep), len(wanted)
        stored = code_loads(code, wanted)
        for at, step, base, used in steps:
            target = used[0] if used else set()
            if base in PURE and not (target & wanted) and ".store" not in step.opcode and ".load" not in step.opcode:
                continue
            keep.add(at)
            if step.guard is not None:
                wanted.add(step.guard.name)
            first = 0 if base in ("st", "red", "bra", "brx", "bar", "cp", "stmatrix") else 1
            for o, registers in zip(step.operands[first:], used[first:]):
                if base != "st" or isinstance(o, Mem) or stored:
                    wanted |= registers
            if base in ("ld", "st", "atom", "red"):
                for o, registers in zip(step.operands, used):
                    if isinstance(o, Mem):
                        wanted |= registers
        if (len(keep), len(wanted)) == before:
            return keep


def code_loads(code: Code, wanted: set[str]) -> bool:
    """Whether a needed register comes from a load of something that a store of this function may have written."""
    for step in code.steps:
        if (
            step.opcode.split(".")[0] in ("ld", "ldmatrix")
            and ".param" not in step.opcode
            or step.opcode.startswith("call")
        ):
            first = step.operands[0]
            items = first.items if isinstance(first, Many) else (first,)
            if any(isinstance(i, Reg) and i.name in wanted for i in items):
                return True
    return any(s.opcode.startswith(("call", "ret")) for s in code.steps) and ".param" in "".join(
        s.opcode for s in code.steps
    )
