import json
import re


def read(text):
    return {
        "lamps": int(re.search(r"has (\d+) lamps", text).group(1)),
        "buttons": [json.loads(row) for row in re.findall(r"- button \d+: (\[[\d, ]+\])", text)],
        "on": json.loads(re.search(r"exactly these lamps are on: (\[[\d, ]*\])", text).group(1)),
        "hidden": int(re.search(r"Lamp number (\d+) stands behind", text).group(1)),
    }
