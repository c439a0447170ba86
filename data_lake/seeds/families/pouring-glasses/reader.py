import re

PARTS = {"half": 2, "a third": 3, "a quarter": 4, "a fifth": 5}


def read(text):
    contents = re.findall(r"- (\d+) cl of syrup and (\d+) cl of water", text)
    pours = re.findall(r"- (half|a third|a quarter|a fifth) of what is then in glass (\d+) is poured into glass (\d+)", text)
    asked = re.search(r"in glass (\d+)\? Give", text).group(1)
    return {
        "glasses": [[int(syrup), int(water)] for syrup, water in contents],
        "pours": [[int(source), int(target), PARTS[part]] for part, source, target in pours], "asked": int(asked),
    }
