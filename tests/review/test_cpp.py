"""The reader of CUDA C++: declarations of shared arrays, their accesses, constants; it ignores code that it does not
understand.
"""

from __future__ import annotations

import pytest

from ptxaudit.review.fix.cpp import read, value_of


def declared(text: str):
    return read(text).declarations


@pytest.mark.parametrize(
    ("text", "name", "type", "dims"),
    [
        ("__shared__ float s[32];", "s", "float", ["32"]),
        ("__shared__ alignas(16) float s[N][N + 1];", "s", "float", ["N", "N + 1"]),
        ("__align__(16) __shared__ unsigned char s[sizeof(T) * 4];", "s", "unsigned char", ["sizeof(T) * 4"]),
        ("static __shared__ typename A<B, 3>::C s[2];", "s", "typename A<B, 3>::C", ["2"]),
        (
            "__shared__ cub::BlockScan<int, 128>::TempStorage storage;",
            "storage",
            "cub::BlockScan<int, 128>::TempStorage",
            [],
        ),
        ("__shared__ struct { float a[3]; int b; } s;", "s", "struct { float a[3]; int b; }", []),
        ("extern __shared__ volatile float s[];", "s", "float", [""]),
        ("__shared__ float s[A > B ? A : B];", "s", "float", ["A > B ? A : B"]),
    ],
)
def test_shared_array_declarations_are_read(text, name, type, dims) -> None:
    (found,) = declared(f"__global__ void k() {{ {text} }}")
    assert (found.name, found.type.text, [dim.text for dim in found.dims]) == (name, type, dims)
    assert found.external == text.startswith("extern") and found.function == "k" and found.alone


def test_several_arrays_of_one_statement_are_read() -> None:
    first, second = declared("__global__ void k() { __shared__ float a[4], b[N][2]; }")
    assert (first.name, second.name, second.type.text, first.alone) == ("a", "b", "float", False)


@pytest.mark.parametrize(
    "text",
    [
        "__shared__ float* p;",
        "__shared__",
        "__shared__ float s[32",
        "// __shared__ float s[32];",
        '"__shared__ float s[32];"',
        "\n#define S __shared__ float s[32];\n",
    ],
)
def test_text_without_a_shared_array_has_no_declaration(text) -> None:
    assert declared(f"void k() {{ {text} }}") == ()


def test_declaration_has_its_function_and_template_parameters() -> None:
    text = """
namespace a { struct B {
    template <typename T, int N = 4, bool ...Rest>
    __device__ __launch_bounds__(128) static T f(const T* x) const { if (x) { for (;;) { __shared__ T s[N]; } } return *x; }
}; }
"""
    (found,) = declared(text)
    assert (found.function, found.templates[:2]) == ("f", ("T", "N")) and found.line == 4


def test_accesses_of_an_array_are_read() -> None:
    text = """
void k() {
    __shared__ P s[8][9];
    s[a[i]][j + 1].x = 1;             // s[0][0]
    f(&s[2][3], s[4], other.s[1], t->s[2], ns::s[3]);
    g(s); a & s[5][6];
}
void l() { s[7][8]; }
"""
    source = read(text)
    (declaration,) = source.declarations
    found = source.accesses(declaration)
    assert [([index.text for index in one.indices], one.member, one.of_address, one.line) for one in found] == [
        (["a[i]", "j + 1"], "x", False, 4),
        (["2", "3"], "", True, 5),
        (["4"], "", False, 5),
        ([], "", False, 6),
        (["5", "6"], "", False, 6),
    ]
    assert text[found[0].start : found[0].end] == "s[a[i]][j + 1].x"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("32", 32),
        ("0x20u", 32),
        ("1'000", 1000),
        ("4 * (N + 1)", 68),
        ("N << 2 | 1", 65),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("sizeof(float) * M", 32),
        ("2 + 3 * 4", 14),
        ("K", None),
        ("f(3)", None),
        ("1.5", None),
        ("", None),
        ("1 / 0", None),
        ("A", None),
        ("3 3", None),
        ("(3", None),
        ("16 > 3", None),
    ],
)
def test_constant_expressions_are_evaluated(text, value) -> None:
    assert value_of(text, {"N": 16, "M": "N / 2", "A": "B", "B": "A"}) == value


def test_constants_of_a_file_are_collected() -> None:
    text = (
        "#define TILE 32 // a comment\n#define F(x) x\nconstexpr int kRow = TILE + 1, kMore = 2;\nconst unsigned kSize"
        " = kRow * 4;\nenum { kOne = 1 };\nint x = 3;\n"
    )
    known = read(text).constants
    assert {name: value_of(name, known) for name in ("TILE", "kRow", "kSize", "kOne")} == {
        "TILE": 32,
        "kRow": 33,
        "kSize": 132,
        "kOne": 1,
    }
    assert "F" not in known


def test_macro_that_names_an_array_is_found() -> None:
    source = read("#define AT(i) \\\n    tile[i]\n#define OTHER tiles\n")
    assert source.macros_with("tile") == ["AT"]
