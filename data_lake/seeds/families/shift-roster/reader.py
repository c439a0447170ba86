import json
import re


def read(text):
    rows = [json.loads(found) for found in re.findall(r"- week \d+: (\[[\d, ]*\])", text)]
    if len(rows) != int(re.search(r"Let N be (\d+):", text).group(1)):
        raise ValueError("weeks are missing")
    return {"roster": rows}
