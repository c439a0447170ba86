"""The checkers' process is jailed: what a hostile proof could make of it finds neither the host's files nor a
network, nor a way to stay."""

from proof_kit import SQUARE, dimacs

from evolake.jail import direct
from evolake.solvers.proof import ProofLimits, asking

WORKER = """
import json, os, socket, sys
sys.stdout.write("ready\\n")
secret, seen = sys.argv[1], []
def tried(name, attempt):
    try:
        attempt()
        seen.append(name)
    except OSError:
        pass
tried("read", lambda: open(secret).read())
tried("write", lambda: open(secret + ".left", "w"))
tried("network", lambda: socket.socket())
tried("fork", lambda: os._exit(7) if os.fork() == 0 else None)
tried("mode", lambda: os.chmod("/dev/null", 0o666))
tried("beside", lambda: open("other", "w"))
print(json.dumps({"verdict": "verified", "reason": " ".join(seen) or "nothing", "format": "drat"}))
"""


def test_a_checker_taken_over_by_its_proof_reaches_nothing(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "a.cnf").write_bytes(dimacs(SQUARE))
    (tmp_path / "a.drat").write_bytes(b"2 0\n0\n")
    real = direct.run_direct

    def taken_over(run, limits):
        return real(direct.replace(run, argv=[run.argv[0], "-c", WORKER, str(tmp_path / "secret")]), limits)

    monkeypatch.setattr(asking, "run_direct", taken_over)
    result = asking.ask_worker(
        "native", tmp_path / "a.cnf", tmp_path / "a.drat", ProofLimits(cpu_s=5, memory_mb=512), "auto"
    )
    assert (result.verdict, result.reason) == ("verified", "nothing")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.cnf", "a.drat", "secret"]
