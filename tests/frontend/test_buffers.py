"""Buffers that pointers refer to, specified by files, values and arrays: read, placed, packed, reported."""

from dataclasses import replace

import numpy as np
import pytest
from kernels import PTX
from reports import validate

import ptxaudit
from ptxaudit.base.errors import InputError
from ptxaudit.frontend.launch.buffers import ALIGNMENT, TYPES
from ptxaudit.frontend.launch.launch import Launch
from ptxaudit.frontend.launch.launch_file import read_launches
from ptxaudit.frontend.launch.parameters import encode

INDICES = np.array([3, 1, 2], np.int32)


def told(*params, **more):
    return Launch("k", params=list(params), **more)


def content(launch, at=0):
    return launch.buffers[at][1].view(np.int32).tolist()


def test_array_becomes_a_buffer_at_an_aligned_address():
    launch = told(None, INDICES, 3)
    ((address, data),) = launch.buffers
    assert address % ALIGNMENT == 0 and address > 0 and data.dtype == np.uint8 and not data.flags.writeable
    assert content(launch) == [3, 1, 2] and launch.params[0] is None and launch.params[2] == 3


def test_buffer_is_a_copy_of_the_array():
    array = INDICES.copy()
    launch = told(array)
    array[:] = 0
    assert content(launch) == [3, 1, 2]


@pytest.mark.parametrize(
    "array", [INDICES.astype(">i4"), np.array([3, 0, 1, 0, 2, 0], np.int32)[::2], INDICES.reshape(3, 1)]
)
def test_array_of_any_layout_and_byte_order_is_read(array):
    assert content(told(array)) == [3, 1, 2]


def test_buffers_do_not_overlap_and_keep_their_addresses():
    launch = told(INDICES, np.zeros(1 << 20, np.uint8), (INDICES.copy(), 7), named={"4": {"values": [1]}})
    places = [(address, address + data.size) for address, data in launch.buffers]
    assert len(places) == 4 and all(end < start for (_, end), (start, _) in zip(places, places[1:]))
    assert replace(launch, named={"0": launch.named["4"]}).buffers[3][0] == launch.buffers[3][0]


def test_identical_arrays_share_a_buffer_and_equal_ones_do_not():
    assert len(told(INDICES, INDICES).buffers) == 1
    assert len(told(INDICES, INDICES.copy()).buffers) == 2


@pytest.mark.parametrize("name", TYPES)
def test_values_of_every_type_are_encoded(name):
    ((_, data),) = told({"values": [1, 0, 2], "type": name}).buffers
    assert data.view(np.dtype(TYPES[name])).tolist() == [1, 0, 2]


def test_type_of_values_is_inferred():
    assert told({"values": [1, 2]}).params[0].type == "i32"
    assert told({"values": [[1.5, 2.0]]}).params[0].type == "f32"


def test_buffer_of_zeros():
    assert content(told({"zeros": 3})) == [0, 0, 0]
    assert told({"zeros": 5, "type": "u8"}).buffers[0][1].size == 5


def test_buffer_files_are_relative_to_the_launch_file(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "idx.npy", INDICES)
    (tmp_path / "data" / "idx.bin").write_bytes(INDICES.tobytes())
    (tmp_path / "data" / "l.toml").write_text(
        '[[launch]]\nkernel = "k"\nparams = [{file = "idx.npy"}, {file = "idx.bin", type = "i32"}, {values = [3, 1,'
        ' 2]}, [{file = "idx.npy"}, 4]]\n'
    )
    monkeypatch.chdir(tmp_path)
    (launch,) = read_launches("data/l.toml")
    assert [content(launch, at) for at in range(4)] == [[3, 1, 2]] * 4
    assert launch.params[0].origin == "data/idx.npy" and launch.params[3][1] == 4


BAD = [
    ({"file": "gone.npy"}, "cannot read gone.npy: No such file"),
    ({"file": "idx.bin"}, "specify the type of its elements"),
    ({"file": "idx.bin", "type": "int"}, "there is no type 'int'"),
    ({"file": "idx.npy", "type": "i64"}, "elements of int32, not i64"),
    ({"file": "cut.npy"}, "cut.npy"),
    ({"file": "object.npy"}, "allow_pickle"),
    ({"values": []}, "not a list of numbers"),
    ({"values": [1, [2]]}, "values are not numbers"),
    ({"values": ["a"]}, "values are not numbers"),
    ({"values": [300], "type": "u8"}, "do not fit u8"),
    ({"values": [0.5], "type": "i32"}, "fractions"),
    ({"values": [1], "file": "idx.npy"}, "either a file or values"),
    ({"zeros": 0}, "not a number of elements"),
    ({"zeros": 2.5}, "not a number of elements"),
    ({"zeros": 4, "type": "bool"}, "there is no type 'bool'"),
    ({"shape": [3]}, "a buffer has no key 'shape'"),
    (np.array([], np.int32), "the array is empty"),
    (np.array([object()]), "not the contents of memory"),
]


@pytest.mark.parametrize("value, what", BAD, ids=[what for _, what in BAD])
def test_unreadable_buffer_is_rejected_with_its_parameter(tmp_path, monkeypatch, value, what):
    monkeypatch.chdir(tmp_path)
    np.save("idx.npy", INDICES)
    np.save("object.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "cut.npy").write_bytes((tmp_path / "idx.npy").read_bytes()[:-4])
    (tmp_path / "idx.bin").write_bytes(b"\0" * 8)
    with pytest.raises(InputError) as caught:
        told(None, value)
    assert what in caught.value.what and caught.value.what.startswith("params[1]: ")


def test_error_has_the_line_of_a_bad_buffer(tmp_path):
    (tmp_path / "l.toml").write_text('[[launch]]\nkernel = "k"\ngrid = [1]\nparams = [{file = "gone.npy"}]\n')
    with pytest.raises(InputError) as caught:
        read_launches(tmp_path / "l.toml")
    assert caught.value.line == 4


def test_buffer_is_packed_as_its_address():
    buffer = told(INDICES).params[0]
    assert encode(buffer, 8, "integer") == (buffer.address.to_bytes(8, "little"), b"\1" * 8)
    data, known = encode((buffer, 7), 16, "")
    assert data == buffer.address.to_bytes(8, "little") + (7).to_bytes(8, "little") and known == b"\1" * 16
    with pytest.raises(ValueError, match="not a pointer"):
        encode(buffer, 4, "integer")
    eight = told(np.zeros(2, np.int32)).params[0]
    assert encode(eight, 8, "integer")[0] == eight.address.to_bytes(8, "little")
    with pytest.raises(ValueError, match="a structure or a pointer"):
        encode(eight, 8, "")


def test_report_describes_the_specified_buffer():
    launch = Launch("stride", grid=1, block=32, params=[INDICES.astype(np.int64), 2])
    data = validate(ptxaudit.audit(PTX, launches=[launch]).to_dict())
    given = data["kernels"][0]["launch"]["params"][0]["buffer"]
    assert given["type"] == "i64" and given["shape"] == [3] and given["bytes"] == 24 and len(given["sha256"]) == 64
    assert "multiples of 256 bytes" in data["kernels"][0]["assumed"][-1]


def test_buffers_are_specified_on_the_command_line(tmp_path, monkeypatch):
    from ptxaudit.ui.commands._options import options_of

    monkeypatch.chdir(tmp_path)
    np.save("idx.npy", INDICES)
    (tmp_path / "idx.bin").write_bytes(INDICES.tobytes())
    (launch,) = options_of({"params": ("idx=@idx.npy", "1=@idx.bin:i32", "out=@zeros:2:i32")}).launches
    assert [content(launch, at) for at in range(3)] == [[3, 1, 2], [3, 1, 2], [0, 0]] and launch.named[
        "1"
    ].origin == "idx.bin"
