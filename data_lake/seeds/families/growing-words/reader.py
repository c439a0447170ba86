import re


def read(text):
    rules = [[letter, word] for letter, word in re.findall(r"- ([A-Z]) becomes ([A-Z]+)", text)]
    start = re.search(r"at first ([A-Z]+),", text).group(1)
    steps = int(re.search(r"after exactly (\d+) steps", text).group(1))
    limit = int(re.search(r"at most (\d+) steps", text).group(1))
    return {"rules": rules, "start": start, "steps": steps, "limit": limit}
