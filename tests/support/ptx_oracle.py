"""The printer's oracle: does printed PTX assemble to the same machine code as the original?

`check(text, module)` compares three texts: the original, the printed one, and the printed one after `disguised`
renamed every register and label and respelled every constant. Used by test_ptx_oracle.py on modules compiled from
this repository, and by bench/ptx_oracle.py on any folder of PTX files. If the printed text equals the original token
by token, nothing needs to be assembled.
"""

from __future__ import annotations

import io
import itertools
import re

from elftools.elf.elffile import ELFFile
from msgspec import structs

from ptxaudit.base.records import Record
from ptxaudit.frontend.compile import ptxas
from ptxaudit.frontend.ptx import printer
from ptxaudit.frontend.ptx import syntax as s

SIZED = (".nv.shared.",)  # without content: relocatable code has leftover bytes there
COMPARED = (".text.", ".nv.constant", ".nv.global.init", *SIZED)


def machine_code(text: str, arch: str | None = None, options: tuple[str, ...] = ()) -> dict[str, bytes]:
    """Section name -> content of the code, constants and initial data that ptxas generates for a module."""
    level = "-O0" if re.search(r"^\.target .*debug", text, re.MULTILINE) else "-O1"  # -O1 is fast
    elf = ELFFile(io.BytesIO(ptxas.assemble(text, arch, options=[level, *options]).cubin))
    return {
        section.name: bytes(section["sh_size"]) if section.name.startswith(SIZED) else section.data()
        for section in elf.iter_sections()
        if section.name.startswith(COMPARED)
    }


def check(text: str, module: s.Module, arch: str | None = None, options: tuple[str, ...] = ()) -> None:
    """Raises AssertionError if the printed text of the parsed module, plain or disguised, is not the same program."""
    wanted = machine_code(text, arch, options)
    assert any(wanted.values()), "the module has no code"
    printed = printer.module_text(module)
    if tokens(printed) != tokens(text):
        assert machine_code(printed, arch, options) == wanted, "the printed text differs"
    assert machine_code(printer.module_text(disguised(module)), arch, options) == wanted, "the disguised text differs"


_PIECE = re.compile(
    r"""(?P<nothing>\s+|//[^\n]*|/\*.*?\*/)|"(?:[^"\\]|\\.)*"|[\w.$%:]+|[<>=!&|]+|^[ \t]*\#[^\n]*\n|@@[^\n]*\n|.""",
    re.DOTALL | re.MULTILINE,
)


def tokens(text: str) -> list[str]:
    """The tokens of a text without comments and white space: texts with equal tokens are the same program."""
    return [piece[0] for piece in _PIECE.finditer(text) if piece["nothing"] is None]


_serial = itertools.count()


# --- other names, other spellings ---------------------------------------------------------------


def disguised(module: s.Module) -> s.Module:
    """The same program with new names for registers and labels, and constants spelled in hexadecimal."""
    items = []
    debug = "debug" in module.target  # in this case DWARF sections refer to registers and labels by name
    for item in module.items:
        if isinstance(item, s.Function) and item.body is not None:
            item = structs.replace(item, body=_renamed(item.body, {}, not debug))
        items.append(item)
    return structs.replace(module, items=tuple(items))


def _declared(block: s.Block) -> dict[str, str]:
    """New names for the declarations of a scope, all distinct: an inner scope must not shadow an outer name that it
    uses. The key of a range `%r<9>` is its prefix and "<".
    """
    names = {}
    for statement in block.statements:
        match statement:
            case s.Label(name=name) | s.Table(name=name) | s.Prototype(name=name):
                names[name] = f"L_{next(_serial)}_x"
            case s.Variable(space=".reg", declarators=declarators):
                for d in declarators:
                    names[d.name + ("<" if d.count is not None else "")] = f"%Q{next(_serial)}_"
    return names


def _new_name(name: str, names: dict[str, str]) -> str:
    stem, dot, component = name.partition(".")
    if stem in names:
        return names[stem] + dot + component
    digits = len(stem) - len(stem.rstrip("0123456789"))
    prefix = stem[: len(stem) - digits] + "<"
    if digits and prefix in names:
        return names[prefix] + stem[len(stem) - digits :] + dot + component
    return name


def _renamed(node, names: dict[str, str], rename: bool = True):
    """A node with the names in scope replaced."""
    match node:
        case s.Block():
            inner = names | _declared(node) if rename else names
            return s.Block(tuple(_renamed(statement, inner, rename) for statement in node.statements))
        case s.Name(text=text):
            return s.Name(_new_name(text, names))
        case s.Int(value=value, unsigned=unsigned):
            return s.Name(f"{'-' if value < 0 else ''}0x{abs(value):X}{'U' if unsigned else ''}")
        case s.Float(bits=bits, width=width):
            return s.Name(f"0{'F' if width == 32 else 'D'}{bits:0{width // 4}x}")
        case s.Memory(base=base, offset=offset, rest=rest):
            new = _renamed(base, names, rename)
            if offset is not None:
                new = s.Binary("+", new, s.Name(f"{'-' if offset < 0 else ''}0x{abs(offset):x}"))
            return s.Memory(new, None, tuple(_renamed(item, names, rename) for item in rest))
        case s.Guard(name=name):
            return s.Guard(_new_name(name, names), node.negated)
        case s.Label(name=name):
            return s.Label(names.get(name, name))
        case s.Table(name=name, targets=targets):
            return s.Table(names.get(name, name), node.kind, tuple(_new_name(t, names) for t in targets))
        case s.Prototype(name=name):
            return structs.replace(node, name=names.get(name, name))
        case s.Declarator(name=name, count=count):
            new = names.get(name + ("<" if count is not None else ""), name)
            return structs.replace(node, name=new)
        case s.Location() | s.Pragma() | s.Align() | s.Attribute():
            return node
        case s.Variable(space=space) if space != ".reg":
            return node
    if isinstance(node, Record):
        return type(node)(**{name: _renamed(value, names, rename) for name, value in structs.asdict(node).items()})
    if isinstance(node, tuple):
        return tuple(_renamed(item, names, rename) for item in node)
    return node
