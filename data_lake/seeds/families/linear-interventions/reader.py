import re


def read(text):
    equations = []
    for constant, right in re.findall(r"- X\d+ = (-?\d+)((?: [+-] \d+\*X\d+)*)", text):
        terms = [[int(sign + factor), int(parent)] for sign, factor, parent in re.findall(r"([+-]) (\d+)\*X(\d+)", right)]
        equations.append([int(constant), terms])
    forced = int(re.search(r"whose number is (\d+)\.", text).group(1))
    return {"equations": equations, "forced": forced, "value": int(re.search(r"Let v be (\d+)", text).group(1))}
