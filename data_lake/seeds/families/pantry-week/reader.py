import re


def read(text):
    packs = re.findall(r"- (\w+): one pack holds (\d+) g and costs (\d+) cents", text)
    dinners = re.findall(r"- dinner \d+: (.*)", text)
    return {
        "packs": [[name, int(grams), int(price)] for name, grams, price in packs],
        "dinners": [[[name, int(grams)] for grams, name in re.findall(r"(\d+) g of (\w+)", dinner)] for dinner in dinners],
        "people": int(re.search(r"There are (\d+) people", text).group(1)),
    }
