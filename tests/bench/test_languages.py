"""bench/languages: the output of other languages' compilers becomes a plan that a GPU can launch."""

from bench.adversary.plan import CUBINS, read
from bench.adversary.program import Fill
from bench.adversary.truth import members
from bench.languages.plan import Buffer, Compiled, write

ONE = Compiled(
    "triton000_sum",
    "sum",
    b"a cubin",
    "",
    "sum",
    (2, 1, 1),
    (128, 1, 1),
    512,
    (Buffer("float16"), 64, 0.5, Buffer("int32")),
    "triton 3.9.0",
    scratch=1,
)


def test_planned_launch_has_its_arguments_in_order_padded_with_zeros(tmp_path):
    write(tmp_path, [ONE], 20000)
    (launch,) = read(tmp_path)
    assert [(p["kind"], p["size"], p["value"]) for p in launch["parameters"]] == [
        ("buffer", 8, "b0"),
        ("number", 4, 64),
        ("number", 4, 0.5),
        ("buffer", 8, "b3"),
        ("buffer", 8, "scratch0"),
    ]
    assert (launch["seed"], launch["build"], launch["cubin"], launch["dynamic_shared"]) == (
        20000,
        "triton",
        "triton000_sum.cubin",
        512,
    )
    assert members(tmp_path / CUBINS, {launch["cubin"]}) == {launch["cubin"]: b"a cubin"}
    first, last = (Fill(**launch["buffers"][name]).data() for name in ("b0", "scratch0"))
    assert first.dtype == "float16" and first.nbytes == last.nbytes == 1 << 16
    assert first.max() == 12 and first.min() == 0 and not last.any()
