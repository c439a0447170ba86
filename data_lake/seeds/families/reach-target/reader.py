import json
import re


def read(text):
    cards = json.loads(re.search(r"You have these numbers: (\[[\d, ]*\])\.", text).group(1))
    return {"cards": cards, "target": int(re.search(r"whose value is (\d+)\.", text).group(1))}
