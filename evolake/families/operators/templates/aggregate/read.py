"""One question about several answers: the reader."""

part_a = cut = said = None
__letters__ = None
# --- program ---

read_a = part_a()


def read(text):
    (shown,), cases_text = cut(text), said(text)["slot1"]
    *lines, last = cases_text.split("\n")
    if last != "[End of __marker__ cases]":
        raise ValueError("cases")
    cases = []
    for line in lines:
        if line == "[__marker__ case %d]" % (len(cases) + 1):
            cases.append({})
            letter = None
        elif line[:1] in __letters__ and line[1:2] == ":":
            letter = line[0]
            cases[-1][letter] = [line[2:].lstrip(" ")]
        else:
            cases[-1][letter].append(line)
    items = []
    for case in cases:
        whole = shown
        for letter in __letters__:
            whole = whole.replace(letter, "\n".join(case[letter]).strip("\n"))
        items.append(read_a(whole))
    return {"items": items}
