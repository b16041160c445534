"""Device code from every kind of container: fat binaries, objects, programs, archives, caches of Python libraries."""

from __future__ import annotations

import json
import pickle
import struct
import subprocess
import zlib
from functools import lru_cache
from hashlib import sha1
from pathlib import Path

import pytest
from machine_code import PROLOGUE, from_ptx

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.artifacts import container
from ptxaudit.frontend.artifacts.container import images, read_images
from ptxaudit.frontend.compile import toolchains
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.options import Options
from ptxaudit.pipeline.examine import list_kernels

KERNEL = """.visible .entry %s(.param .u64 p)
{ .reg .u32 %%r<5>; .reg .u64 %%d<2>; .shared .align 16 .b8 a[4096];
  mov.u32 %%r2, %%tid.x; mov.u32 %%r3, a; mad.lo.u32 %%r3, %%r2, %d, %%r3; st.shared.u32 [%%r3], %%r2; bar.sync 0;
  xor.b32 %%r2, %%r2, 1; mov.u32 %%r4, a; mad.lo.u32 %%r4, %%r2, %d, %%r4; ld.shared.u32 %%r1, [%%r4];
  ld.param.u64 %%d1, [p]; st.global.u32 [%%d1], %%r1; ret; }
"""
ARCHS = ("sm_75", "sm_90", "sm_120")
WARP = [Launch("*", grid=1, block=32)]


def kernel(name: str, pitch: int) -> str:
    return KERNEL % (name, pitch, pitch)


@lru_cache
def fat_binary(*options: str) -> bytes:
    """NVIDIA's packer on three cubins and the PTX of one kernel, whose accesses take 2 wavefronts each."""
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    if not packer.is_file():
        pytest.skip("the compiler's package has no fatbinary")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        command = [str(packer), "--create=k.fatbin", "-64", *options]
        for arch in ARCHS:
            Path(folder, f"{arch}.cubin").write_bytes(from_ptx(kernel("k", 8), arch))
            command.append(f"--image3=kind=elf,sm={arch[3:]},file={arch}.cubin")
        Path(folder, "k.ptx").write_text(PROLOGUE.format(arch="sm_75") + kernel("k", 8))
        command.append("--image3=kind=ptx,sm=75,file=k.ptx")
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return Path(folder, "k.fatbin").read_bytes()


def host(section: str, payload: bytes) -> bytes:
    """A 64-bit x86 ELF file with one section besides its names."""
    names = b"\0.shstrtab\0" + section.encode() + b"\0"
    at = 64 + len(names) + -len(names) % 16
    table = at + len(payload) + -len(payload) % 16
    header = struct.pack("<4sBBB9xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 1, 62, 1, 0, 0, table, 0, 64, 0, 0, 64, 3, 1)
    sections = bytes(64)
    for name, kind, offset, size in ((1, 3, 64, len(names)), (11, 1, at, len(payload))):
        sections += struct.pack("<IIQQQQIIQQ", name, kind, 0, 0, offset, size, 0, 0, 1, 0)
    body = header + names
    body += bytes(at - len(body)) + payload
    return body + bytes(table - len(body)) + sections


def archive(**members: bytes) -> bytes:
    """A static library."""
    out = b"!<arch>\n"
    for name, data in members.items():
        out += (
            f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{0o644:<8o}{len(data):<10}".encode()
            + b"`\n"
            + data
            + b"\n" * (len(data) % 2)
        )
    return out


def summary(path: Path, **options) -> list[tuple]:
    """(isa, arch, wavefronts of the sites) of each kernel of a clean audit."""
    report = ptxaudit.audit(path, launches=WARP, **options)
    assert not report.problems, report.problems
    return [(kernel.isa, kernel.arch, [site.wavefronts for site in kernel.sites]) for kernel in report.kernels]


MACHINE_CODE = [("sass", arch, [2, 2]) for arch in ARCHS]
PACKED = {
    "as it is": ("--compress=false",),
    "compressed": ("--compress-all",),
    "compressed for size": ("--compress-all", "--compress-mode=size"),
    "with the source's name": ("--compress-all", "--ident=k.cu", "--device-c"),
}


@pytest.mark.parametrize("options", PACKED.values(), ids=PACKED)
def test_fat_binary_of_every_packing_is_read(tmp_path, options):
    data = fat_binary(*options)
    found = images("k.fatbin", data)
    assert [(image.kind, image.arch) for image in found] == [*(("cubin", arch) for arch in ARCHS), ("ptx", "sm_75")]
    assert all(image.compressed == ("compress" in options[0] and "false" not in options[0]) for image in found[:3])
    unpacked = {image.name: content for image, content in read_images(found)}
    assert unpacked["k.fatbin#2"] == from_ptx(kernel("k", 8), "sm_90")
    (tmp_path / "k.fatbin").write_bytes(data)
    assert summary(tmp_path / "k.fatbin") == MACHINE_CODE
    assert summary(tmp_path / "k.fatbin", arch="sm_90") == MACHINE_CODE[1:2]
    assert summary(tmp_path / "k.fatbin", isa="ptx") == [("ptx", "sm_75", [2, 2])]


@pytest.mark.parametrize(
    "wrap",
    (
        lambda data: host(".nv_fatbin", data),
        lambda data: host("__nv_relfatbin", data),
        lambda data: host(".data", b"x" * 4096 + data),
        lambda data: archive(first_o=host(".text", b"no device code"), second_o=host(".nv_fatbin", data)),
    ),
    ids=("program", "object with relocatable code", "without its section", "archive"),
)
def test_device_code_in_host_files_is_found(tmp_path, wrap):
    (tmp_path / "host").write_bytes(wrap(fat_binary("--compress-all")))
    assert summary(tmp_path / "host") == MACHINE_CODE
    assert summary(tmp_path) == MACHINE_CODE  # found in a folder, by its content


def test_fat_binary_outside_its_section_is_found(tmp_path):
    """As in cuFFT, whose kernels lie among its data, where a chance occurrence of the magic number is not damage."""
    data = fat_binary("--compress-all")
    program = host(".nv_fatbin", data)
    assert len(images("k", program)) == 4
    found = images("k", program + data + b"behind it" + data)
    assert [image.arch for image in found] == 3 * [*ARCHS, "sm_75"]
    for by_chance in (data[:4] + bytes(60), data[:16] + b"\xff" * 64, data[: len(data) // 2]):
        found = images("k", program + by_chance)
        assert [image.damage for image in found] == 4 * [None]
    assert len(images("k", program + data[:16] + b"\xff" * 64 + data)) == 8


def test_nested_broken_fat_binaries_take_linear_time(tmp_path, monkeypatch):
    """Each entry ends with the header of a fat binary that holds all later entries, and claims to end a byte before
    they do.
    """
    count, head, entry = 3000, 16, 64
    part = entry + head
    length = count * part
    made = bytearray()
    for k in range(count):
        left = length - (k + 1) * part
        made += container._ENTRY.pack(9, 0, entry, head, 0).ljust(entry, b"\0")
        made += container._HEADER.pack(container.FATBIN_MAGIC, 1, head, max(left - 1, 0))
    path = tmp_path / "lib.so"
    path.write_bytes(host(".nv_fatbin", fat_binary("-arch=sm_90")) + made)
    calls = []
    walk = container._entry
    monkeypatch.setattr(container, "_entry", lambda *given: calls.append(1) or walk(*given))
    found = container.images(str(path))
    assert len(calls) < 4 * count
    assert "too many broken fat binaries" in str(found[-1].damage)
    assert any(image.kind == "cubin" for image in found)


def test_archive_members_with_one_source_name_are_distinguished(tmp_path):
    """As nvcc -dc makes them: the entries carry their source's name, which does not distinguish them."""
    data = fat_binary("--compress-all", "--ident=k.cu", "--device-c")
    (tmp_path / "libk.a").write_bytes(archive(a_o=host(".nv_fatbin", data), b_o=host(".nv_fatbin", data)))
    assert sorted(summary(tmp_path / "libk.a")) == sorted(2 * MACHINE_CODE)


def cupy_entry(cubin: bytes) -> bytes:
    return sha1(cubin).hexdigest().encode() + cubin


def numba_entry(cubin: bytes, ptx: bytes) -> bytes:
    return pickle.dumps(
        ({"name": "k", "_cubin_cache": {(9, 0): cubin}, "_ptx_cache": {(9, 0): [ptx.decode()]}}, "rest"), protocol=5
    )


def jax_entry(cubin: bytes) -> bytes:
    return zlib.compress(b"\x0a\x04name" + cubin + b"\x12\x01z")


@pytest.mark.parametrize(
    "name, entry",
    (
        ("0123abcd.cubin", cupy_entry),
        ("module.k-7.py311.1.nbc", lambda cubin: numba_entry(cubin, b".version 9.0\n.target sm_90\n" + b"{ }\n")),
        ("jit_f-0123-cache", jax_entry),
    ),
    ids=("CuPy", "Numba", "JAX"),
)
def test_cache_entries_of_python_libraries_are_read(tmp_path, name, entry):
    cubin = from_ptx(kernel("k", 8), "sm_90")
    (tmp_path / name).write_bytes(entry(cubin))
    for given in (tmp_path / name, tmp_path):
        assert summary(given) == MACHINE_CODE[1:2]
    assert [content for _, content in read_images(images(str(tmp_path / name)))][0] == cubin


def test_cupy_entry_without_its_last_byte_is_read(tmp_path):
    """CuPy's getCUBIN takes the highest byte of the last program header for the terminating zero of a string."""
    cubin = from_ptx(kernel("k", 8), "sm_90")
    assert cubin[-1] == 0
    (tmp_path / "0123abcd.cubin").write_bytes(cupy_entry(cubin[:-1]))
    (tmp_path / "plain").write_bytes(cubin[:-1])
    for name in ("0123abcd.cubin", "plain"):
        assert summary(tmp_path / name) == MACHINE_CODE[1:2]
    (tmp_path / "plain").write_bytes(cubin[:-2])
    assert (
        "tables extend beyond the end of the file"
        in ptxaudit.audit([tmp_path / "0123abcd.cubin", tmp_path / "plain"]).problems[0].what
    )


def without_segments(cubin: bytes) -> bytearray:
    """As in nvjet's kernels of cuBLAS: linked, without a program header table after the section header table."""
    sections, size, number = struct.unpack_from("<40xQ10xHH", cubin, 0)
    whole = bytearray(cubin[: sections + size * number])
    struct.pack_into("<Q", whole, 32, 0)  # e_phoff
    struct.pack_into("<HH", whole, 54, 0, 0)  # e_phentsize, e_phnum
    return whole


def test_linked_cubin_without_segments_is_read(tmp_path):
    cubin = without_segments(from_ptx(kernel("k", 8), "sm_90"))
    (tmp_path / "k.cubin").write_bytes(cubin)
    assert summary(tmp_path / "k.cubin") == MACHINE_CODE[1:2]
    struct.pack_into("<Q", cubin, 32, len(cubin))
    (tmp_path / "k.cubin").write_bytes(cubin)
    (problem,) = ptxaudit.audit(tmp_path / "k.cubin").problems
    assert "neither a linked cubin nor an object" in problem.what


def test_object_with_relocations_is_not_taken_for_linked_code(tmp_path):
    """Its remaining relocations identify it."""
    source = tmp_path / "k.ptx"
    source.write_text(PROLOGUE.format(arch="sm_90") + kernel("k", 8))
    command = [toolchains.get("nvcc").path, "-arch=sm_90", "-rdc=true", "-cubin", "-o", tmp_path / "k.o.cubin", source]
    subprocess.run(command, check=True, capture_output=True)
    cubin = bytearray((tmp_path / "k.o.cubin").read_bytes())
    assert struct.unpack_from("<H", cubin, 16)[0] == 1 and b".rela." in cubin
    struct.pack_into("<H", cubin, 16, 2)
    (tmp_path / "k.cubin").write_bytes(cubin)
    (problem,) = ptxaudit.audit(tmp_path / "k.cubin").problems
    assert "neither a linked cubin nor an object" in problem.what


def test_triton_cache_entry_is_audited_once(tmp_path):
    folder = tmp_path / "ABC123"
    folder.mkdir()
    (folder / "k.cubin").write_bytes(from_ptx(kernel("k", 8), "sm_90"))
    (folder / "k.ptx").write_text(PROLOGUE.format(arch="sm_90") + kernel("k", 8))
    (folder / "k.json").write_text("{}")
    assert summary(tmp_path) == summary(tmp_path, isa="sass") == MACHINE_CODE[1:2]
    assert summary(tmp_path, isa="ptx") == [("ptx", "sm_90", [2, 2])]
    assert sorted(isa for isa, _, _ in summary(tmp_path, isa="both")) == ["ptx", "sass"]


def test_object_code_of_cuda_core_is_audited(tmp_path):
    from cuda.core import ObjectCode

    cubin = from_ptx(kernel("k", 8), "sm_90")
    (tmp_path / "k.cubin").write_bytes(cubin)
    for code in (ObjectCode.from_cubin(cubin, name="k"), ObjectCode.from_cubin(str(tmp_path / "k.cubin"), name="k")):
        assert summary(code) == MACHINE_CODE[1:2]


# --- contents ------------------------------------------------------------------------------


def test_listing_disassembles_nothing(tmp_path, monkeypatch):
    from ptxaudit.frontend.options import Options
    from ptxaudit.ui.render.listing import listing_json, listing_text

    monkeypatch.setattr("ptxaudit.frontend.sass.disassemble.disassemble", None)
    (tmp_path / "k.fatbin").write_bytes(fat_binary("--compress-all"))
    listed, problems = list_kernels([tmp_path / "k.fatbin"], Options())
    assert not problems and [entry.function.arch for entry in listed] == [*ARCHS, "sm_75"]
    assert all(entry.image.compressed for entry in listed[:3]) and listed[0].image.lines
    assert listed[0].sites is None and listed[0].code > 0 and listed[0].registers > 0 and listed[3].sites is None
    text = "".join(listing_text(listed))
    assert (
        "k.fatbin#1: cubin for sm_75" in text
        and "(compressed), with line information" in text
        and text.endswith("4 kernels\n")
    )
    assert [entry["image"]["compressed"] for entry in json.loads("".join(listing_json(listed)))][0] and json.loads(
        "".join(listing_json([]))
    ) == []
    assert len(list_kernels([tmp_path / "k.fatbin"], Options(arch="sm_90"))[0]) == 1


def test_kernels_are_selected_before_disassembly(tmp_path, monkeypatch):
    from ptxaudit.frontend.sass import disassemble

    seen = []
    disassemble.kept.clear()
    monkeypatch.setattr(
        disassemble,
        "_run",
        lambda pieces, *a, run=disassemble._run: seen.extend(p.function.name for p in pieces) or run(pieces, *a),
    )
    (tmp_path / "k.cubin").write_bytes(
        from_ptx(kernel("first", 4) + kernel("second", 8).replace("a[", "b[").replace(", a", ", b"), "sm_90")
    )
    report = ptxaudit.audit(tmp_path / "k.cubin", kernels=["sec*"], launches=[Launch("second", grid=1, block=32)])
    assert not report.problems and seen == ["second"] and [k.name for k in report.kernels] == ["second"]
    report = ptxaudit.audit(tmp_path / "k.cubin", kernels=["third"])
    assert "there is no kernel 'third'" in report.problems[0].what and "second, first" in report.problems[0].hint


# --- bad input ------------------------------------------------------------------------------


def test_damaged_entry_leaves_the_others(tmp_path):
    data = bytearray(fat_binary("--compress-all"))
    second = images("k.fatbin", bytes(data))[1]
    at = bytes(data).find(bytes(second._payload))
    data[at + 16 : at + 200] = b"\xff" * 184
    (tmp_path / "k.fatbin").write_bytes(data)
    report = ptxaudit.audit(tmp_path / "k.fatbin", launches=WARP)
    assert [kernel.arch for kernel in report.kernels] == ["sm_75", "sm_120"]
    assert report.problems and all("k.fatbin" in problem.file for problem in report.problems)


def test_images_before_the_damage_are_audited(tmp_path):
    whole = fat_binary("--compress=false")
    second = whole.index(from_ptx(kernel("k", 8), "sm_90")) - 64  # the latest possible start of its entry
    (tmp_path / "k.fatbin").write_bytes(
        whole[: second - 16] + b"\xff" * 80 + whole[second + 64 :] + fat_binary("--compress-all")
    )
    report = ptxaudit.audit(tmp_path / "k.fatbin", launches=WARP)
    assert [kernel.arch for kernel in report.kernels] == ["sm_75", "sm_75", "sm_90", "sm_120"]
    (problem,) = report.problems
    assert "damaged fat binary" in problem.what and problem.hint
    listing, problems = list_kernels([tmp_path / "k.fatbin"], Options())
    assert len(listing) == 5 and [one.what for one in problems] == [problem.what]
    assert ptxaudit.audit(
        tmp_path / "k.fatbin", arch="sm_90"
    ).problems  # the damaged part may have been of any architecture


def test_truncated_host_file_is_reported(tmp_path):
    whole = host(".nv_fatbin", fat_binary("--compress-all"))
    for name, data in (("k.o", whole[:-100]), ("k.a", archive(a=whole)[:-100]), ("l.a", archive(a=whole[:-100]))):
        (tmp_path / name).write_bytes(data)
        report = ptxaudit.audit(tmp_path / name)
        assert {kernel.arch for kernel in report.kernels} == set(ARCHS)
        assert [problem.what.split()[0] for problem in report.problems] in (
            ["truncated"],
            ["truncated:"],
        ) and name in report.problems[0].file


def test_empty_symbol_table_is_a_stripped_cubin():
    data = bytearray(from_ptx(kernel("k", 8), "sm_90"))
    table, count = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    for at in range(table, table + 64 * count, 64):
        if struct.unpack_from("<I", data, at + 4)[0] == 2:  # SHT_SYMTAB
            struct.pack_into("<Q", data, at + 32, 0)
    (problem,) = ptxaudit.audit(bytes(data)).problems
    assert problem.what.startswith("stripped")


def test_stripped_image_is_reported_by_name(tmp_path):
    data = from_ptx(kernel("k", 8), "sm_90").replace(b"\0.symtab\0", b"\0.nothing")
    (tmp_path / "k.fatbin").write_bytes(data)
    packed = fat_binary("--compress=false").replace(from_ptx(kernel("k", 8), "sm_90"), data)
    (tmp_path / "k.fatbin").write_bytes(packed)
    report = ptxaudit.audit(tmp_path / "k.fatbin")
    (problem,) = report.problems
    assert problem.what.startswith("stripped") and problem.file.endswith("k.fatbin#2") and len(report.kernels) == 2


@pytest.mark.parametrize("length", (4, 15, 30, 79, 100, 1000))
def test_truncated_fat_binary_is_rejected(length):
    with pytest.raises(InputError):
        list(read_images(images("k.fatbin", fat_binary("--compress=false")[:length])))


def test_truncated_archive_is_rejected():
    with pytest.raises(InputError):
        images("k.a", archive(a=b"x" * 100)[:-40] + b"rubbish" * 20)


def test_undecodable_cache_entry_has_no_device_code():
    with pytest.raises(InputError, match="no device code"):
        images("x-cache", zlib.compress(b"nothing here"))
    with pytest.raises(InputError, match="no device code"):
        images("x-cache", b"\x78\x9crubbish")


def test_large_library_is_not_read_into_memory(tmp_path):
    """Other data around one image, larger than the 300 MB that the process may take."""
    import sys

    image = fat_binary("--compress-all")
    with (tmp_path / "libk.so").open("wb") as file:
        head = host(".nv_fatbin", image)
        file.write(head)
        file.truncate(320 << 20)
    code = (  # not getrusage(): its maximum includes that of the parent process
        "import ptxaudit, re, sys; r = ptxaudit.audit(sys.argv[1], arch='sm_90');"
        r"peak = re.search(r'VmHWM:\s*(\d+) kB', open('/proc/self/status').read())[1];"
        "print(len(r.kernels), len(r.problems), int(peak) // 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "libk.so")], capture_output=True, text=True, check=True
    )
    kernels, problems, megabytes = map(int, done.stdout.split())
    assert (kernels, problems) == (1, 0) and megabytes < 300


@pytest.fixture
def library_of_old_images(tmp_path) -> str:
    """Images for sm_60, which the disassembler does not read, along with one for sm_70, one for sm_90 and PTX."""
    packer = Path(toolchains.get("nvcc").path).parent / "fatbinary"
    if not packer.is_file():
        pytest.skip("the compiler's package has no fatbinary")
    recent, command = from_ptx(kernel("k", 8), "sm_90"), [str(packer), "--create=k.fatbin", "-64"]
    (flags,) = struct.unpack_from("<I", recent, 48)
    at = 8 if flags >> 8 & 0xFF == 90 else 0
    for number, sm in enumerate((60, 70, 60, 90, 60)):
        data = bytearray(recent)
        struct.pack_into("<I", data, 48, flags & ~(0xFF << at) | sm << at)
        (tmp_path / f"{number}.cubin").write_bytes(data)
        command.append(f"--image3=kind=elf,sm={sm},file={number}.cubin")
    (tmp_path / "k.ptx").write_text(PROLOGUE.format(arch="sm_75") + kernel("k", 8))
    several = [[*command[:3], one] for one in (*command[3:], "--image3=kind=ptx,sm=75,file=k.ptx")]
    whole = b""
    for one in several:  # packed separately: the packer keeps one image per architecture
        subprocess.run(one, cwd=tmp_path, check=True, capture_output=True)
        whole += (tmp_path / "k.fatbin").read_bytes()
    (tmp_path / "lib.o").write_bytes(host(".nv_fatbin", whole))
    return str(tmp_path / "lib.o")


@pytest.mark.parametrize("jobs", (1, 2))
def test_unsupported_images_are_one_problem_per_architecture(library_of_old_images, jobs) -> None:
    path = library_of_old_images
    report = ptxaudit.audit(path, launches=WARP, jobs=jobs)
    assert [kernel.arch for kernel in report.kernels] == ["sm_90"]
    several, one = report.problems
    assert several.what.startswith("machine code for sm_60 in 3 images;") and several.file == path
    assert several.images == (f"{path}#1", f"{path}#3", f"{path}#5")
    assert one.what.startswith("machine code for sm_70;") and one.file == f"{path}#2" and one.images == ()
    assert all("--isa ptx" in problem.hint and "nvdisasm of CUDA 12" in problem.hint for problem in report.problems)
    assert not ptxaudit.audit(path, isa="ptx", launches=WARP).problems  # follows the hint


def test_hint_suggests_ptx_only_if_there_is_some(tmp_path, library_of_old_images) -> None:
    (only,) = ptxaudit.audit(Path(library_of_old_images).parent / "0.cubin").problems
    assert "--isa ptx" not in only.hint and "sm_75 or newer" in only.hint
