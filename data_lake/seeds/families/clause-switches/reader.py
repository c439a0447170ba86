import re


def read(text):
    clauses = []
    for line in text.splitlines():
        found = re.findall(r"switch (\d+) is (on|off)", line) if line.startswith("- ") else []
        if found:
            clauses.append([int(number) if state == "on" else -int(number) for number, state in found])
    count = int(re.search(r"has (\d+) switches", text).group(1))
    return {"switches": count, "clauses": clauses, "asked": int(re.search(r"switch number (\d+) is", text).group(1))}
