"""The reward of an exported data set: one file of standard-library Python that carries the line's own
comparison of answers.

The file is put together from the sources of `evolake.answers`, so that training rewards exactly what the
gates call equal. It never evaluates text. TRL calls `reward(completions, answer, ...)`; verl calls
`compute_score(data_source, solution_str, ground_truth, extra_info)`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from evolake.program_templates import fill_template, load_template

HEAD = '''"""Reward of a data set of verifiable task families: 1.0 where the last \\\\boxed{...} of a reply is the label, else 0.0.

Standard library only. Replies are parsed, never evaluated, in time proportional to their length.

    TRL     GRPOTrainer(reward_funcs=reward, ...): columns `answer` (JSON text) and, where they matter, `case_sensitive` and `units`
    verl    custom_reward_function.path=reward.py, custom_reward_function.name=compute_score
"""

from __future__ import annotations

import json
'''  # noqa: E501
ENTRIES = "evolake.families.dataset.templates.reward"
"""What TRL and verl call."""
_OWN = re.compile(r"^from (?:__future__|evolake[\w.]*) import [^\n]*\n", re.MULTILINE)
_DOCSTRING = re.compile(r'\A(?:"""|\'\'\').*?(?:"""|\'\'\')\n', re.DOTALL)
_IMPORTS = re.compile(r"^(?:import|from) [^\n]*\n", re.MULTILINE)


def reward_source(checkers: Mapping[str, Sequence[str]] | None = None) -> str:
    """Return the text of reward.py. checkers: family_id -> sources, of the families whose questions have many
    correct answers."""
    bodies, entries = [], load_template(ENTRIES)
    modules = ["reading.py", "mathematics.py", "quantities.py", "forms.py", "matching.py"]
    if checkers:
        modules.append("values.py")
        entries += fill_template(
            "evolake.families.dataset.templates.checked", checkers=repr(json.dumps(checkers))
        )
    for name in modules:
        text = (resources.files("evolake.answers") / name).read_text(encoding="utf-8")
        bodies.append(_OWN.sub("", _DOCSTRING.sub("", text, count=1)))
    imports = sorted(
        {line for body in bodies for line in _IMPORTS.findall(body)},
        key=lambda line: (line.startswith("from"), line),
    )
    return (
        HEAD
        + "".join(imports)
        + "\n"
        + "\n\n".join(_IMPORTS.sub("", body).strip("\n") + "\n" for body in bodies)
        + entries
    )
