import re


def read(text):
    notes = re.findall(r"^- “(\d+) (>=|>|=) (\d+)”$", text, re.MULTILINE)
    return {
        "count": int(re.search(r"The (\d+) members", text).group(1)), "notes": [[int(left), sign, int(right)] for left, sign, right in notes],
        "one": int(re.search(r"A be the member with the number (\d+)", text).group(1)),
        "other": int(re.search(r"B the member with the number (\d+)", text).group(1)),
    }
