"""An installed wheel works without a checkout: it contains grammars, schemas and headers."""

import os
import subprocess
import sys
import zipfile

import pytest
from paths import ROOT

KERNEL = """\
__global__ void k(float *out) {
    __shared__ float s[1024];
    s[threadIdx.x * 32] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT))
    (path,) = folder.glob("ptxaudit-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that contains the wheel and nothing of the checkout."""
    site = tmp_path_factory.mktemp("site")
    pip("install", "--no-deps", "--target", str(site), str(wheel))
    return site


def pip(*arguments):
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments], check=True, capture_output=True
    )


def run(site, empty, *command):
    environment = {**os.environ, "PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, cwd=empty, env=environment, capture_output=True, text=True)


def test_every_data_file_of_the_checkout_is_in_the_wheel(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {f"ptxaudit/frontend/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "grammars").iterdir()}
    wanted |= {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "ptxaudit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - names == set()
    assert not any(name.startswith(("tests/", "samples/", "grammars/")) for name in names)


def test_command_of_an_installed_wheel_audits(installed, tmp_path):
    (tmp_path / "k.cu").write_text(KERNEL)
    command = str(installed / "bin" / "ptxaudit")
    where = run(installed, tmp_path, sys.executable, "-c", "import ptxaudit; print(ptxaudit.__file__)")
    assert where.stdout.startswith(str(installed)), where.stderr
    assert "version" in run(installed, tmp_path, command, "--version").stdout
    audit = run(installed, tmp_path, command, "audit", "k.cu", "--grid", "1", "--block", "32")
    assert audit.returncode == 0, audit.stderr
    assert "st.shared" in audit.stdout and "32" in audit.stdout
