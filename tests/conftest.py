"""Validates every report that a test writes against the JSON Schema, compiles samples once per run, and keeps the
disassembler running.
"""

from __future__ import annotations

import gc

import byte_code
import compiled_once
import disassembler
import pytest
from hypothesis import HealthCheck, settings
from reports import validate

from ptxaudit.report.model import Report

# No test depends on the clock: on a busy machine, generating examples is slow, too.
settings.register_profile("ptxaudit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ptxaudit")


ALLOCATIONS = 10_000_000  # allocations, net of frees, before a garbage collection; there is hardly any garbage


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session):
    """Ten thousand tests and their imports are not garbage: the collector, which would scan them again and again,
    ignores them.
    """
    gc.disable()
    byte_code.made_in_turns(session.config)


# The files that take longest, which begin first: a worker that begins one last works alone in the end.
LONG = (
    "test_kernel_sets",
    "test_page_in_browser",
    "test_generated_kernels",
    "test_handwritten_kernels",
    "test_samples",
    "test_ptx_oracle",
    "test_whole_kernels",
    "test_adversary",
    "test_global_and_local_claims",
)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


def pytest_collection_finish():
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, *gc.get_threshold()[1:])
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure():
    gc.freeze()  # pytest collects garbage five times when it ends


@pytest.fixture
def pytester(pytester):
    gc.freeze()  # so do nested runs of pytest
    return pytester


@pytest.fixture(scope="session", autouse=True)
def nothing_is_taken_from_the_users_cache():
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("PTXAUDIT_CACHE", "0")
        yield


@pytest.fixture(scope="session", autouse=True)
def reports_keep_to_the_schema():
    write = Report.to_dict
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(Report, "to_dict", lambda report: validate(write(report)))
        yield


@pytest.fixture(scope="session")
def of_all_processes(tmp_path_factory, pytestconfig):
    """A folder that all processes of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if hasattr(pytestconfig, "workerinput") else base


@pytest.fixture(scope="session", autouse=True)
def samples_are_compiled_once(of_all_processes):
    folder = of_all_processes / "compiled"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        compiled_once.shared(folder, monkeypatch)
        yield


@pytest.fixture(scope="session", autouse=True)
def the_disassembler_stays(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        end = disassembler.stays(tmp_path_factory.mktemp("disassembler"), monkeypatch)
        yield
        end()
