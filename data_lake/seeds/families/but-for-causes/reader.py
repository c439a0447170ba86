import json
import re


def read(text):
    roots = [state == "happened" for state in re.findall(r"- event \d+ (happened|did not happen)", text)]
    effects = [[kind, json.loads(causes)] for kind, causes in re.findall(r"- event \d+: (ALL|ANY|SOME) of the events (\[[\d, ]+\])", text)]
    asked = int(re.search(r"if it happened, event number (\d+) happened too", text).group(1))
    return {"roots": roots, "effects": effects, "asked": asked, "events": len(roots) + len(effects)}
