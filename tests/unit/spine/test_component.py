"""The component `evolake.Line`: lines in somebody else's Dagster project, by YAML."""

import os

import pytest
import yaml
from dagster.components.testing import create_defs_folder_sandbox

import evolake
from evolake.errors import InputError
from pipelines import component
from pipelines.component import Line, LineScaffolder


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """What a component sets is gone after the test."""
    for name in ("EVOLAKE_LAKE", "EVOLAKE_PROFILE", "EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(component, "_given", {})
    monkeypatch.setattr(component, "_built", {})


def body(**attributes: object) -> dict[str, object]:
    return {"type": "evolake.Line", "attributes": attributes}


def test_evolake_names_its_component():
    assert evolake.Line is Line and "Line" in dir(evolake)


def test_a_line_by_yaml_has_all_that_it_has_in_the_clone():
    given = {"families.families_per_cycle": 4, "profile": "demo"}
    with create_defs_folder_sandbox() as sandbox:
        folder = sandbox.scaffold_component(Line, defs_yaml_contents=body(lines=["families"], settings=given))
        with sandbox.load_component_and_build_defs(folder) as (loaded, defs):
            assert isinstance(loaded, Line)
            groups = {spec.group_name for spec in defs.resolve_all_asset_specs()}
            jobs = {job.name for job in defs.resolve_all_job_defs()}
            checks = {key.name for key in defs.resolve_asset_graph().asset_check_keys}
            lake = os.environ["EVOLAKE_LAKE"]
            assert lake == str(sandbox.project_root / "data_lake")
    assert groups == {"families", "families_seeds"}
    assert {"families_cycle", "families_seeds", "register_cycles"} <= jobs and "designs_cycle" not in jobs
    assert "instances_are_labelled" in checks
    assert (os.environ["EVOLAKE_PROFILE"], os.environ["EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE"]) == (
        "demo",
        "4",
    )


def test_the_environment_is_above_the_settings_of_the_yaml(monkeypatch):
    monkeypatch.setenv("EVOLAKE_PROFILE", "laptop")
    component.apply({"profile": "demo", "families.families_per_cycle": 4})
    assert (os.environ["EVOLAKE_PROFILE"], os.environ["EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE"]) == (
        "laptop",
        "4",
    )
    component.apply({"families.families_per_cycle": 5})
    assert os.environ["EVOLAKE_FAMILIES__FAMILIES_PER_CYCLE"] == "5", (
        "an edit of the YAML holds when it is loaded again"
    )


@pytest.mark.parametrize("lines", [["bridges"], []])
def test_a_name_that_is_no_line_is_refused(lines):
    with create_defs_folder_sandbox() as sandbox:
        folder = sandbox.scaffold_component(Line, defs_yaml_contents=body(lines=lines))
        with pytest.raises(Exception) as caught, sandbox.load_component_and_build_defs(folder):
            pass
    causes = [caught.value, caught.value.__cause__, caught.value.__context__]
    [refused] = [item for item in causes if isinstance(item, InputError)][:1]
    assert "families" in str(refused) and "evolake.Line" in str(refused)


def test_scaffolding_writes_ten_lines_of_yaml(tmp_path):
    import dagster as dg

    params = LineScaffolder.get_scaffold_params()
    request = dg.ScaffoldRequest("evolake.Line", tmp_path, "yaml", tmp_path, params(line="designs"))
    LineScaffolder().scaffold(request)
    text = (tmp_path / "defs.yaml").read_text()
    assert len(text.splitlines()) <= 10
    assert yaml.safe_load(text) == {
        "type": "evolake.Line",
        "attributes": {"lines": ["designs"], "lake": "data_lake", "settings": {"profile": "demo"}},
    }
    with pytest.raises(InputError, match="no line 'bridges'"):
        LineScaffolder().scaffold(
            dg.ScaffoldRequest("evolake.Line", tmp_path, "yaml", tmp_path, params(line="bridges"))
        )
