"""Themes: names and words in which a structure's constraints and questions are said. Names of a theme begin
with different letters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PERSONS = {"nobody": "nobody", "somebody": "somebody", "folk": "persons", "member": "person"}


@dataclass(frozen=True)
class Theme:
    """Words for one structure.

    opening: sentences before the clues, with [Input Slot 1] for the names and, where the structure has them,
    further slots. words: see the patterns of the structure's constraints and the questions.
    """

    key: str
    title: str
    category: str
    names: tuple[str, ...]
    opening: str
    words: Mapping[str, str]


def _row(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"on {place}",
        "at_a": f"on a {place}",
        "next": f"on neighbouring {place}s",
        **PERSONS,
        **words,
    }
    spoken = {"first": f"on the first {place}", "last": f"on the last {place}"} | spoken
    spoken["the_next"] = f"{spoken['at'].split()[0]} the next {place}"
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


ROW = (
    _row(
        "chairs",
        "Friends on a row of chairs",
        "spatial",
        "Anna Bert Clara Dora Emil Fritz Gina Hugo",
        "In a row of chairs, numbered 1, 2, 3, ... from left to right, there are as many chairs as "
        "friends: [Input Slot 1]. Each friend sits on one chair, and no two share one. A friend's number "
        "is the number of the chair.",
        wear="wear a hat",
        those="those with a hat",
        folk="friends",
        member="friend",
        place="chair",
        be="sits",
        bes="sit",
        bare="sit",
        ahead="to the left of",
        behind="to the right of",
    ),
    _row(
        "floors",
        "Tenants of a tower",
        "spatial",
        "Ines Jonas Klara Ludwig Marta Nina Otto Paul",
        "A narrow tower has as many floors as tenants, numbered 1, 2, 3, ... from the bottom to the top. "
        "On each floor lives exactly one of the tenants [Input Slot 1]. A tenant's number is the number "
        "of the floor.",
        wear="own a cat",
        those="the cat owners",
        folk="tenants",
        member="tenant",
        place="floor",
        be="lives",
        bes="live",
        bare="live",
        ahead="below",
        behind="above",
    ),
    _row(
        "race",
        "Runners at the finish",
        "temporal",
        "Abel Bruno Chris David Edgar Felix Georg Henry",
        "In a race, [Input Slot 1] reach the finish one after the other, no two at the same moment. A "
        "runner's number is the rank: 1 for the one who comes in first, 2 for the next, and so on to the "
        "last.",
        wear="wear a cap",
        those="those with a cap",
        folk="runners",
        member="runner",
        place="rank",
        be="comes in",
        bes="come in",
        bare="come in",
        ahead="ahead of",
        behind="behind",
        at="on rank",
        next="on neighbouring ranks",
        first="as the very first",
        last="as the very last",
    ),
    _row(
        "talks",
        "Speakers at a meeting",
        "temporal",
        "Amir Berta Cosima Dunja Elias Farid Greta Hanna",
        "At a meeting, [Input Slot 1] give one talk each. The talks are held one after the other in slots "
        "numbered 1, 2, 3, ..., one talk in each slot, and no slot is left over. A speaker's number is "
        "the number of the slot.",
        wear="come from abroad",
        those="those from abroad",
        folk="speakers",
        member="speaker",
        place="slot",
        be="speaks",
        bes="speak",
        bare="speak",
        ahead="before",
        behind="after",
        at="in slot",
        at_a="in a slot",
        next="in neighbouring slots",
        first="in the first slot",
        last="in the last slot",
    ),
    _row(
        "queue",
        "Customers in a queue",
        "spatial",
        "Ada Boris Cleo Dirk Elsa Finn Gerda Heinz",
        "In front of a counter, [Input Slot 1] stand in one queue. Places are numbered from the counter: "
        "place 1 is the one that is served next. A customer's number is the number of the place.",
        wear="carry a basket",
        those="those with a basket",
        folk="customers",
        member="customer",
        place="place",
        be="stands",
        bes="stand",
        bare="stand",
        ahead="ahead of",
        behind="behind",
    ),
    _row(
        "ships",
        "Ships along a quay",
        "spatial",
        "Albatross Bluebell Cormorant Dolphin Egret Falcon Gannet Heron",
        "Along a quay there are as many berths as ships, numbered 1, 2, 3, ... from west to east, and in "
        "each berth lies exactly one of the ships [Input Slot 1]. A ship's number is the number of the "
        "berth.",
        wear="carry coal",
        those="the ships with coal",
        place="berth",
        be="lies",
        bes="lie",
        bare="lie",
        ahead="west of",
        behind="east of",
        at="in berth",
        at_a="in a berth",
        next="in neighbouring berths",
        first="in the first berth",
        last="in the last berth",
        nobody="no ship",
        somebody="some ship",
        folk="ships",
        member="ship",
    ),
    _row(
        "books",
        "Books on a shelf",
        "spatial",
        "Atlas Bible Cookbook Dictionary Encyclopedia Fables Grammar History",
        "On a shelf stand the books [Input Slot 1] side by side. Their positions are numbered 1, 2, 3, "
        "... from left to right. A book's number is the number of its position.",
        wear="are bound in leather",
        those="the leather-bound books",
        place="position",
        be="stands",
        bes="stand",
        bare="stand",
        ahead="to the left of",
        behind="to the right of",
        at="at position",
        at_a="at a position",
        next="at neighbouring positions",
        first="at the first position",
        last="at the last position",
        nobody="no book",
        somebody="some book",
        folk="books",
        member="book",
    ),
    _row(
        "shifts",
        "Nurses on night duty",
        "temporal",
        "Agnes Bella Carmen Doris Erika Frida Gudrun Helga",
        "In as many nights as there are nurses, each of the nurses [Input Slot 1] is on duty for exactly "
        "one night, and every night exactly one nurse is on duty. Nights are numbered 1, 2, 3, ... in the "
        "order of the calendar. A nurse's number is the number of the night.",
        wear="have children",
        those="the nurses with children",
        folk="nurses",
        member="nurse",
        place="night",
        be="is on duty",
        bes="are on duty",
        bare="have duty",
        ahead="before",
        behind="after",
        at="in night",
        at_a="in a night",
        next="in neighbouring nights",
        first="in the first night",
        last="in the last night",
    ),
)
RING = (
    _row(
        "dinner",
        "Guests at a round table",
        "spatial",
        "Alma Basil Cora Denis Edda Franz Gregor Hilda",
        "At a round table, the seats are numbered 1, 2, 3, ... clockwise, so that the seat with the "
        "highest number is directly beside seat 1. On each seat sits exactly one of the guests [Input "
        "Slot 1], and all of them sit. A guest's number is the number of the seat.",
        wear="drink wine",
        those="the wine drinkers",
        folk="guests",
        member="guest",
        place="seat",
        be="sits",
        bes="sit",
        bare="sit",
    ),
    _row(
        "carousel",
        "Children on a carousel",
        "spatial",
        "Amy Bob Cathy Danny Ella Frank Grace Harry",
        "On a carousel the horses stand in a circle and are numbered 1, 2, 3, ... clockwise; the horse "
        "with the highest number is directly beside horse 1. On each horse rides exactly one of the "
        "children [Input Slot 1], and all of them ride. A child's number is the number of the horse.",
        wear="have a balloon",
        those="the children with a balloon",
        folk="children",
        member="child",
        place="horse",
        be="rides",
        bes="ride",
        bare="ride",
    ),
    _row(
        "huts",
        "Fishermen around a lake",
        "spatial",
        "Adler Bauer Conrad Dietz Engel Fuchs Gruber Huber",
        "Around a lake stand huts, numbered 1, 2, 3, ... clockwise; the hut with the highest number is "
        "directly beside hut 1. In each hut lives exactly one of the fishermen [Input Slot 1], and all of "
        "them live there. A fisherman's number is the number of the hut.",
        wear="own a sailing boat",
        those="the owners of a sailing boat",
        folk="fishermen",
        member="fisherman",
        place="hut",
        be="lives",
        bes="live",
        bare="live",
        at="in hut",
        at_a="in a hut",
    ),
)


def _groups(key, title, category, names, opening, **words) -> Theme:
    place = words["place"]
    spoken = {
        "places": f"{place}s",
        "at": f"in {place}",
        "in_a": f"in a {place}",
        "same": f"in the same {place}",
        "different": f"in different {place}s",
        **PERSONS,
        **words,
    }
    return Theme(key, title, category, tuple(names.split()), opening, spoken)


GROUPS = (
    _groups(
        "boats",
        "Who sails in which boat",
        "logical",
        "Arne Birgit Carsten Dagmar Eike Frauke Gesa Hinrich",
        "The sailors [Input Slot 1] go out in boats, numbered from 1 to [Input Slot 3]. Everybody sails "
        "in exactly one boat, and a boat takes at most [Input Slot 4] persons. A boat may stay empty.",
        wear="cannot swim",
        those="those who cannot swim",
        place="boat",
        be="sails",
        bes="sail",
        bare="sail",
        folk="sailors",
        member="sailor",
    ),
    _groups(
        "tents",
        "Scouts and their tents",
        "logical",
        "Alec Bodo Cyril Dario Enno Falk Gino Hasso",
        "The scouts [Input Slot 1] sleep in tents, numbered from 1 to [Input Slot 3]. Everybody sleeps in "
        "exactly one tent, and there is room for at most [Input Slot 4] in one tent. A tent may stay "
        "empty.",
        wear="snore",
        those="those who snore",
        place="tent",
        be="sleeps",
        bes="sleep",
        bare="sleep",
        folk="scouts",
        member="scout",
    ),
    _groups(
        "shelves",
        "Jars on the shelves of a larder",
        "logical",
        "Almond Basil Cinnamon Dill Elderberry Fennel Ginger Honey",
        "In a larder stand jars with the labels [Input Slot 1]. The shelves are numbered from 1 at the "
        "bottom to [Input Slot 3] at the top. Each jar stands on exactly one shelf, and a shelf holds at "
        "most [Input Slot 4] jars. A shelf may stay empty.",
        wear="are made of glass",
        those="the jars of glass",
        place="shelf",
        places="shelves",
        be="stands",
        bes="stand",
        bare="stand",
        at="on shelf",
        in_a="on a shelf",
        same="on the same shelf",
        different="on different shelves",
        nobody="no jar",
        folk="jars",
        member="jar",
    ),
    _groups(
        "days",
        "Appointments in a surgery",
        "temporal",
        "Arnold Bianca Claude Daphne Erwin Fiona Gerald Hedwig",
        "The patients [Input Slot 1] have one appointment each, on one of the days that are numbered from "
        "1 to [Input Slot 3] in the order of the calendar. On one day at most [Input Slot 4] of them can "
        "come. A day may be without any of them.",
        wear="have a cough",
        those="those with a cough",
        place="day",
        be="comes",
        bes="come",
        bare="come",
        at="on day",
        in_a="on a day",
        same="on the same day",
        different="on different days",
        folk="patients",
        member="patient",
    ),
    _groups(
        "teams",
        "Players and their teams",
        "relational",
        "Ayla Britt Celia Diana Elke Flora Gerti Heike",
        "For a tournament, [Input Slot 1] are put into teams, numbered from 1 to [Input Slot 3]. "
        "Everybody plays in exactly one team, and a team has at most [Input Slot 4] members. A team may "
        "stay empty.",
        wear="are left-handed",
        those="the left-handed players",
        place="team",
        be="plays",
        bes="play",
        bare="play",
        folk="players",
        member="player",
    ),
)


def _selection(key, title, category, names, opening, **words) -> Theme:
    return Theme(key, title, category, tuple(names.split()), opening, words)


SELECTION = (
    _selection(
        "backpack",
        "What goes into the backpack",
        "commonsense",
        "Axe Blanket Compass Drum Easel Flute Guitar Hammock Iron",
        "For a hike, things may be packed: [Input Slot 1]. In this order, they weigh (in kilograms): "
        "[Input Slot 3]. Each thing is packed or left at home.",
        wear="are borrowed",
        those="the borrowed things",
        part="packed",
        folk="things",
        member="thing",
        weight="a weight",
        unit="kilograms",
        total="weight",
    ),
    _selection(
        "party",
        "Who is invited",
        "relational",
        "Albert Beate Cecil Doreen Ernst Frieda Gustav Hilde Ida",
        "For a party, these acquaintances may be invited: [Input Slot 1]. In this order, they eat (in "
        "slices of cake): [Input Slot 3]. Each of them is invited or not.",
        wear="play an instrument",
        those="those who play an instrument",
        part="invited",
        folk="acquaintances",
        member="acquaintance",
        weight="an appetite",
        unit="slices",
        total="number of slices",
    ),
    _selection(
        "garden",
        "What is planted",
        "commonsense",
        "Aster Begonia Crocus Dahlia Edelweiss Foxglove Gentian Hyacinth Iris",
        "In a bed, these sorts of flowers may be planted: [Input Slot 1]. In this order, they need (in "
        "square feet): [Input Slot 3]. Each sort is planted or not.",
        wear="have yellow flowers",
        those="the yellow sorts",
        part="planted",
        folk="sorts",
        member="sort",
        weight="a need",
        unit="square feet",
        total="need in square feet",
    ),
    _selection(
        "concert",
        "Which pieces are played",
        "logical",
        "Allegro Ballad Cantata Dirge Elegy Fugue Gavotte Hymn Intermezzo",
        "For a concert, these pieces may be played: [Input Slot 1]. In this order, they take (in "
        "minutes): [Input Slot 3]. Each piece is played or not, and none twice.",
        wear="are by the same composer",
        those="the pieces by this composer",
        part="played",
        folk="pieces",
        member="piece",
        weight="a length",
        unit="minutes",
        total="length in minutes",
    ),
    _selection(
        "budget",
        "Which projects are funded",
        "causal",
        "Aqueduct Bridge Canal Dam Embankment Ferry Garage Harbour Inn",
        "A town looks at projects: [Input Slot 1]. In this order, they cost (in millions): [Input Slot "
        "3]. Each project is funded or not.",
        wear="lie on the river",
        those="the projects on the river",
        part="funded",
        folk="projects",
        member="project",
        weight="a cost",
        unit="millions",
        total="cost in millions",
    ),
)
THEMES = {"row": ROW, "ring": RING, "groups": GROUPS, "selection": SELECTION}
