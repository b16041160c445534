"""How bench/recorded/programs finds the programs of a suite, and how it runs them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.recorded.programs import REPEATS, compiled, held, how_it_is_run, programs

MAKEFILE = """\
program = main
$(program): main.cu
\tnvcc $< -o $@
run: $(program)
\t$(LAUNCHER) ./$(program) {arguments}
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    for name, text in (("scan-cuda", "__shared__ int s[32];"), ("copy-cuda", ""), ("scan-hip", "__shared__ int s;")):
        folder = tmp_path / "src" / name
        folder.mkdir(parents=True)
        (folder / "main.cu").write_text(text)
    return tmp_path


def test_programs_that_use_shared_memory_are_selected(suite: Path) -> None:
    assert [program.name for program in programs(suite)] == ["scan-cuda"]
    sample = suite / "samples" / "Samples" / "0_Introduction" / "matrixMul"
    sample.mkdir(parents=True)
    (sample / "matrixMul.cu").write_text("__shared__ float tile[32][32];")
    (one,) = programs(suite / "samples")
    assert one == compiled(sample, suite / "samples")
    assert one.build[0] == "nvcc" and "matrixMul.cu" in one.build and how_it_is_run(one) == ["./main"]


@pytest.mark.parametrize(
    "arguments, run",
    [
        ("1000 100", ["./main", "1000", str(REPEATS)]),
        ("../data/graph.txt 3", ["./main", "../data/graph.txt", "3"]),  # not how often it is timed
        ('-n "two words"', ["./main", "-n", "two words"]),
        ("", ["./main"]),
    ],
)
def test_program_runs_with_its_makefile_arguments_and_few_repetitions(suite: Path, arguments, run) -> None:
    (program,) = programs(suite)
    (program.folder / "Makefile").write_text(MAKEFILE.format(arguments=arguments))
    assert how_it_is_run(program) == run


def test_makefile_without_a_run_target_gives_no_command(suite: Path) -> None:
    (program,) = programs(suite)
    (program.folder / "Makefile").write_text("all:\n\ttrue\n")
    assert how_it_is_run(program) == []


def test_every_file_with_a_main_function_is_a_program(tmp_path: Path) -> None:
    for name, text in {
        "a/one.cu": "#include <cub/cub.cuh>\nint main() {}",
        "a/two.cu": "__shared__ int s;\nint main(int argc, char** argv) { cublasCreate(0); }",
        "a/part.cu": "__shared__ int s;",
        "none.cu": "int main() {}",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    one, two = programs(tmp_path, [tmp_path / "include"])
    assert one.name == f"{tmp_path.name}-a-one" and one.folder == tmp_path / "a" and one.run == [f"./{one.name}.out"]
    assert f"-I{tmp_path / 'include'}" in one.build and one.build[-3:] == ["one.cu", "-o", f"{one.name}.out"]
    assert two.build[-1] == "-lcublas"


def test_program_without_counters_is_reported(tmp_path: Path) -> None:
    (tmp_path / "source.csv").write_text('"Kernel Name","k()"\n"Address","Source"\n"0x10","EXIT"\n')
    (tmp_path / "raw.csv").write_text('"ID","Kernel Name","Block Size","Grid Size"\n"0","k","(1, 1, 1)","(1, 1, 1)"\n')
    counts, (line,) = held(tmp_path, "shared")
    assert not counts and "source.csv:2" in line and "Instructions Executed" in line
