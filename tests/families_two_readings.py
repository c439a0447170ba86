"""Families that can be read in two ways, each written four times: the text says one or the other, and all
programs do one or the other.

Where text and programs agree the family is good; where they do not, one author's misreading is shared by all
voters. `«a||b»` is `a` in the first form and `b` in the second. No family has a reader of its own: it is
learnt from the slots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evolake.families.model.contract import Answer, Family

_CHOICE = re.compile(r"«(.*?)\|\|(.*?)»", re.DOTALL)
BOTH = ((0, 0), (1, 1), (0, 1), (1, 0))
HEAD = (
    "import random\n\nNAMES = 'Ada Bea Cid Dan Eva Fay Gus Hal Ivy Jon Kim Lea Max Ned Oda Pia Quin Rob "
    "Sue Tom Una Vic Wim Xia Yan Zoe'.split()\n\n\n"
)


@dataclass(frozen=True)
class TwoReadings:
    """One family in two readings. forms: (text, programs) that are written; voters: the bodies of three
    functions of `i`."""

    name: str
    text: str
    question: str
    generator: str
    voters: tuple[str, str, str]
    answer: str = "integer"
    forms: tuple[tuple[int, int], ...] = BOTH
    category: str = "symbolic"

    def family(self, text: int, code: int) -> Family:
        """Return the family whose text is in one form and whose programs are in the other."""
        sources = [f"{_chosen(body, code).strip()}\n" for body in self.voters]
        return Family(
            name=f"{self.name}-{'ab'[text]}{'ab'[code]}",
            title=self.name,
            category=self.category,
            language="en",
            generator=HEAD + _chosen(self.generator, code).strip() + "\n",
            template=(
                f"{_chosen(self.text, text).strip()}\n\n<!-- question -->\n"
                f"{_chosen(self.question, text).strip()}\n"
            ),
            validator=sources[0],
            validators={"second": sources[1], "third": sources[2]},
            answer=Answer(self.answer),
        )


def _chosen(text: str, form: int) -> str:
    return _CHOICE.sub(lambda match: match[1 + form], text)


def good() -> Iterator[Family]:
    """Yield the families whose programs do what the text says."""
    yield from (case.family(*form) for case in CASES for form in case.forms if form[0] == form[1])


def faulty() -> Iterator[Family]:
    """Yield the families whose programs all do the other thing."""
    yield from (case.family(*form) for case in CASES for form in case.forms if form[0] != form[1])


CASES = (
    TwoReadings(
        "badges",
        "Lengths that each child swam: [Input Slot 1]. A child who swam «at least||more than» [Input Slot "
        "2] lengths is given a badge.",
        "How many badges are given out?",
        """
def input(difficulty):
    lengths = [random.randint(1, 6 + 4 * difficulty) for _ in range(5 + 4 * difficulty)]
    return {"lengths": lengths, "need": (need := random.choice(lengths))}, [", ".join(map(str, lengths)), str(need)]
""",  # noqa: E501
        (
            """
def solution(i):
    return sum(x «>=||>» i["need"] for x in i["lengths"])
""",
            """
def solution(i):
    rest = sorted(i["lengths"])
    while rest and rest[0] «<||<=» i["need"]:
        del rest[0]
    return len(rest)
""",
            """
from collections import Counter


def solution(i):
    total = 0
    for value, often in Counter(i["lengths"]).items():
        total += often if value «> i["need"] - 1||> i["need"]» else 0
    return total
""",
        ),
    ),
    TwoReadings(
        "parcels",
        "A courier looks at parcels of these weights in kilograms: [Input Slot 1]. By bicycle he takes "
        "every parcel whose weight is «no more than||below» [Input Slot 2] kilograms; all others go by "
        "van.",
        "What do the parcels that go by bicycle weigh together?",
        """
def input(difficulty):
    weights = [random.randint(1, 5 + 3 * difficulty) for _ in range(6 + 3 * difficulty)]
    return {"w": weights, "most": (most := random.choice(weights))}, [", ".join(map(str, weights)), str(most)]
""",
        (
            """
def solution(i):
    return sum(w for w in i["w"] if w «<=||<» i["most"])
""",
            """
def solution(i):
    limit, total = i["most"], sum(i["w"])
    for w in i["w"]:
        if w «>||>=» limit:
            total -= w
    return total
""",
            """
def solution(i):
    by_bicycle = list(filter(lambda w: not w «>||>=» i["most"], i["w"]))
    return sum(by_bicycle)
""",
        ),
    ),
    TwoReadings(
        "vintage",
        "A cellar holds bottles of these years: [Input Slot 1]. For a tasting the owner brings up all "
        "bottles from between the years [Input Slot 2] and [Input Slot 3], «both years included||but of "
        "neither of these two years».",
        "How many bottles are brought up?",
        """
def input(difficulty):
    years = [random.randint(1970, 1975 + 4 * difficulty) for _ in range(6 + 5 * difficulty)]
    low, high = sorted(random.sample(sorted(set(range(1968, 1980 + 4 * difficulty))), 2))
    low, high = (random.choice(years), high) if random.random() < .5 else (low, random.choice(years))
    low, high = min(low, high), max(low, high) + (low == high)
    return {"years": years, "low": low, "high": high}, [", ".join(map(str, years)), str(low), str(high)]
""",
        (
            """
def solution(i):
    return len([y for y in i["years"] if i["low"] «<=||<» y «<=||<» i["high"]])
""",
            """
def solution(i):
    count = 0
    for y in range(i["low"]«|| + 1», i["high"]« + 1||»):
        count += i["years"].count(y)
    return count
""",
            """
from bisect import bisect_left, bisect_right


def solution(i):
    years = sorted(i["years"])
    return «bisect_right(years, i["high"]) - bisect_left(years, i["low"])||bisect_left(years, i["high"]) - bisect_right(years, i["low"])»
""",  # noqa: E501
        ),
    ),
    TwoReadings(
        "lift",
        "People wait for a lift, in this order, and weigh (in kilograms): [Input Slot 1]. One after the "
        "other they get in, as long as the total weight in the lift «does not exceed||stays under» [Input "
        "Slot 2] kilograms; with the first one who cannot get in, boarding ends.",
        "How many people get in?",
        """
def input(difficulty):
    people = [random.choice(range(40, 100, 5)) for _ in range(5 + 3 * difficulty)]
    most = sum(people[: random.randint(2, 3 + difficulty)]) + random.choice([0, 0, 5, 10])
    return {"people": people, "most": most}, [", ".join(map(str, people)), str(most)]
""",
        (
            """
def solution(i):
    total = inside = 0
    for weight in i["people"]:
        if total + weight «>||>=» i["most"]:
            break
        total += weight
        inside += 1
    return inside
""",
            """
from itertools import accumulate


def solution(i):
    return sum(total «<=||<» i["most"] for total in accumulate(i["people"]))
""",
            """
def solution(i):
    best = 0
    for n in range(len(i["people"]) + 1):
        if sum(i["people"][:n]) «<=||<» i["most"]:
            best = n
    return best
""",
        ),
    ),
    TwoReadings(
        "pumpkins",
        "Gardeners bring pumpkins to a fair; here is who brings which weight, as they come in: [Input "
        "Slot 1]. The heaviest pumpkin wins. Should two or more weigh equally much, the prize goes to the "
        "gardener who came «earliest||latest».",
        "Who wins the prize?",
        """
def input(difficulty):
    rows = [[n, random.randint(30, 32 + difficulty)] for n in random.sample(NAMES, 6 + 2 * difficulty)]
    return {"rows": rows}, [str(rows)]
""",
        (
            """
def solution(i):
    best = i["rows"][0]
    for row in i["rows"][1:]:
        if row[1] «>||>=» best[1]:
            best = row
    return best[0]
""",
            """
def solution(i):
    top = max(w for _, w in i["rows"])
    return [n for n, w in i["rows"] if w == top][«0||-1»]
""",
            """
def solution(i):
    return max(«i["rows"]||reversed(i["rows"])», key=lambda row: row[1])[0]
""",
        ),
        "string",
        category="relational",
    ),
    TwoReadings(
        "class-speaker",
        "Votes that the children of a class got: [Input Slot 1]. Speaker becomes the child with the most "
        "votes; if several have the same number, it is the one of them whose name comes «first||last» in "
        "the alphabet.",
        "Who becomes speaker?",
        """
def input(difficulty):
    rows = [[n, random.randint(1, 3 + difficulty // 2)] for n in random.sample(NAMES, 6 + 2 * difficulty)]
    return {"votes": rows}, [str(rows)]
""",
        (
            """
def solution(i):
    top = max(v for _, v in i["votes"])
    return «min||max»(n for n, v in i["votes"] if v == top)
""",
            """
def solution(i):
    rows = sorted(i["votes"]«||, reverse=True»)
    best = rows[0]
    for row in rows:
        if row[1] > best[1]:
            best = row
    return best[0]
""",
            """
def solution(i):
    names = {}
    for n, v in i["votes"]:
        names.setdefault(v, []).append(n)
    return sorted(names[max(names)])[«0||-1»]
""",
        ),
        "string",
        category="relational",
    ),
    TwoReadings(
        "birds",
        "In a diary stand these birds, one for each sighting: [Input Slot 1].",
        "How many «different birds||birds, every sighting counted,» with more than [Input Slot 2] letters "
        "stand in the diary«||, where repeats are counted too»?",
        """
BIRDS = "owl hawk wren robin eagle magpie starling jay crow finch sparrow goldfinch kite heron".split()
def input(difficulty):
    seen = [random.choice(BIRDS[: 5 + difficulty]) for _ in range(6 + 4 * difficulty)]
    return {"seen": seen, "n": (n := random.randint(2, 5))}, [", ".join(seen), str(n)]
""",
        (
            """
def solution(i):
    return len(«{b for b in i["seen"] if len(b) > i["n"]}||[b for b in i["seen"] if len(b) > i["n"]]»)
""",
            """
def solution(i):
    known, count = [], 0
    for b in i["seen"]:
        if len(b) > i["n"] «and b not in known||and b»:
            known.append(b)
            count += 1
    return count
""",
            """
from collections import Counter


def solution(i):
    return sum(«1||often» for b, often in Counter(i["seen"]).items() if len(b) > i["n"])
""",
        ),
    ),
    TwoReadings(
        "toll",
        "Travellers carry these sums in coins: [Input Slot 1]. At a gate each of them pays one part in "
        "[Input Slot 2] of what he carries, rounded «down||up» to whole coins.",
        "How many coins does the gate take in?",
        """
def input(difficulty):
    sums = [random.randint(3, 20 + 10 * difficulty) for _ in range(3 + 2 * difficulty)]
    return {"sums": sums, "part": (part := random.randint(3, 8))}, [", ".join(map(str, sums)), str(part)]
""",
        (
            """
def solution(i):
    return sum(«s // i["part"]||-(-s // i["part"])» for s in i["sums"])
""",
            """
import math


def solution(i):
    total = 0
    for s in i["sums"]:
        total += math.«floor||ceil»(s / i["part"])
    return total
""",
            """
def solution(i):
    p = i["part"]
    return sum(«s||(s + p - 1)» // p for s in i["sums"])
""",
        ),
    ),
    TwoReadings(
        "marks",
        "Marks of a pupil in tests: [Input Slot 1], in pairs of two tests. Of each pair the mean is taken "
        "and rounded to the nearest whole number, where a half is rounded «up||to the even neighbour».",
        "What is the sum of the rounded means?",
        """
def input(difficulty):
    marks = [random.randint(1, 15) for _ in range(2 * (3 + 2 * difficulty))]
    return {"marks": marks}, [", ".join(map(str, marks))]
""",
        (
            """
def solution(i):
    m = i["marks"]
    return sum(«(a + b + 1) // 2||round((a + b) / 2)» for a, b in zip(m[::2], m[1::2]))
""",
            """
import math


def solution(i):
    total = 0
    for k in range(0, len(i["marks"]), 2):
        mean = sum(i["marks"][k : k + 2]) / 2
        total += «math.floor(mean + 0.5)||round(mean)»
    return total
""",
            """
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal


def solution(i):
    it = iter(i["marks"])
    return int(sum((Decimal(a + b) / 2).quantize(Decimal(1), «ROUND_HALF_UP||ROUND_HALF_EVEN») for a, b in zip(it, it)))
""",  # noqa: E501
        ),
    ),
    TwoReadings(
        "dial",
        "A dial shows 0. These amounts are added to it in turn: [Input Slot 1]. After each addition the "
        "dial shows the remainder that the sum leaves on division by [Input Slot 2]; «this remainder is "
        "never negative||a remainder takes the sign of the number that is divided».",
        "What are all numbers that the dial shows after the additions, added up?",
        """
def input(difficulty):
    amounts = [random.randint(-30, 30) for _ in range(4 + 2 * difficulty)]
    return {"amounts": amounts, "m": (m := random.randint(5, 17))}, [", ".join(map(str, amounts)), str(m)]
""",
        (
            """
«||import math»


def solution(i):
    shown = total = 0
    for a in i["amounts"]:
        shown = «(shown + a) % i["m"]||int(math.fmod(shown + a, i["m"]))»
        total += shown
    return total
""",
            """
def solution(i):
    m, shown, result = i["m"], 0, []
    for a in i["amounts"]:
        shown += a
        while shown >= m:
            shown -= m
        while shown «< 0||<= -m»:
            shown += m
        result.append(shown)
    return sum(result)
""",
            """
def solution(i):
    m, seen = i["m"], [0]
    for a in i["amounts"]:
        n = seen[-1] + a
        seen.append(n - m * «(n // m)||int(n / m)»)
    return sum(seen)
""",
        ),
    ),
    TwoReadings(
        "heights",
        "Groups of hikers, each group with the heights of its members in centimetres: [Input Slot 1]. A "
        "guide notes the median of each group; when the number of members is even, that is the "
        "«shorter||taller» of the two in the middle.",
        "What is the sum of the noted heights?",
        """
def input(difficulty):
    groups = [[random.randint(140, 200) for _ in range(random.choice([2, 3, 4, 6]))] for _ in range(3 + difficulty)]
    return {"groups": groups}, [str(groups)]
""",  # noqa: E501
        (
            """
def solution(i):
    return sum(sorted(g)[«(len(g) - 1) // 2||len(g) // 2»] for g in i["groups"])
""",
            """
import statistics


def solution(i):
    total = 0
    for g in i["groups"]:
        total += statistics.«median_low||median_high»(g)
    return total
""",
            """
def solution(i):
    result = 0
    for g in i["groups"]:
        g = list(g)
        while len(g) > 2:
            g.remove(max(g))
            g.remove(min(g))
        result += «min||max»(g)
    return result
""",
        ),
    ),
    TwoReadings(
        "lamps",
        "A row of lamps, on (1) or off (0): [Input Slot 1]. In one round every lamp but the first is "
        "switched if its left neighbour is on«; all lamps look and switch at the same moment||. They do "
        "so one after the other from left to right, and a lamp sees what its neighbour has already "
        "become». There are [Input Slot 2] rounds.",
        "How many lamps are on in the end?",
        """
def input(difficulty):
    lamps = [random.randint(0, 1) for _ in range(6 + 2 * difficulty)]
    return {"lamps": lamps, "rounds": (rounds := random.randint(1, 2 + difficulty))}, [", ".join(map(str, lamps)), str(rounds)]
""",  # noqa: E501
        (
            """
def solution(i):
    lamps = list(i["lamps"])
    for _ in range(i["rounds"]):
        «before = list(lamps)||before = lamps»
        for k in range(1, len(lamps)):
            if before[k - 1] == 1:
                lamps[k] = 1 - lamps[k]
    return sum(lamps)
""",
            """
def solution(i):
    row = i["lamps"]
    for _ in range(i["rounds"]):
        new = [row[0]]
        for k, lamp in enumerate(row[1:]):
            new.append((lamp + «row[k]||new[-1]») % 2)
        row = new
    return row.count(1)
""",
            """
def solution(i):
    state = dict(enumerate(i["lamps"]))
    for _ in range(i["rounds"]):
        order = «range(len(state) - 1, 0, -1)||range(1, len(state))»
        for k in order:
            state[k] ^= state[k - 1]
    return sum(state.values())
""",
        ),
        category="causal",
    ),
    TwoReadings(
        "shelf",
        "Boxes on a shelf hold so many pears: [Input Slot 1]. The boxes are numbered from left to right, "
        "starting with «1||0».",
        "What is the number of the box with the most pears (no two boxes hold equally many)?",
        """
def input(difficulty):
    pears = random.sample(range(1, 40 + 5 * difficulty), 4 + 2 * difficulty)
    return {"pears": pears}, [", ".join(map(str, pears))]
""",
        (
            """
def solution(i):
    return i["pears"].index(max(i["pears"]))« + 1||»
""",
            """
def solution(i):
    best = None
    for number, n in enumerate(i["pears"]«, 1||»):
        if best is None or n > best[0]:
            best = (n, number)
    return best[1]
""",
            """
def solution(i):
    order = sorted(range(len(i["pears"])), key=lambda k: i["pears"][k])
    return order[-1]« + 1||»
""",
        ),
    ),
    TwoReadings(
        "treasure",
        "Doors in a corridor bear notes, each with the number of a door: [Input Slot 1]. «The first door "
        "is number 1||The first door is number 0», the next one follows it, and so on. A boy stands at "
        "door [Input Slot 2] and goes [Input Slot 3] times to the door that the note before him names.",
        "What is on the note at the door where he ends?",
        """
def input(difficulty):
    n = 6 + 3 * difficulty
    notes = [random.randint(1, n - 1) for _ in range(n)]
    at, times = random.randint(1, n - 1), random.randint(2, 3 + 2 * difficulty)
    return {"notes": notes, "at": at, "times": times}, [", ".join(map(str, notes)), str(at), str(times)]
""",
        (
            """
def solution(i):
    at = i["at"]
    for _ in range(i["times"]):
        at = i["notes"][at« - 1||»]
    return i["notes"][at« - 1||»]
""",
            """
def solution(i):
    notes = dict(enumerate(i["notes"]«, 1||»))
    seen = [i["at"]]
    while len(seen) <= i["times"] + 1:
        seen.append(notes[seen[-1]])
    return seen[-1]
""",
            """
def solution(i):
    def follow(at, left):
        note = i["notes"][at« - 1||»]
        return note if not left else follow(note, left - 1)
    return follow(i["at"], i["times"])
""",
        ),
        category="spatial",
    ),
    TwoReadings(
        "letters",
        "Somebody writes these words: [Input Slot 1]. A secretary counts how often the letter [Input Slot "
        "2] stands in them; «capital and small letters count as the same||capital and small letters are "
        "different letters».",
        "Which number does the secretary find?",
        """
def input(difficulty):
    words = ["".join(random.choice("abcdABCD") for _ in range(4)) for _ in range(3 + 2 * difficulty)]
    return {"words": words, "letter": (letter := random.choice("abcd"))}, [", ".join(words), letter]
""",
        (
            """
def solution(i):
    return sum(w«.lower()||».count(i["letter"]) for w in i["words"])
""",
            """
def solution(i):
    found = [c for w in i["words"] for c in w if c«.casefold()||» == i["letter"]]
    return len(found)
""",
            """
def solution(i):
    text, total = " ".join(i["words"]), 0
    while text:
        total += text[0] «in (i["letter"], i["letter"].upper())||in (i["letter"],)»
        text = text[1:]
    return total
""",
        ),
    ),
    TwoReadings(
        "tape",
        "A tape bears the letters [Input Slot 1]. A machine counts how often the piece [Input Slot 2] "
        "occurs on it; occurrences «may overlap||must not overlap, and it goes from left to right».",
        "Which number does it print?",
        """
def input(difficulty):
    tape = "".join(random.choice("ab") for _ in range(8 + 6 * difficulty))
    piece = random.choice(["aa", "aba", "bb", "abab"])
    return {"tape": tape, "piece": piece}, [tape, piece]
""",
        (
            """
def solution(i):
    «return sum(i["tape"].startswith(i["piece"], k) for k in range(len(i["tape"])))||return i["tape"].count(i["piece"])»
""",  # noqa: E501
            """
def solution(i):
    at, count = i["tape"].find(i["piece"]), 0
    while at != -1:
        count += 1
        at = i["tape"].find(i["piece"], at + «1||len(i["piece"])»)
    return count
""",
            """
import re


def solution(i):
    return len(re.findall(«"(?=" + i["piece"] + ")"||i["piece"]», i["tape"]))
""",
        ),
    ),
    TwoReadings(
        "rising",
        "Temperatures of days in a row: [Input Slot 1]. A warm spell is a stretch of days in which the "
        "temperature «strictly increases||never falls» from each day to the next.",
        "How many days does the longest warm spell have?",
        """
def input(difficulty):
    days = [random.randint(10, 13 + difficulty // 3) for _ in range(6 + 4 * difficulty)]
    return {"days": days}, [", ".join(map(str, days))]
""",
        (
            """
def solution(i):
    best = run = 1
    for a, b in zip(i["days"], i["days"][1:]):
        run = run + 1 if b «>||>=» a else 1
        best = max(best, run)
    return best
""",
            """
def solution(i):
    d = i["days"]
    ends = [0] + [k for k in range(1, len(d)) if d[k] «<=||<» d[k - 1]] + [len(d)]
    return max(b - a for a, b in zip(ends, ends[1:]))
""",
            """
def solution(i):
    d, longest = i["days"], 0
    for k in range(len(d)):
        e = k
        while e + 1 < len(d) and d[e] «<||<=» d[e + 1]:
            e += 1
        longest = max(longest, e - k + 1)
    return longest
""",
        ),
        category="temporal",
    ),
    TwoReadings(
        "sales",
        "A shop sells, day by day, so many loaves: [Input Slot 1]. For a report the sales of the "
        "«first||last» [Input Slot 2] days are added up.",
        "Which number stands in the report?",
        """
def input(difficulty):
    sales = [random.randint(5, 30) for _ in range(5 + 3 * difficulty)]
    return {"sales": sales, "days": (days := random.randint(2, len(sales) - 2))}, [", ".join(map(str, sales)), str(days)]
""",  # noqa: E501
        (
            """
def solution(i):
    return sum(i["sales"][«: i["days"]||-i["days"] :»])
""",
            """
def solution(i):
    total, k = 0, «0||len(i["sales"]) - i["days"]»
    for _ in range(i["days"]):
        total += i["sales"][k]
        k += 1
    return total
""",
            """
from collections import deque


def solution(i):
    queue, total = deque(i["sales"]), 0
    while len(queue) > len(i["sales"]) - i["days"]:
        total += queue.«popleft||pop»()
    return total
""",
        ),
    ),
    TwoReadings(
        "robot",
        'A robot stands on a number line at [Input Slot 1] and obeys these commands: [Input Slot 2]. "L '
        '3" means that it goes '
        "3 steps to the left«, where the numbers get smaller||, and numbers grow to the "
        'left on this line»; "R 3" takes it 3 steps to the right.',
        "At which number does it end?",
        """
def input(difficulty):
    commands = [[random.choice("LR"), random.randint(1, 9)] for _ in range(3 + 2 * difficulty)]
    return {"at": (at := random.randint(20, 60)), "commands": commands}, [str(at), str(commands)]
""",
        (
            """
def solution(i):
    at = i["at"]
    for way, n in i["commands"]:
        if way == "L":
            at «-=||+=» n
        else:
            at «+=||-=» n
    return at
""",
            """
def solution(i):
    signs = {"L": «-1||1», "R": «1||-1»}
    return i["at"] + sum(signs[way] * n for way, n in i["commands"])
""",
            """
def solution(i):
    left = sum(n for way, n in i["commands"] if way == "L")
    right = sum(n for way, n in i["commands"] if way == "R")
    return i["at"] «- left + right||+ left - right»
""",
        ),
        forms=((0, 0), (0, 1)),
        category="spatial",
    ),
    TwoReadings(
        "journey",
        "A journey has these parts, each given as hours and minutes: [Input Slot 1].",
        "How many minutes does the whole journey take?",
        """
def input(difficulty):
    parts = [[random.randint(0, 4), random.randint(1, 59)] for _ in range(2 + 2 * difficulty)]
    return {"parts": parts}, [str(parts)]
""",
        (
            """
def solution(i):
    return sum(h * «60||100» + m for h, m in i["parts"])
""",
            """
def solution(i):
    hours = minutes = 0
    for h, m in i["parts"]:
        hours += h
        minutes += m
    return «60||100» * hours + minutes
""",
            """
def solution(i):
    total = 0
    for part in i["parts"]:
        total = total + part[1]
        total = total + part[0] * «60||100»
    return total
""",
        ),
        forms=((0, 0), (0, 1)),
        category="temporal",
    ),
    TwoReadings(
        "quarrel",
        "Children «sit around a round table||stand in a row, the ends far apart» and have so many "
        "cherries, in this order: [Input Slot 1]. A child is envious if one of its neighbours has at "
        "least [Input Slot 2] cherries more.",
        "How many children are envious?",
        """
def input(difficulty):
    c = [random.randint(0, 10 + difficulty) for _ in range(5 + 2 * difficulty)]
    return {"c": c, "more": (more := random.randint(2, 5))}, [", ".join(map(str, c)), str(more)]
""",
        (
            """
def solution(i):
    c, n, count = i["c"], len(i["c"]), 0
    for k in range(n):
        near = «[c[(k + 1) % n], c[k - 1]]||c[k + 1 : k + 2] + (c[k - 1 : k] if k else [])»
        count += any(x >= c[k] + i["more"] for x in near)
    return count
""",
            """
def solution(i):
    c = «i["c"][-1:] + i["c"] + i["c"][:1]||[-99] + i["c"] + [-99]»
    return sum(max(a, d) - b >= i["more"] for a, b, d in zip(c, c[1:], c[2:]))
""",
            """
def solution(i):
    envious = set()
    c = i["c"]
    pairs = [(k, k + 1) for k in range(len(c) - 1)]« + [(len(c) - 1, 0)]||»
    for a, b in pairs:
        if c[b] >= c[a] + i["more"]:
            envious.add(a)
        if c[a] >= c[b] + i["more"]:
            envious.add(b)
    return len(envious)
""",
        ),
        category="spatial",
    ),
    TwoReadings(
        "gifts",
        "Guests get in line and hold tickets with these numbers: [Input Slot 1]. Every third guest gets a "
        "gift, beginning with the «third||first» one.",
        "What is the sum of the ticket numbers of all guests who get a gift?",
        """
def input(difficulty):
    tickets = random.sample(range(1, 100), 6 + 3 * difficulty)
    return {"tickets": tickets}, [", ".join(map(str, tickets))]
""",
        (
            """
def solution(i):
    return sum(i["tickets"][«2::3||::3»])
""",
            """
def solution(i):
    return sum(t for k, t in enumerate(i["tickets"]) if k % 3 == «2||0»)
""",
            """
def solution(i):
    total, left = 0, «3||1»
    for t in i["tickets"]:
        left -= 1
        if not left:
            total, left = total + t, 3
    return total
""",
        ),
    ),
    TwoReadings(
        "teams",
        "Weights of judoka: [Input Slot 1]. A match is a pair of two of them whose weights differ by at "
        "most [Input Slot 2]; «the order of the two does not matter, so that each pair counts as one "
        "pair||we count ordered pairs».",
        "How many pairs are there?",
        """
def input(difficulty):
    w = [random.randint(50, 90) for _ in range(5 + 2 * difficulty)]
    return {"w": w, "d": (d := random.randint(2, 12))}, [", ".join(map(str, w)), str(d)]
""",
        (
            """
from itertools import «combinations||permutations»


def solution(i):
    return sum(abs(a - b) <= i["d"] for a, b in «combinations||permutations»(i["w"], 2))
""",
            """
def solution(i):
    w, count = sorted(i["w"]), 0
    for k, a in enumerate(w):
        e = k + 1
        while e < len(w) and w[e] - a <= i["d"]:
            e += 1
            count += «1||2»
    return count
""",
            """
def solution(i):
    n = len(i["w"])
    near = sum(1 for a in range(n) for b in range(n) if a != b and -i["d"] <= i["w"][a] - i["w"][b] <= i["d"])
    return near« // 2||»
""",
        ),
    ),
    TwoReadings(
        "keys",
        "Rooms of a castle and the rooms that can be entered from them: [Input Slot 1]. A ghost begins in "
        "room 1 and may go wherever it can enter, again and again.",
        "How many of the [Input Slot 2] rooms can the ghost «||not »reach«, its first one included||»?",
        """
def input(difficulty):
    n = 5 + 2 * difficulty
    ways = {str(k): sorted(random.sample(range(1, n + 1), random.choice([0, 1, 1, 2]))) for k in range(1, n + 1)}
    return {"ways": ways, "n": n}, [str(ways), str(n)]
""",  # noqa: E501
        (
            """
def solution(i):
    seen, todo = {1}, [1]
    for room in todo:
        for other in i["ways"][str(room)]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return «len(seen)||i["n"] - len(seen)»
""",
            """
def solution(i):
    seen = {1}
    for _ in range(i["n"]):
        seen |= {b for a in seen for b in i["ways"][str(a)]}
    return «len(seen)||len(set(range(1, i["n"] + 1)) - seen)»
""",
            """
def solution(i):
    def reach(seen):
        more = seen.union(*(i["ways"][str(a)] for a in seen))
        return seen if more == seen else reach(more)
    return «sum(k in reach({1}) for k in range(1, i["n"] + 1))||sum(k not in reach({1}) for k in range(1, i["n"] + 1))»
""",  # noqa: E501
        ),
        category="causal",
        forms=((0, 0), (1, 1), (1, 0)),
    ),
    TwoReadings(
        "ferry",
        "A ferry carries these vehicles, each with its length in metres: [Input Slot 1]. The fare is "
        "[Input Slot 2] coins a metre«, except that bicycles travel free of charge||».",
        "How many coins are paid in all?",
        """
def input(difficulty):
    kinds = ["car", "lorry", "bicycle", "bus"]
    v = [[random.choice(kinds), random.randint(1, 9)] for _ in range(4 + 2 * difficulty)]
    return {"v": v, "fare": (fare := random.randint(2, 9))}, [str(v), str(fare)]
""",
        (
            """
def solution(i):
    return sum(i["fare"] * m for kind, m in i["v"]« if kind != "bicycle"||»)
""",
            """
def solution(i):
    metres = 0
    for kind, m in i["v"]:
        metres += «0 if kind == "bicycle" else m||m»
    return metres * i["fare"]
""",
            """
def solution(i):
    paying = [m for kind, m in i["v"]« if not kind.startswith("bi")||»]
    total = 0
    for m in paying:
        total += m * i["fare"]
    return total
""",
        ),
        forms=((0, 0), (0, 1)),
        category="commonsense",
    ),
    TwoReadings(
        "barber",
        "A barber has customers who all come at the same hour and need so many minutes: [Input Slot 1]. "
        "He serves them in order of «increasing||decreasing» need.",
        "How many minutes do all customers wait together until their own turn begins?",
        """
def input(difficulty):
    need = [random.randint(5, 40) for _ in range(4 + 2 * difficulty)]
    return {"need": need}, [", ".join(map(str, need))]
""",
        (
            """
def solution(i):
    clock = waiting = 0
    for n in sorted(i["need"]«||, reverse=True»):
        waiting += clock
        clock += n
    return waiting
""",
            """
def solution(i):
    order = sorted(i["need"], key=lambda n: «n||-n»)
    return sum(n * (len(order) - 1 - k) for k, n in enumerate(order))
""",
            """
def solution(i):
    left, total = list(i["need"]), 0
    while left:
        n = «min||max»(left)
        left.remove(n)
        total += n * len(left)
    return total
""",
        ),
        category="temporal",
    ),
    TwoReadings(
        "divisors",
        "A clerk looks at these numbers: [Input Slot 1]. He keeps those that are divisible by [Input Slot "
        "2].",
        "Which numbers does he keep? Give them as a list in «ascending||descending» order.",
        """
def input(difficulty):
    d = random.randint(2, 4)
    n = random.sample(range(1, 40 + 10 * difficulty), 8 + 4 * difficulty) + [d * 2, d * 3, d * 7]
    random.shuffle(n)
    return {"n": (n := list(dict.fromkeys(n))), "d": d}, [", ".join(map(str, n)), str(d)]
""",
        (
            """
def solution(i):
    return sorted((n for n in i["n"] if n % i["d"] == 0)«||, reverse=True»)
""",
            """
def solution(i):
    return [n for n in «range(max(i["n"]) + 1)||range(max(i["n"]), -1, -1)» if n in i["n"] and not n % i["d"]]
""",
            """
def solution(i):
    kept, rest = [], [n for n in i["n"] if n // i["d"] * i["d"] == n]
    while rest:
        kept.append(«min||max»(rest))
        rest.remove(kept[-1])
    return kept
""",
        ),
        "list",
    ),
    TwoReadings(
        "tram",
        "At the stops of a tram line so many people get on: [Input Slot 1]. An inspector adds up these "
        "numbers, but «not counting the last stop||without the first stop».",
        "What does the inspector get?",
        """
def input(difficulty):
    p = [random.randint(0, 20) for _ in range(4 + 3 * difficulty)]
    return {"p": p}, [", ".join(map(str, p))]
""",
        (
            """
def solution(i):
    return sum(i["p"][«:-1||1:»])
""",
            """
def solution(i):
    return sum(i["p"]) - i["p"][«-1||0»]
""",
            """
def solution(i):
    total = 0
    for k, n in enumerate(i["p"]):
        if k != «len(i["p"]) - 1||0»:
            total += n
    return total
""",
        ),
    ),
    TwoReadings(
        "cinema",
        "Ages of people at a cinema: [Input Slot 1]. The film may be seen by everybody who is «at "
        "least||older than» sixteen; each of them pays [Input Slot 2] coins.",
        "How many coins does the cinema take in?",
        """
def input(difficulty):
    ages = [random.randint(13, 20) for _ in range(5 + 4 * difficulty)]
    return {"ages": ages, "price": (price := random.randint(5, 20))}, [", ".join(map(str, ages)), str(price)]
""",
        (
            """
def solution(i):
    return i["price"] * sum(a «>=||>» 16 for a in i["ages"])
""",
            """
def solution(i):
    inside = [a for a in i["ages"] if not a «<||<=» 16]
    return len(inside) * i["price"]
""",
            """
def solution(i):
    money = 0
    for a in i["ages"]:
        if a «> 15||> 16»:
            money += i["price"]
    return money
""",
        ),
        category="commonsense",
    ),
    TwoReadings(
        "guests",
        "Guests of a hotel stay from one day of the year to another: [Input Slot 1]. Each pays one coin a "
        "day, where the day of arrival and the day of departure «are both included||are not both counted: "
        "the day of departure is not counted».",
        "How many coins do they pay together?",
        """
def input(difficulty):
    stays = [[n, a, a + random.randint(1, 5 + difficulty)] for n in random.sample(NAMES, 3 + 2 * difficulty) for a in [random.randint(1, 300)]]
    return {"stays": stays}, [str(stays)]
""",  # noqa: E501
        (
            """
def solution(i):
    return sum(b - a« + 1||» for _, a, b in i["stays"])
""",
            """
def solution(i):
    return sum(len(range(a, b« + 1||»)) for _, a, b in i["stays"])
""",
            """
def solution(i):
    days = 0
    for stay in i["stays"]:
        days += stay[2] - stay[1]
    return days« + len(i["stays"])||»
""",
        ),
        category="temporal",
    ),
)
"""Thirty-one families, most in two good and two faulty forms."""
