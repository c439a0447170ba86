import re


def read(text):
    borders = [[int(one), int(two)] for one, two in re.findall(r"- region (\d+) and region (\d+)", text)]
    return {
        "regions": int(re.search(r"A map has (\d+) regions", text).group(1)),
        "colours": int(re.search(r"There are (\d+) colours", text).group(1)), "borders": borders,
    }
