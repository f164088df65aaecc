"""
Mutants fit the files that they change. A mutant is a fault that replaces some text of a source file: `make test-slow`
tests that the soak, which runs random operations beside a model, finds it.
"""

import pytest

from tests.soak.mutating import Mutant, mutants
from tests.soak.server import ROOT


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_text_that_a_mutant_replaces_occurs_once(mutant: Mutant):
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
