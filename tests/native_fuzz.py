"""Compare evolake's checker in C with the other checkers, which share no code with it, on random proofs.

A unit test runs it, and `make attack` for longer.
The program runs outside the jail here: thousands of proofs, all of them made here.
"""

import random
import subprocess
from collections import Counter
from pathlib import Path

from proof_cases import planted, random_problem, random_refutation, random_steps, satisfiable, solved, text_of

from evolake.reading.formula import formula_of, write_dimacs
from evolake.solvers.proof.drat import BadProof, Proof, read_proof, refute, write_binary, write_text
from evolake.solvers.proof.lrat import read_lrat_text, refute_by_hints, write_lrat_binary


class Fuzz:
    """A compiled checker (`program`), and a folder for the two files of each proof. counts: of what was
    seen."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program, self.cnf, self.proof = program, folder / "a.cnf", folder / "a.proof"
        self.counts: Counter[str] = Counter()

    def says(self, cnf: bytes, proof: bytes, spelling: str) -> str:
        """Return the one line that the program prints. Fails if it ends in any other way."""
        self.cnf.write_bytes(cnf)
        self.proof.write_bytes(proof)
        done = subprocess.run(
            [self.program, self.cnf, self.proof, spelling], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr, done.stdout.count("\n")) == (0, "", 1), done
        return done.stdout

    def drat(
        self, seed: int, variables: int, clauses: list[list[int]], proof: Proof, is_satisfiable: bool
    ) -> None:
        """Nothing satisfiable is verified, and all that forward checking verifies is."""
        formula = formula_of(variables, clauses)
        write, spelling = (write_binary, "drat-binary") if seed % 2 else (write_text, "drat-text")
        said = self.says(write_dimacs(formula), write(proof), spelling)
        verified, forward = said.startswith("verified "), refute(formula, proof)[0]
        assert not (verified and is_satisfiable), seed
        assert verified or not forward, (seed, said)
        if forward:
            outcome = "verified"
        elif verified:
            outcome = "verified, with a bad lemma that nothing needs"
        else:
            outcome = "refused"
        self.counts[outcome] += 1
        self.counts["by RAT"] += verified and "tautology" in said

    def small(self, seed: int) -> None:
        """Check a random proof of a formula of at most four variables, with every assignment as the judge."""
        variables, clauses, proof = random_problem(seed)
        self.drat(seed, variables, clauses, proof, satisfiable(variables, clauses))

    def solvers(self, seed: int) -> None:
        """Check a solver's proof, with deletions and faults."""
        variables, clauses, text = random_refutation(seed, solved)
        self.drat(seed, variables, clauses, read_proof(text), solved(clauses) is None)

    def lrat(self, seed: int) -> None:
        """Check a random LRAT proof, half of them with a fault: the verdict is that of the checker in
        Python."""
        variables, clauses, _ = random_problem(seed)
        dice = random.Random(seed)
        steps = random_steps(variables, clauses, dice)
        if dice.random() < 0.5:
            steps = planted(steps, dice)
        formula, text = formula_of(variables, clauses), text_of(steps)
        proof = read_lrat_text(text)
        data, spelling = (write_lrat_binary(proof), "lrat-binary") if seed % 2 else (text, "lrat-text")
        said = self.says(write_dimacs(formula), data, spelling)
        expected, reason = refute_by_hints(formula, proof)
        assert said.startswith("verified ") == expected, (seed, said, reason)
        self.counts["LRAT verified" if expected else "LRAT refused"] += 1

    def damaged(self, seed: int) -> None:
        """Check a proof with a changed byte: what the strict reader does not read, the program does not
        verify."""
        variables, clauses, proof = random_problem(seed)
        dice, formula = random.Random(seed), formula_of(variables, clauses)
        write, spelling = (write_binary, "drat-binary") if seed % 2 else (write_text, "drat-text")
        data = bytearray(write(proof))
        place = dice.randrange(len(data))
        data[place : place + dice.randrange(2)] = dice.choice(
            [b"", b"0", b" ", b"\n", b"d", b"-", b"c", b"\r", b"\xff", b"\x00", b"\x80", b"7"]
        )
        said = self.says(write_dimacs(formula), bytes(data), spelling)
        try:
            read = read_proof(bytes(data), "drat-binary" if seed % 2 else "drat-text")
        except BadProof:
            assert not said.startswith("verified "), (seed, bytes(data), said)
            self.counts["unread"] += 1
            return
        assert said.startswith("verified ") or not refute(formula, read)[0], (seed, bytes(data), said)
        self.counts["read"] += 1
