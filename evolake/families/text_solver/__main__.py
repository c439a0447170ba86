"""Measure the text solver: `python -m evolake.families.text_solver FILE.jsonl`.

Each line of the file is one family: {"kind", "family", "instances": [{"text", "answer"}, ...]}.
Prints by kind the families, instances, and how many of those were parsed, right and wrong.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from evolake.families.text_solver import Right, Unread, check
from evolake.terminal import say

LABELS = ("families", "read whole", "instances", "parsed", "right", "wrong")


def main(file: str) -> None:
    """Print the table of a file of families."""
    kinds: dict[str, Counter[str]] = {}
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        family = json.loads(line)
        count = kinds.setdefault(family["kind"], Counter())
        found = [check(one["text"], one["answer"]) for one in family["instances"]]
        read = [one for one in found if not isinstance(one, Unread)]
        right = sum(isinstance(one, Right) for one in read)
        count.update(families=1, instances=len(found), parsed=len(read), right=right)
        count.update({"wrong": len(read) - right, "read whole": int(len(read) == len(found))})
    say(", ".join(("kind", *LABELS)))
    for kind, count in sorted(kinds.items()):
        say(", ".join(map(str, (kind, *(count[label] for label in LABELS)))))


if __name__ == "__main__":
    main(sys.argv[1])
