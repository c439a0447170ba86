import re

SAYS = re.compile(r"Person (\d+) says: (?:person (\d+) is a (truth-teller|liar)|persons (\d+) and (\d+) are of (the same kind|different kinds))\.")


def read(text):
    statements = []
    for speaker, one, kind, first, second, relation in SAYS.findall(text):
        if one:
            statements.append([int(speaker), int(one), None, kind == "truth-teller"])
        else:
            statements.append([int(speaker), int(first), int(second), relation == "the same kind"])
    return {"count": int(re.search(r"The (\d+) villagers", text).group(1)), "statements": statements}
