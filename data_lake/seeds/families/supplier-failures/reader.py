import json
import re


def read(text):
    found = re.findall(r"- firm \d+: (\[[\d, ]+\]|no suppliers)", text)
    suppliers = [[] if others == "no suppliers" else json.loads(others) for others in found]
    return {"suppliers": suppliers, "first": int(re.search(r"a fire closes firm number (\d+),", text).group(1))}
