"""Prints syntax values as PTX, using only their parsed parts.

    Instruction("ld.shared.f32", (Name("%f1"), Memory(Name("%r4"), 8)), Guard("%p1"))
    -> "@%p1 ld.shared.f32 %f1, [%r4+8];"

`module_text(parse_module(text))` assembles to the same machine code as `text`, which a test checks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ptxaudit.frontend.ptx import syntax as s

INDENT = "\t"


# --- operands -----------------------------------------------------------------------------------


def operand_text(operand: s.Operand | s.SectionName) -> str:
    """One operand as PTX."""
    if type(operand) is s.Name:
        return operand.text
    return _OPERANDS[type(operand)](operand)


def _commas(operands: Iterable[s.Operand | s.SectionName]) -> str:
    return ", ".join([operand_text(o) for o in operands])


def _memory(m: s.Memory) -> str:
    base = operand_text(m.base)
    if m.offset is not None:
        base += f"+{m.offset}"
    return f"[{base}, {_commas(m.rest)}]" if m.rest else f"[{base}]"


def _float(f: s.Float) -> str:
    return f"0f{f.bits:08X}" if f.width == 32 else f"0d{f.bits:016X}"


def _inner(operand: s.Operand) -> str:
    """An operator's operand, in parentheses if it is an operation itself."""
    text = operand_text(operand)
    return f"({text})" if isinstance(operand, s.Binary | s.Ternary | s.Unary | s.Cast) else text


_OPERANDS: dict[type, Callable[[Any], str]] = {
    s.Int: lambda o: f"{o.value}U" if o.unsigned else str(o.value),
    s.Float: _float,
    s.Memory: _memory,
    s.Vector: lambda o: f"{{{_commas(o.items)}}}",
    s.Group: lambda o: f"({_commas(o.items)})",
    s.Pair: lambda o: f"{operand_text(o.first)}|{operand_text(o.second)}",
    s.Unary: lambda o: f"{o.operator}{_inner(o.value)}",
    s.Binary: lambda o: f"{_inner(o.left)} {o.operator} {_inner(o.right)}",
    s.Ternary: lambda o: f"{_inner(o.condition)} ? {_inner(o.then)} : {_inner(o.otherwise)}",
    s.Cast: lambda o: f"({o.type}){_inner(o.value)}",
    s.Apply: lambda o: f"{o.function}({operand_text(o.argument)})",
    s.Mask: lambda o: f"{o.mask:#x}({operand_text(o.value)})",
    s.Index: lambda o: f"{o.name}[{operand_text(o.index)}]",
    s.Field: lambda o: f"{o.name} = {operand_text(o.value)}",
    s.SectionName: lambda o: o.name + (f"{o.offset:+d}" if o.offset else ""),
}


# --- statements -----------------------------------------------------------------------------------


def instruction_text(instruction: s.Instruction) -> str:
    """An instruction without its semicolon."""
    text = instruction.opcode
    if instruction.operands:
        text += " " + ", ".join([o.text if type(o) is s.Name else _OPERANDS[type(o)](o) for o in instruction.operands])
    guard = instruction.guard
    if guard is None:
        return text
    return f"@{'!' if guard.negated else ''}{guard.name} {text}"


def _qualifier(q: str | s.Align | s.Attribute) -> str:
    if isinstance(q, s.Align):
        return f".align {q.bytes}"
    if isinstance(q, s.Attribute):
        values = (name + (f"({', '.join(map(str, numbers))})" if numbers else "") for name, numbers in q.values)
        return f".attribute({', '.join(values)})"
    return q


def _declarator(d: s.Declarator) -> str:
    text = d.name
    if d.count is not None:
        text += f"<{d.count}>"
    for extent in d.dimensions:
        text += "[]" if extent is None else f"[{operand_text(extent)}]"
    return text if d.initial is None else f"{text} = {operand_text(d.initial)}"


def _declaration(v: s.Variable) -> str:
    """A declaration without its end: `.param .align 8 .b8 p[16]`."""
    words = (*v.linkage, v.space, *map(_qualifier, v.qualifiers), ", ".join(map(_declarator, v.declarators)))
    return " ".join(words)


def _parameters(parameters: tuple[s.Variable, ...]) -> str:
    return f"({', '.join(map(_declaration, parameters))})"


def _tuning(t: s.Tuning | s.Attribute) -> str:
    if isinstance(t, s.Attribute):
        return _qualifier(t)
    return f"{t.name} {', '.join(map(str, t.values))}" if t.values else t.name


def _location(loc: s.Location) -> str:
    text = f".loc {loc.file} {loc.line} {loc.column}"
    if loc.function is None:
        return text
    name = loc.function + (f"{loc.function_offset:+d}" if loc.function_offset else "")
    return f"{text}, function_name {name}, inlined_at {' '.join(map(str, loc.inlined_at or ()))}"


def _prototype(p: s.Prototype) -> str:
    words = [f"{p.name}: .callprototype"]
    if p.results is not None:
        words.append(_parameters(p.results))
    words.append(p.function)
    if p.parameters is not None:
        words.append(_parameters(p.parameters))
    return " ".join([*words, *map(_tuning, p.tuning)]) + ";"


def _function(f: s.Function) -> list[str]:
    words = [*f.linkage, f.kind, *map(_tuning, f.before)]
    if f.results is not None:
        words.append(_parameters(f.results))
    words.append(f.name)
    if f.parameters is not None:
        words.append(_parameters(f.parameters))
    head = [" ".join(words), *map(_tuning, f.tuning)]
    return head + [";"] if f.body is None else head + lines(f.body)


def _section(section: s.Section) -> list[str]:
    out = [f".section {section.name}", "{"]
    for item in section.data:
        out.append(f"{item.name}:" if isinstance(item, s.Label) else f"{item.type} {_commas(item.values)}")
    return out + ["}"]


def _block(block: s.Block) -> list[str]:
    return ["{"] + [INDENT + line for statement in block.statements for line in lines(statement)] + ["}"]


_LINES: dict[type, Callable[..., list[str]]] = {
    s.Instruction: lambda n: [instruction_text(n) + ";"],
    s.Label: lambda n: [f"{n.name}:"],
    s.Variable: lambda n: [_declaration(n) + ";"],
    s.Block: _block,
    s.Location: lambda n: [_location(n)],
    s.Pragma: lambda n: [".pragma " + ", ".join(f'"{t}"' for t in n.texts) + ";"],
    s.Table: lambda n: [f"{n.name}: {n.kind} {', '.join(n.targets)};"],
    s.Prototype: lambda n: [_prototype(n)],
    s.Function: _function,
    s.File: lambda n: [f'.file {n.index} "{n.path}"' + (f", {n.stamp[0]}, {n.stamp[1]}" if n.stamp else "")],
    s.Section: _section,
    s.Alias: lambda n: [f".alias {n.name}, {n.target};"],
}


def lines(node: s.Statement | s.Item) -> list[str]:
    """A statement or item as lines of PTX."""
    return _LINES[type(node)](node)


def module_text(module: s.Module) -> str:
    """A whole module as PTX."""
    head = [f".version {module.version}", f".target {', '.join(module.target)}"]
    if module.address_size is not None:
        head.append(f".address_size {module.address_size}")
    return "\n".join(head + [line for item in module.items for line in lines(item)]) + "\n"
