"""The source of each derived unknown: the domain's tests find it by the fingerprint in the unknown's name."""

import pytest

from ptxaudit.engine.domain import affine
from ptxaudit.engine.domain.value import Value, fingerprint
from ptxaudit.engine.ops import symbolic

PRINTS: dict[bytes, Value] = {}  # fingerprint -> value


@pytest.fixture(autouse=True)
def remember_fingerprints(monkeypatch):
    def remembering(value):
        key = fingerprint(value)
        PRINTS[key] = value
        return key

    for module in (affine, symbolic):
        monkeypatch.setattr(module, "fingerprint", remembering)
