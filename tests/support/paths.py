"""Folders of the checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
SAMPLES = ROOT / "samples"

TESTS = ROOT / "tests"
CASES = TESTS / "cases"  # inputs with what is expected of them
DATA = TESTS / "data"  # measurements
INPUTS = TESTS / "inputs"  # CUDA and PTX that several tests read
