import re


def read(text):
    facts = []
    for one, sign, other, number in re.findall(r'^- "(\d+) ([>&]) (\d+) : (\d+)"$', text, re.MULTILINE):
        facts.append(["gap" if sign == ">" else "sum", int(one), int(other), int(number)])
    known, height = re.search(r"^Member (\d+) is (\d+) cm tall\.", text, re.MULTILINE).groups()
    return {
        "count": int(re.search(r"The (\d+) members", text).group(1)), "facts": facts, "known": [int(known), int(height)],
        "asked": int(re.search(r"Let M be (\d+)\.", text).group(1)),
    }
