"""Every patch of every seed, built and judged, whatever verdict on it is kept.

    python -m pytest tests/attacks/test_all_patches.py -m attack

Some minutes of processor time. The short form, tests/integration/solvers/test_edits_patches*.py,
builds what has changed and a sample.
"""

from collections.abc import Callable, Iterator

import pytest
from solver_patches import FORMS, Bench, assert_patch_differs, open_benches

pytestmark = pytest.mark.attack


@pytest.fixture(scope="module")
def benches(tmp_path_factory) -> Iterator[Callable[[str], Bench]]:
    with open_benches(tmp_path_factory.mktemp("patched"), rebuild=True) as opened:
        yield opened


@pytest.mark.parametrize(("base", "patch"), FORMS, ids=[f"{base}-{patch}" for base, patch in FORMS])
def test_a_patch_compiles_answers_right_with_proofs_and_changes_the_search(
    base, patch, requires, benches, tmp_path
):
    requires("c++")
    bench = benches(base)
    assert_patch_differs(bench, patch, tmp_path)
    assert patch in bench.judged
