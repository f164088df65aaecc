"""The mutants of the soak, which `make test-slow` runs, fit the files that they change."""

import pytest

from tests.soak.mutating import Mutant, mutants
from tests.soak.server import ROOT


@pytest.mark.parametrize("mutant", mutants(), ids=lambda mutant: mutant.name)
def test_text_that_a_mutant_replaces_occurs_once(mutant: Mutant):
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
