"""First use: mistakes get a message that suggests what was meant."""

import pytest
from command_line import folder_with, run
from kernels import COLUMN, PITCH

import ptxaudit
from ptxaudit.base.errors import InputError

AMD = b"\x7fELF\x02\x01\x01\x40" + bytes(8) + b"\x03\x00\xe0\x00" + bytes(300)

here = folder_with({"column.cu": COLUMN, "pitch.cu": PITCH})


@pytest.mark.parametrize(
    "words, said",
    [
        (["audti", "column.cu"], "No such command 'audti'. Did you mean audit?"),
        (["xplain"], "Did you mean explain?"),
        (["column.cu"], "No such command 'column.cu'. To audit the file: main audit column.cu"),
        (["audit", "column.cu", "--arch", "90"], "did you mean sm_90? There are sm_50, "),
        (["audit", "column.cu", "--arch", "sm90a"], "did you mean sm_90a? There are"),
        (["audit", "column.cu", "--fail-no", "excess=1"], "--fail-on"),
        (
            ["audit", "pitch.cu", "--grid", "1", "--block", "32", "--param", "n=abc"],
            "'abc' is neither a number, nor \"?\", nor pairs of hexadecimal digits",
        ),
        (
            ["audit", "pitch.cu", "--grid", "1", "--block", "32", "--param", "n=abc"],
            "   = help: a number is 1024 or 0.5, an unknown value ?, the data behind a pointer @FILE",
        ),
    ],
)
def test_mistake_suggests_the_intended_words(here, words, said):
    assert said in run(*words, status=2).stderr


def test_at_file_in_a_launch_file_suggests_a_table(here):
    (here / "launch.toml").write_text(
        '[[launch]]\nkernel = "pitch"\ngrid = [1]\nblock = [32]\nparams = ["?", "@in.u32", 1]\n'
    )
    said = run("audit", "pitch.cu", "--launch", "launch.toml", status=2).stderr
    assert "'@in.u32' is neither a number" in said and '{file = "FILE", type = "u32"}' in said and "@FILE" not in said


def test_unrelated_words_get_no_suggestion(here):
    assert run("sell", status=2).stderr.endswith("No such command 'sell'.\n")
    assert "did you mean" not in run("audit", "column.cu", "--arch", "hopper", status=2).stderr


@pytest.mark.parametrize(
    "name, content, said",
    [
        ("README.md", f"# Kernels\n\n```cuda\n{COLUMN}```\n", "this is neither CUDA source nor PTX"),
        (
            "train.py",
            f"SOURCE = '''{COLUMN}'''\n",
            "name what the program compiles: a Triton, CuPy or Numba",
        ),
        ("kernel.hsaco", AMD, "this is code for a GPU of AMD"),
        ("kernel.hsaco", AMD, "ptxaudit reads NVIDIA's PTX and machine code"),
    ],
)
def test_unsupported_file_is_named_by_its_kind(here, name, content, said):
    (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("audit", name, status=2)
    assert said in result.stderr and f"  --> {name}" in result.stderr and "identifier" not in result.stderr


def test_defines_are_a_mapping_or_words(here):
    source = COLUMN.replace("32", "SIZE")

    def audited(defines):
        return ptxaudit.audit(source, defines=defines, launches=[ptxaudit.Launch("column", grid=1, block=32)])

    wanted = audited(["SIZE=32"]).kernels
    assert (
        wanted and audited({"SIZE": 32}).kernels == audited({"SIZE": "32", "OFF": None, "ON": True}).kernels == wanted
    )
    assert (
        ptxaudit.audit(
            COLUMN + "#if !ON || OFF || !defined(BARE)\n#error\n#endif\n",
            defines={"ON": True, "OFF": False, "BARE": None},
        ).problems
        == ()
    )


@pytest.mark.parametrize("defines", [3, [3], ["A", None], {"A": [1]}, {1: 2}])
def test_invalid_define_suggests_a_mapping(defines):
    with pytest.raises(InputError, match=r"is not a macro — write .*\{\"PAD\": 0\}"):
        ptxaudit.audit(COLUMN, defines=defines)
