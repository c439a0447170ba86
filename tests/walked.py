"""Which functions that docs/architecture.md names on a candidate's way a run calls, and when."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
WATCHING = """
import json, os, sys, threading, time
places = [tuple(place) for place in json.loads(os.environ["WALK_PLACES"])]
names = {name.rpartition(".")[2] for _, name in places}
log = os.open(os.environ["WALK_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def watch(frame, event, _):
    if event == "call" and frame.f_code.co_name in names:
        for path, name in places:
            if frame.f_code.co_qualname == name and frame.f_code.co_filename.endswith("/" + path):
                os.write(log, (json.dumps([time.time(), path, name]) + "\\n").encode())
sys.setprofile(watch)
threading.setprofile(watch)
"""
"""What every Python process of the run does first; a call is one line of the log."""


def stops() -> list[list[tuple[str, str]]]:
    """The places (file, function) of each stop of the page."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    way = text.partition("## First: one candidate's way\n")[2].partition("\n## ")[0]
    return [re.findall(r"`([\w/]+\.py):([\w.]+)`", stop) for stop in re.split(r"\n(?=\d+\. )", way)[1:]]


def watched(folder: Path) -> dict[str, str]:
    """The environment of a run whose calls are written into `folder`."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WATCHING)
    places = json.dumps(sorted({place for stop in stops() for place in stop}))
    return {"PYTHONPATH": str(folder), "WALK_PLACES": places, "WALK_LOG": str(folder / "calls.jsonl")}


def not_reached(folder: Path) -> list[tuple[str, str]]:
    """The places of the first stop of which no function was called after one of the stop before it; [] if
    the whole way was walked."""
    calls = sorted(json.loads(line) for line in (folder / "calls.jsonl").read_text().splitlines())
    at = 0.0
    for stop in stops():
        later = [time for time, *place in calls if time >= at and tuple(place) in stop]
        if not later:
            return stop
        at = later[0]
    return []
