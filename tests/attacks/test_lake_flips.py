"""Single-bit flips over every file of a small real lake, each followed by a whole `evolake lake verify`;
unseen ones by a comparison of reads."""

import importlib
from collections import Counter

import pytest
from lake_damage import flip

verify = importlib.import_module("integration.lake.test_lake_verify")
grown, root = verify.grown, verify.root
FLIPS_PER_FILE = 60


@pytest.mark.attack
def test_no_flip_of_a_bit_changes_what_is_read_unseen(root):
    before = verify.contents(root)
    counted: Counter[tuple[str, str]] = Counter()
    for path in verify.lake_files(root):
        data, folder = path.read_bytes(), path.relative_to(root).parts[0]
        bits = len(data) * 8
        for bit in sorted(
            {number * bits // FLIPS_PER_FILE + number % 8 for number in range(min(FLIPS_PER_FILE, bits))}
        ):
            path.write_bytes(flip(data, bit))
            result = verify.is_told(root)
            if not result:
                assert verify.contents(root) == before, f"bit {bit} of {path} changed what is read, unseen"
            counted[folder, "found" if result else "harmless"] += 1
        path.write_bytes(data)
    for (folder, outcome), count in sorted(counted.items()):
        print(f"{folder:<10} {outcome:<10} {count}")
    assert counted["seals", "harmless"] <= 24  # newlines between the lines of the journal
    assert counted["blobs", "harmless"] == 0
    assert (
        counted["tables", "harmless"] <= 0.005 * counted["tables", "found"]
    )  # newlines between the lines of manifests
