"""Say why an initial program has no score, and what its user can do."""

from __future__ import annotations

import re
import shutil
from pathlib import PurePosixPath

from evolake.errors import InputError
from evolake.file_names import shell_word
from evolake.jail.protocol import one_line
from evolake.programs.model.project import TOML, Project
from evolake.programs.sandbox.environment import FILE, not_installed
from evolake.programs.sandbox.evaluating import Evaluation, cause, errors_in

MODULE = re.compile(r"No module named '([\w.]+)'")
NO_FILE = re.compile(r"No such file or directory: '([^']+)'")
NETWORK = re.compile(
    r"name resolution|Network is unreachable|Name or service not known|URLError|NameResolutionError|"
    r"ConnectionError|Connection error|Max retries exceeded|couldn't connect|LocalEntryNotFound",
    re.IGNORECASE,
)
LACKING = re.compile(
    r"^.*\b(?:(?:could )?not (?:find|found|installed|available)|is missing|please install)\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A line by which people say that something is not there."""
LIMITED = ("cpu", "timeout", "memory")
"""Statuses of an evaluation that a limit ended."""
PACKAGES = {
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "PIL": "pillow",
    "shinka": "shinka-evolve",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Module -> the package that has it, where another one, or none, has the module's name."""


def trouble_of(evaluation: Evaluation) -> str:
    """Return in one line why an evaluation has no score that counts."""
    said = "no finite score"
    if not evaluation.ok:
        said = f"{evaluation.status}: {evaluation.reason}" if evaluation.reason else evaluation.status
    elif names := errors_in(evaluation.artifacts):
        text = evaluation.artifacts[names[0]]
        said = f"the evaluator reports: {cause(text) if 'Traceback' in text else one_line(text)}"
    printed = "\n".join(evaluation.artifacts.values())
    lines = [found[0] for pattern in (LACKING, NO_FILE, MODULE) if (found := pattern.search(printed))]
    return said + next((f" ({one_line(line)})" for line in lines if line not in said), "")


def remedy(project: Project, evaluation: Evaluation, called: str = "") -> str:
    """Return what to do about an initial program without a score; "" if that is not known. called: how the
    user named the project."""
    check = f"evolake programs check {shell_word(called or project.name)}"
    texts = "\n".join([evaluation.reason, *evaluation.artifacts.values()])
    try:
        lacking = not_installed(project)
    except InputError:
        lacking = []
    if module := MODULE.search(texts):
        name = module[1].partition(".")[0]
        if lacking:
            return f"{check} --install, which installs {', '.join(lacking)}"
        return f"add {PACKAGES.get(name, name)} to {FILE}, then {check} --install"
    if NETWORK.search(texts):
        return "give the project its data as files: evaluations have no network, so no model and no server"
    if file := NO_FILE.search(texts):
        name = file[1]
        if "/" not in name and not PurePosixPath(name).suffix:
            install = "" if shutil.which(name) else f"install {name} and "
            return f'{install}add it to {TOML}: [jail] programs = ["{name}"]'
        return f"put {name} into the project's folder, or its folder into [jail] folders of {TOML}"
    if LACKING.search(texts):
        return f"install what it names in /usr, or show it to evaluations by [jail] of {TOML}, then {check}"
    if evaluation.status in LIMITED:
        return f"set a larger limit in [evaluator] of {TOML} (cpu_s, wall_s, memory_mb), then {check}"
    return ""
