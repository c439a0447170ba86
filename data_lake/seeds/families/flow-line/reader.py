import json
import re


def read(text):
    times = [json.loads(found) for found in re.findall(r"- piece \d+: (\[[\d, ]+\])", text)]
    return {"times": times, "asked": int(re.search(r"work on piece number (\d+)\?", text).group(1))}
