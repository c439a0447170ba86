import json
import re


def read(text):
    named = [json.loads(found) for found in re.findall(r"- worker \d+: (\[[\d, ]*\])", text)]
    return {
        "named": named, "tasks": int(re.search(r"There are (\d+) tasks", text).group(1)), "given": int(re.search(r"Let K be (\d+)", text).group(1)),
    }
