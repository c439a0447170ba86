"""A family written as a folder reads as the same family."""

from dataclasses import replace

from evolake.families.model.contract import to_record
from evolake.families.model.family_files import read_families, read_family, write_family
from evolake.settings import default_seeds


def test_every_seed_family_comes_back_whole(tmp_path):
    families = read_families(default_seeds() / "families")
    assert len(families) > 20
    for family in families:
        write_family(family, tmp_path / family.name)
        assert to_record(read_family(tmp_path / family.name)) == to_record(family)


def test_texts_of_all_kinds_survive(tmp_path):
    seed = read_families(default_seeds() / "families")[0]
    odd = replace(seed, name="Ünlike: a name", title='"quoted" \\ \x7f \t 数', parents=("a" * 64,))
    write_family(odd, tmp_path / "odd")
    back = read_family(tmp_path / "odd")
    assert (back.title, back.parents, back.family_id) == (odd.title, odd.parents, odd.family_id)
    assert back.name == "unlike-a-name-" + back.name.rpartition("-")[2]
