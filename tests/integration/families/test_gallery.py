"""The gallery of the shipped seeds, by the command that users type."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from commands import evolake
from families_fixtures import SEEDS, seed_family

from evolake.families.commands.gallery import Example, family_page, page_name, write_gallery
from evolake.families.model.statement import stated


@pytest.fixture(scope="module")
def shown(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("gallery")
    source = SEEDS / "families" / "clinic-queue"
    done = evolake("families", "gallery", "--from", source, "--out", folder)
    assert done.stdout == f"families shown: 1; open {folder / 'index.html'}\n"
    return folder


def test_a_page_shows_instances_with_their_labels_rules_and_all_programs(shown):
    family = seed_family("clinic-queue")
    text = html.unescape((shown / page_name(family)).read_text())
    assert [int(result) for result in re.findall(r"An instance, difficulty (\d+)", text)] == [2, 7]
    assert len(re.findall(r"Label: <b>\d+</b>, given by 3 of 3 voters\.", text)) == 2
    assert stated(family).strip() in text
    assert all(source in text for source in family.sources().values())
    assert all(
        item.text in text and item.code in text for point in family.points for item in point.alternatives
    )
    assert f'href="{page_name(family)}"' in (shown / "index.html").read_text()


def test_what_a_model_wrote_is_text_and_no_markup(tmp_path):
    family = replace(
        seed_family("clinic-queue"), title="<script>alert(1)</script>", template="<img src=x> [Input Slot 1]"
    )
    write_gallery([family], {family.family_id: [Example(3, "<b>text</b>", "<i>label</i>", 2, 3)]}, tmp_path)
    for path in tmp_path.iterdir():
        assert not re.search(r"<(?:script|img|b>text|i)\b", path.read_text()), path
    assert "given by 2 of 3 voters" in family_page(family, [Example(3, "text", 7, 2, 3)])


def test_a_gallery_of_an_empty_lake_is_an_input_error(tmp_path):
    given = {"EVOLAKE_LAKE": str(tmp_path), "PATH": "/usr/bin:/bin"}
    done = evolake("families", "gallery", "--evolved", "--out", tmp_path / "out", environment=given)
    assert (done.returncode, "evolake run" in done.stderr) == (2, True)
    assert not (tmp_path / "out").exists()
