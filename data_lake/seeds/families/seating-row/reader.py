import re


def read(text):
    count = int(re.search(r"In a row stand (\d+) chairs", text).group(1))
    left = [[int(one), int(two)] for one, two in re.findall(r"Person (\d+) sits to the left of person (\d+)\.", text)]
    chosen = [[int(one), int(two)] for one, two in re.findall(r"Persons (\d+) and (\d+) have chosen each other\.", text)]
    apart = int(re.search(r"Let K be (\d+)", text).group(1))
    return {"people": count, "left": sorted(left), "chosen": sorted(chosen), "apart": apart, "largest": count - 1}
