"""Bundles of strangers who want more than a bundle may: time, memory, files and addresses of the machine that
verifies, or a verdict that is not theirs."""

import io
import json
import tarfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import zstandard
from bundle_fixtures import FAMILY, SMALL_PROMPTS, design_lake, family_lake, program_lake, prompt_lake
from bundle_forging import Change, answered, exported, forged, opened, repacked
from lent_pool import lent_pool
from programs_fixtures import apart

from evolake.bundles.container import as_json, pack
from evolake.bundles.exporting import COMMON
from evolake.families.model.contract import from_record
from evolake.families.model.family_files import read_family
from evolake.programs.model.project import pack_files, program_id, unpack_files
from evolake.settings import default_seeds
from evolake.solvers.bundle import SOURCES
from evolake.solvers.measuring_again import Duel, unfounded
from evolake.verifiers.own import OWN

MAKE: Mapping[str, Callable[[Path], Any]] = {
    "designs": design_lake,
    "families": family_lake,
    "programs": lambda root: program_lake(root, apart()),
    "prompts": prompt_lake,
}
NAMES = {"families": read_family(default_seeds() / "families" / FAMILY).family_id[:10]}
ENVIRONMENT = {f"EVOLAKE_PROMPTS__{name.upper()}": str(value) for name, value in SMALL_PROMPTS.items()}
HUGE = 10**9


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Callable[[str], Path]:
    """line -> its exported champion, made once; of a solver, as far as what is read before it is built."""
    made: dict[str, Path] = {}

    def of(line: str) -> Path:
        if line in made:
            return made[line]
        folder = tmp_path_factory.mktemp(line)
        if line == "solvers":
            made[line] = solver(of("designs"), folder / "champion.tar", {})
        else:
            MAKE[line](folder / "lake")
            made[line] = exported(
                folder / "lake", NAMES.get(line, line), folder / "champion.tar", **ENVIRONMENT
            )
        return made[line]

    return of


@pytest.fixture(autouse=True)
def commands_share_a_jail(monkeypatch) -> None:
    monkeypatch.setattr("evolake.jail.open_pool", lent_pool)


Entry = tarfile.TarInfo | bytes


def entry(kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    made = tarfile.TarInfo()
    made.type, made.linkname, made.mode = kind, link, mode
    return made


def archive(entries: Mapping[str, Entry]) -> bytes:
    """A tar file as anyone could write it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as file:
        for name, item in entries.items():
            info, data = (entry(), item) if isinstance(item, bytes) else (item, b"")
            info.name, info.size = name.partition("#")[0], len(data)
            file.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


CARD = b'base = "minisat22"\nadapter = "minisat22"\n'
RUN = {
    "suite": "quick",
    "instance": "x",
    "formula_sha": "0" * 64,
    "status": "sat",
    "cpu_s": 0.1,
    "conflicts": 1,
    "timeout_s": 1.0,
    "memory_mb": 64,
}
TRIAL = {
    "instance": "f0@0001",
    "formula": "f0",
    "family": None,
    "pair": 0,
    "part": "champion",
    "place": 0,
    "status": "sat",
    "solved": True,
    "certificate": "model",
    "proof_status": None,
    "cpu_s": 1.0,
    "timeout_s": 2.0,
}
SMALL_DUEL = {"timeout_s": 1, "memory_mb": 64, "proof_mb": 1, "proof_timeout_s": 1, "proof_memory_mb": 64}
Forge = Callable[[Path, Path], Path]
"""Called with an honest bundle and the place of the forged one."""


def solver(file: Path, out: Path, entries: Mapping[str, Entry], **claims: Any) -> Path:
    """A bundle of a solver whose archive has these entries, made of another line's."""
    held = opened(file)
    inside = {name: data for name, data in held.members.items() if name in COMMON}
    inside |= {
        SOURCES: zstandard.compress(archive({"variant.toml": CARD, **entries})),
        "verdicts.json": as_json({"verdicts": [], "rules": {}}),
        "claims.json": as_json({"base": "minisat22", "settings": {}, "runs": [], **claims}),
    }
    facts = {**held.facts, "line": "solvers", "kind": "variant", "champion": None}
    out.write_bytes(repacked(facts, inside))
    return out


def solver_of(entries: Mapping[str, Entry] | None = None, **claims: Any) -> Forge:
    return lambda file, out: solver(file, out, entries or {}, **claims)


def duel_with(seconds: float, **values: Any) -> Forge:
    trials = [TRIAL | {"part": part, "timeout_s": seconds} for part in ("champion", "challenger")]
    return solver_of(settings=SMALL_DUEL | values, duel={"cycle": "0001", "trials": trials})


def changed(change: Change) -> Forge:
    return lambda file, out: forged(file, out, change)


def settings(**values: Any) -> Forge:
    return changed(lambda claims, held: claims["settings"].update(values))


def of_first(name: str, **values: Any) -> Forge:
    return changed(lambda claims, held: claims[name][0].update(values))


def many_seeds(claims: dict[str, Any], held: Any) -> None:
    claims["search"] = [claims["search"][0] | {"seed": seed} for seed in range(1000)]


def many_instances(claims: dict[str, Any], held: Any) -> None:
    claims["instances"] = [claims["instances"][0] | {"seed": seed} for seed in range(50_000)]


def many_problems(claims: dict[str, Any], held: Any) -> None:
    claims["replies"] = [claims["replies"][0] | {"problem_id": f"{place}"} for place in range(5000)]


GREEDY: Mapping[str, Mapping[str, tuple[Forge, str]]] = {
    "prompts": {
        name: (settings(**{name: HUGE}), name)
        for name in (
            "max_tokens",
            "max_prompt_tokens",
            "lora_rank",
            "tool_turns",
            "tool_tokens",
            "heldout_problems",
            "heldout_samples",
        )
    }
    | {
        "replies to many problems": (changed(many_problems), "heldout_problems"),
        "many replies": (of_first("replies", sample=HUGE), "heldout_samples"),
    },
    "families": {
        name: (settings(**{name: HUGE}), name)
        for name in (
            "validators",
            "instances_per_family",
            "execution_seeds",
            "sample_seeds",
            "guess_seeds",
            "counted_seeds",
            "reviewer_turns",
            "memory_mb",
        )
    }
    | {
        "half an hour for one instance": (settings(instance_cpu_s=3.0), "instance_cpu_s"),
        "half an hour for a call": (settings(call_cpu_s=21.0), "call_cpu_s"),
        "difficulties": (settings(gate_difficulties=[1] * 999), "gate_difficulties"),
        "reviews": (settings(blind_difficulties=[1] * 999), "blind_difficulties"),
        "many instances": (changed(many_instances), "instances_per_family"),
    },
    "designs": {
        "batch": (settings(batch=2000), "batch"),
        "n_start": (settings(n_start=20_000), "high.max_n"),
        "high": (settings(high={"max_n": 20_000, "max_steps": 1, "core_s": 1}), "high.max_n"),
        "ratio": (settings(ratio=20.0), "ratio"),
        "a run's batch": (of_first("runs", batch=2000), "batch"),
        "a run's size": (of_first("runs", N=20_000), "high.max_n"),
        "a run's ratio": (of_first("runs", ratio=20.0), "ratio"),
    },
    "programs": {"seeds of the search": (changed(many_seeds), "heldout_repeats")},
    "solvers": {name: (duel_with(1.0, **{name: HUGE}), name) for name in SMALL_DUEL if name != "timeout_s"}
    | {
        "time of a duel": (duel_with(7200.0), "timeout_s"),
        "time of a run": (solver_of(runs=[RUN | {"timeout_s": 7200.0}]), "timeout_s"),
        "memory of a run": (solver_of(runs=[RUN | {"memory_mb": 65_536}]), "memory_mb"),
    },
}


@pytest.mark.parametrize(("line", "name"), [(line, name) for line, cases in GREEDY.items() for name in cases])
def test_what_verifying_costs_is_said_by_this_machine(honest, line, name, tmp_path):
    forge, setting = GREEDY[line][name]
    code, answer = answered(forge(honest(line), tmp_path / "a.tar"), **ENVIRONMENT)
    variable = f"EVOLAKE_{line.upper()}__{setting.upper().replace('.', '__')}"
    assert code == 3 and f"the bundle asks for {setting} " in answer["reasons"][0], answer
    assert variable in answer["reasons"][0]
    assert {item["what"] for item in answer["run_again"]} <= {"identity"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("sampler", "vllm"),
        ("vllm_url", "http://127.0.0.1:9"),
        ("vllm_folder", "/etc"),
        ("sampler", "transformers"),
    ],
)
def test_who_samples_is_not_said_by_a_bundle(honest, name, value, tmp_path):
    """No address that it names is called, and no folder is written to."""
    file = settings(**{name: value})(honest("prompts"), tmp_path / "a.tar")
    code, answer = answered(file, **ENVIRONMENT)
    assert code == 1 and f"its settings have {name}, which only the machine" in answer["reasons"][0], answer
    assert not answer["run_again"]


def with_member(name: str, change: Callable[[bytes], bytes]) -> Forge:
    def forge(file: Path, out: Path) -> Path:
        whole = opened(file)
        out.write_bytes(repacked(whole.facts, {**whole.members, name: change(whole.members[name])}))
        return out

    return forge


def raw(change: Callable[[dict[str, Entry]], dict[str, Entry]]) -> Forge:
    """The tar file with other entries."""

    def forge(file: Path, out: Path) -> Path:
        with tarfile.open(file) as whole:
            entries: dict[str, Entry] = {
                item.name: source.read() for item in whole if (source := whole.extractfile(item))
            }
        out.write_bytes(archive(change(entries)))
        return out

    return forge


def twice(key: bytes, value: bytes) -> Callable[[bytes], bytes]:
    """JSON in which a key comes twice: the first is for the eye, the last is what Python takes."""
    return lambda data: data.replace(b"{", b"{" + key + b": " + value + b", ", 1)


def not_json(file: Path, out: Path) -> Path:
    """A score that is no number, for which every comparison is false."""
    whole = opened(file)
    held = {"cycle": "0001", "since": "0001", "score": float("nan"), "gain": None}
    out.write_bytes(pack({**whole.facts, "champion": held}, whole.members))
    return out


def renamed_family(file: Path, out: Path) -> Path:
    """The title in letters that only look the same, under its own right hashes; the instances are the old
    ones."""
    whole = opened(file)
    record = json.loads(whole.members["family.json"])
    record["title"] = record["title"].replace("e", "\u0435") + "\x1b[2K"
    name = from_record(record).family_id
    lineage = json.loads(whole.members["lineage.json"])
    lineage["artifacts"][-1]["artifact_id"] = name
    members = {"family.json": as_json(record), "lineage.json": as_json(lineage)}
    return forged(file, out, members=members, artifact_id=name, title=record["title"])


def swapped(claims: dict[str, Any], held: Any) -> None:
    """Two instances take each other's label."""
    first, last = claims["instances"][0], claims["instances"][-1]
    first["answer"], last["answer"] = last["answer"], first["answer"]
    if first["answer"] == last["answer"]:
        first["answer"] = "null"


def unseen_character(claims: dict[str, Any], held: Any) -> None:
    claims["instances"][0]["text"] += "\u200b"


def program_with(file: Path, out: Path, **more: str) -> Path:
    """A program that brings a file next to its own, under right hashes."""
    whole = opened(file)
    texts = json.loads(whole.members["program.json"]) | more
    made = program_id("toy", texts)
    lineage = json.loads(whole.members["lineage.json"])
    first = lineage["artifacts"][-1]
    lineage["artifacts"].append(first | {"artifact_id": made})
    lineage["derivations"].append(
        {"child_id": made, "parent_id": first["artifact_id"], "operator": "model", "weight": 1.0}
    )
    members = {"program.json": json.dumps(texts).encode(), "lineage.json": as_json(lineage)}
    return forged(file, out, members=members, artifact_id=made)


def project_with(**more: bytes) -> Forge:
    def forge(file: Path, out: Path) -> Path:
        files = unpack_files(opened(file).members["project.json"])
        return forged(file, out, members={"project.json": pack_files(files | more)})

    return forge


def prompt_named_otherwise(file: Path, out: Path) -> Path:
    """A principle in another Unicode form reads the same and has another id."""
    rows = json.loads(opened(file).members["prompts.json"])
    rows[-1]["principles"] = rows[-1]["principles"].replace("end", "e\u0301nd")
    return forged(file, out, members={"prompts.json": as_json(rows)})


def own_scorer(file: Path, out: Path) -> Path:
    """Problems that are said to ship, with a scorer by which every reply is right."""
    rows = json.loads(opened(file).members["problems.json"])
    source = "def f(*words, **more):\n    return 1.0\n"
    carried = json.dumps({"name": "s.py:f", "function": "f", "source": source})
    for row in rows:
        row.update(scorer=f"{OWN}s.py:f", entry=carried, source="shipped")

    def right(claims: dict[str, Any], held: Any) -> None:
        for row in claims["replies"]:
            row.update(correct=True, formatted=False)

    return forged(file, out, right, {"problems.json": as_json(rows)})


def pickled(file: Path, out: Path) -> Path:
    """Weights that a reader of pickles would run."""
    return forged(file, out, members={"checkpoint.safetensors": b"cos\nsystem\n(S'true'\ntR."})


FORGERIES: Mapping[str, Mapping[str, tuple[Forge, str]]] = {
    "families": {
        "a member is a link": (
            raw(lambda entries: {**entries, "family.json": entry(tarfile.SYMTYPE, "/etc/passwd")}),
            "a header in it is none",
        ),
        "the record has a key twice": (
            with_member("family.json", twice(b'"validator"', b'"def solution(inputs): return 1"')),
            "has the key 'validator' twice",
        ),
        "more voters than there are": (of_first("instances", voters=10**300, votes=10**300), "its voters is"),
        "labels are swapped": (changed(swapped), "the label is"),
        "a text with a character of no width": (changed(unseen_character), "its text is"),
    },
    "designs": {
        "a member in the folder above": (
            raw(lambda entries: {**entries, "../../x.py": b"x"}),
            "a header in it is none",
        ),
        "the claims have their runs twice": (
            with_member("claims.json", twice(b'"runs"', b"[]")),
            "has the key 'runs' twice",
        ),
        "a score that is no number": (not_json, "the root hash is not that"),
        "a value of more digits than a number holds": (
            changed(lambda claims, held: claims["hyper"].update(lr=10**400)),
            "is not a finite number",
        ),
        "fewer steps than none": (of_first("runs", median_step=-5), "measured is"),
    },
    "programs": {
        "a text of the program has a key twice": (
            with_member("program.json", twice(b'"initial_program.py"', b'"good"')),
            "has the key 'initial_program.py' twice",
        ),
        "the program brings an evaluator": (
            lambda file, out: program_with(file, out, **{"evaluator.py": "def cases(seed): return []\n"}),
            "blocks it",
        ),
        "the project has a file above its folder": (
            project_with(**{"../evaluator.py": b"x = 1\n"}),
            "a plain relative path without '..'",
        ),
        "the project's name in wide letters": (
            changed(lambda claims, held: claims.update(project="\uff54oy")),
            "identity",
        ),
        "another state in its verdicts": (
            with_member("verdicts.json", lambda data: data.replace(b'"pass"', b'"p\xd0\xb0ss"', 1)),
            "its own verdicts say",
        ),
    },
    "prompts": {
        "weights are a pickle": (pickled, "are no checkpoint"),
        "every reply is right by its own scorer": (own_scorer, "is none that a run"),
        "a principle in another Unicode form": (prompt_named_otherwise, "have another id"),
        "a reply before the first": (of_first("replies", sample=-1), "cannot be read"),
        "another archive follows": (
            lambda file, out: (out.write_bytes(file.read_bytes() * 2), out)[1],
            "something follows its last member",
        ),
    },
    "solvers": {
        "sources above the folder": (solver_of({"../../x.cc": b"x"}), "an entry named '../../x.cc'"),
        "a link out of the sources": (
            solver_of({"sources": entry(tarfile.SYMTYPE, "/etc")}),
            "an entry 'sources' that is",
        ),
        "a hard link to the card": (
            solver_of({"sources/a.cc": entry(tarfile.LNKTYPE, "/etc/passwd")}),
            "that is a device, a hard link",
        ),
        "an adapter of this machine's disk": (
            solver_of({"variant.toml": CARD.replace(b'r = "minisat22"', b'r = "/etc/x.toml"')}),
            "its adapter is a file",
        ),
        "a run without end": (solver_of(runs=[RUN | {"timeout_s": 1e999}]), "Out of range"),
    },
}


@pytest.mark.parametrize(
    ("line", "name"), [(line, name) for line, cases in FORGERIES.items() for name in cases]
)
def test_a_forged_bundle_is_refused(honest, line, name, tmp_path):
    forge, said = FORGERIES[line][name]
    source = honest("designs" if line == "solvers" else line)
    code, answer = answered(forge(source, tmp_path / "forged.tar"), "--all", **ENVIRONMENT)
    assert code in (1, 3) and said in answer["reasons"][0], answer


def test_a_duel_that_lacks_very_many_runs_is_refused_without_listing_them():
    """Fifty thousand formulas, one of them with a thousandth pass."""
    rows = [TRIAL | {"instance": f"f{number}@0001"} for number in range(50_000)]
    duel = Duel.model_validate({"cycle": "0001", "trials": [*rows, TRIAL | {"pair": 999}]})
    assert "its duel lacks 99,949,999 runs: f0@0001, pass 0" in unfounded({"gain": {}}, duel, "a", 0)


def test_a_title_of_the_same_look_is_the_senders_word_and_has_another_identity(honest, tmp_path):
    """It holds: an id says nothing of the title."""
    code, answer = answered(renamed_family(honest("families"), tmp_path / "a.tar"), "--sample", "1")
    assert code == 0
    _, first = answered(honest("families"), "--sample", "1")
    assert answer["identity"]["sha256"] != first["identity"]["sha256"]
    assert "\x1b" not in "".join(item["said"] for item in answer["senders_word"])


def test_gates_that_were_asked_at_fewer_places_than_here_are_named(honest, tmp_path):
    forge = settings(sample_seeds=7, gate_difficulties=[1, 3, 5, 7, 9])
    file = forge(honest("families"), tmp_path / "a.tar")
    code, answer = answered(file, "--sample", "1")
    said = next(item["said"] for item in answer["notes"] if item["what"] == "sizes")
    assert (
        code == 0
        and "gate_difficulties [1, 3, 5, 7, 9] (here [1, 3, 5, 7, 10])" in said
        and "sample_seeds 7 (here 8)" in said
    )
    assert not [item for item in answered(honest("families"))[1]["notes"] if item["what"] == "sizes"]
