"""Every row of the table of docs/tasks.md is run by a test: a new row names one here, and a test that is
removed is missed here.

README keeps to its outline: it is short, and its commands, pictures and pages exist.
"""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

import click
import pytest

from evolake.cli import cli

ROOT = Path(__file__).parents[3]
TESTED = {
    "evolve a few rounds": "e2e/test_installed_package.py::test_a_cycle_is_asked_about_anywhere_in_the_project",  # noqa: E501
    "look at runs, checks, partitions, figures": "e2e/test_make_dev.py::test_the_ui_shows_a_group_for_every_line",  # noqa: E501
    "see the result of every line": (
        "integration/report/"
        "test_page_in_browser.py::test_five_lines_fit_on_six_screens_and_print_without_what_is_folded"
    ),
    "compare all lines in one table": "unit/report/test_standings.py::test_every_line_of_the_lake_has_a_row_and_no_other_has_one",  # noqa: E501
    "watch a run in the terminal": (
        "integration/report/"
        "test_watch.py::test_a_frame_says_who_leads_the_score_by_cycle_the_gates_and_the_spend"
    ),
    "backfill evolution rounds": "e2e/test_backfill_in_browser.py::test_a_range_of_cycles_is_picked_launched_and_turns_green",  # noqa: E501
    "run every night": "e2e/test_cycles_under_daemon.py::test_nightly_adds_exactly_one_cycle_a_tick",
    "ask the lake": (
        "integration/report/"
        "test_champion.py::test_the_example_of_the_tasks_shows_the_newest_cycle_and_no_other"
    ),
    "judge a task family of your own": "integration/families/test_families_check.py::test_an_accepted_folder_is_one_object_and_exit_0",  # noqa: E501
    "use it as a parent": (
        "e2e/"
        "test_families_line.py::test_a_seed_that_is_added_to_a_used_lake_enters_the_next_cycle_after_every_gate"
    ),
    "have a family solved from its text alone": "integration/families/test_review_sheet.py::test_a_person_answers_a_sheet_and_check_says_so",  # noqa: E501
    "train on what was accepted": "e2e/test_families_line.py::test_an_export_rewards_its_own_labels_and_nothing_else",  # noqa: E501
    "see what families were proposed": "unit/families/test_show.py::test_the_command_prints_json_and_names_what_it_does_not_know",  # noqa: E501
    "look at the seed families": (
        "integration/families/"
        "test_gallery.py::test_a_page_shows_instances_with_their_labels_rules_and_all_programs"
    ),
    "add a solver of your own to the next cycle": (
        "integration/solvers/"
        "test_coders.py::test_a_submitted_tree_is_a_plan_of_the_next_cycle_and_a_variant_like_any_other"
    ),
    "judge a SAT solver's repository": "integration/solvers/test_verify.py::test_a_bad_variant_is_blocked_by_a_named_gate",  # noqa: E501
    "breed on formulas of your own, or see how a champion carries over to them": "unit/solvers/test_transfer.py::test_the_command_measures_writes_and_goes_on_where_it_stopped",  # noqa: E501
    "measure whether showing the rules to the planner helps": (
        "integration/solvers/"
        "test_coders.py::test_an_ablation_tells_one_arm_less_judges_both_alike_and_goes_on_from_its_journal"
    ),
    "bring a solver that has no adapter yet": "unit/solvers/test_adapt.py::test_the_next_command_works_as_it_is_printed",  # noqa: E501
    "make a repository of an upstream solver": (
        "integration/solvers/"
        "test_verify.py::test_an_upstream_tree_is_the_same_variant_to_layout_bench_and_verify"
    ),
    "check a proof, DRAT or LRAT": "integration/solvers/test_proof_checkers.py::test_the_command_says_so_and_exits_so",  # noqa: E501
    "evolve a solver of your own": "unit/solvers/test_own_seeds.py::test_a_folder_takes_part_beside_the_seeds_that_the_settings_name",  # noqa: E501
    "evolve prompts and train a small model": "e2e/test_prompts_line.py::test_every_asset_of_the_list_is_there_for_every_cycle",  # noqa: E501
    "compare evolution, training and both": "integration/prompts/test_policy_arms.py::test_the_command_prints_one_object_and_writes_the_rows",  # noqa: E501
    "evolve a program of your own": (
        "integration/programs/"
        "test_programs_commands.py::test_a_new_project_is_checked_and_one_that_is_blocked_says_why"
    ),
    "have people grade families": (
        "e2e/test_families_line.py::test_an_audit_goes_out_and_its_grades_come_back"
    ),
    "train a model on seeds and on what evolved, and compare": (
        "integration/utility/"
        "test_utility_study.py::test_the_command_runs_what_is_missing_and_says_what_it_found"
    ),
    "run the repair study": "integration/repair/test_repair_command.py::test_a_study_runs_whole_is_kept_and_can_be_extended",  # noqa: E501
    "certify one answer": (
        "integration/repair/"
        "test_repair_command.py::test_certify_prints_one_object_and_says_by_its_exit_code_whether_it_is_certified"
    ),
    "write a design": "unit/contracts/test_contract_pages.py::test_the_commands_of_a_page_work_one_after_the_other",  # noqa: E501
    "try a design of your own": (
        "integration/designs_engine/"
        "test_designs_solve.py::test_solve_prints_one_json_object_with_exactly_the_promised_keys"
    ),
    "merge designs and objectives of another lake": (
        "integration/designs_evolution/"
        "test_merge_two_lakes.py::test_the_command_prints_one_object_and_says_when_nothing_changed"
    ),
    "use a design as a parent": (
        "unit/spine/"
        "test_seeds_command.py::test_a_file_or_folder_is_added_to_the_line_that_it_looks_like_and_once"
    ),
    "bring in solvers and objectives of the paper's framework": (
        "integration/designs_evolution/"
        "test_imported_files.py::test_the_command_says_what_came_and_what_was_wrong"
    ),
    "rank anything by consensus": "integration/objectives/test_consensus_command.py::test_json_is_one_object_with_ids_as_given",  # noqa: E501
    "export the champion": (
        "integration/report/"
        "test_taking_out.py::test_a_design_is_taken_out_with_the_values_that_it_reigns_with"
    ),
    "export it to be verified elsewhere": "integration/report/test_bundles.py::test_the_champion_of_each_line_holds_where_there_is_no_lake",  # noqa: E501
    "look at any artifact": (
        "integration/report/test_taking_out.py::test_an_artifact_is_shown_with_origin_gates_scores_and_text"
    ),
    "steer": "integration/agents/test_guidance.py::test_the_command_stores_lists_and_withdraws",
    "write a rule": "unit/contracts/test_contract_pages.py::test_the_commands_of_a_page_work_one_after_the_other",  # noqa: E501
    "preview a change of a rule": "e2e/test_families_line.py::test_a_stricter_rule_blocks_on_stored_evidence_without_a_run",  # noqa: E501
    "change a rule": (
        "e2e/"
        "test_rule_change_converges.py::test_what_the_ui_marks_is_what_the_preview_lists_and_made_again_nothing_is_stale"
    ),
    "remove a mistyped cycle from the UI": (
        "e2e/"
        "test_backfill_in_browser.py::test_the_first_click_of_a_fresh_line_makes_its_seeds_and_a_mistyped_cycle_does_not_stay_red"
    ),
    "check the installation": "e2e/test_sixth_line.py::test_the_command_line_the_settings_and_the_doctor_have_it",  # noqa: E501
    "try an endpoint": (
        "integration/agents/"
        "test_doctor_call.py::test_an_endpoint_that_can_all_of_it_is_told_so_with_three_calls"
    ),
    "see what a model replied": (
        "integration/agents/"
        "test_tape_command.py::test_entries_are_listed_by_line_role_cycle_model_and_validity"
    ),
    "check the lake's integrity": "integration/lake/test_lake_verify.py::test_the_command_says_what_was_found_and_its_exit_code_too",  # noqa: E501
    "mirror the lake, and get it back": "integration/lake/test_mirror.py::test_the_commands_say_what_was_moved",  # noqa: E501
    "open the lake in a BI tool": "unit/lake/test_lake_duckdb.py::test_the_file_answers_as_the_catalogue_does",  # noqa: E501
    "free space": "unit/lake/test_lake_garbage.py::test_the_command_removes_nothing_unless_told_to",
}
"""What a reader wants -> the test that does it. One that is parametrized or has more beside it stands for its
file."""
ALSO = {
    "judge a task family of your own": ("docs/contracts/family.md",),
    "breed on formulas of your own, or see how a champion carries over to them": (
        "tests/unit/solvers/suites/test_folders.py",
    ),
    "evolve a solver of your own": ("tests/unit/spine/test_seeds_command.py",),
    "run the repair study": ("tests/integration/repair/test_repair_report.py",),
    "write a design": ("docs/contracts/design.md",),
    "bring in solvers and objectives of the paper's framework": ("docs/contracts/design.md",),
    "write a rule": ("docs/contracts/rule.md",),
}
"""Where else commands of a row are run: a further test, or a page whose commands `tests/unit/contracts`
runs."""


def rows() -> dict[str, str]:
    """Of the table of docs/tasks.md: first cell, without what stands in parentheses -> the whole line."""
    text = (ROOT / "docs" / "tasks.md").read_text()
    table = text[text.index("| you want to |") :].split("\n\n", 1)[0]
    return {line.split("|")[1].partition(" (")[0].strip(): line for line in table.splitlines()[2:]}


def test_every_row_has_its_test_and_every_test_its_row():
    assert sorted(rows()) == sorted(TESTED)


@pytest.mark.parametrize("row", TESTED)
def test_the_test_of_a_row_is_there_and_types_its_commands(row):
    place, _, name = TESTED[row].partition("::")
    source = (ROOT / "tests" / place).read_text()
    assert name in {node.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)}
    typed = source + "".join((ROOT / where).read_text() for where in ALSO.get(row, ()))
    commands = re.findall(r"`evolake ([a-z]+(?: [a-z]+\b)?)", rows()[row])
    assert [
        command
        for command in commands
        if not all(re.search(rf"\b{word}\b", typed) for word in command.split())
    ] == []


README = (ROOT / "README.md").read_text()


def test_readme_is_short_and_its_text_wraps():
    lines = README.splitlines()
    assert len(lines) <= 180
    in_code, long_lines = False, []
    for line in lines:
        in_code ^= line.startswith("```")
        if not in_code and not line.startswith(("|", "    ")) and len(line) > 100:
            long_lines.append(line)
    assert long_lines == []


def test_readme_shows_at_most_twenty_tasks():
    table = README[README.index("| | task | command |") :].split("\n\n", 1)[0]
    assert 10 <= len(table.splitlines()) - 2 <= 20


def typed() -> list[list[str]]:
    """The words of every `evolake` command that README shows in a line of code."""
    shown = re.findall(r"`evolake ([^`]+)`", README) + re.findall(
        r"^    evolake (.+?)(?:  +#.*)?$", README, re.MULTILINE
    )
    return [shlex.split(command) for command in shown]


@pytest.mark.parametrize("words", typed(), ids=" ".join)
def test_a_command_of_readme_exists_with_its_options(words):
    command, rest = cli, list(words)
    while isinstance(command, click.Group):
        with click.Context(command) as context:
            found = command.get_command(context, rest[0])
        assert found is not None, f"there is no command {rest[0]!r}"
        command = found
        rest = rest[1:]
    known = {
        option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)
    }
    assert [word for word in rest if word.startswith("-") and word.partition("=")[0] not in known] == []


def test_the_pictures_and_pages_of_readme_are_there():
    links = re.findall(r"\]\((?!http)([^)#]+)", README)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []
