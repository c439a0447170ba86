"""The exceptions of evolake, and what each means to a user or a caller.

    EvolakeError                    exit code 3 unless a subclass says otherwise
    ├── InputError                  exit code 2: the user gave something that cannot be used
    └── MachineryError              exit code 3: our own equipment failed; nothing was judged
        ├── JailUnavailable         no working sandbox: generated code is not run
        ├── HostBusy                the host gave a candidate no processor for as long as its limit, in several tries
        ├── LakeError               the lake is damaged or busy
        │   ├── CorruptPart         bytes differ from the manifest; the part is in quarantine
        │   └── PartitionBusy       another run holds the lock of this partition or line
        ├── AgentUnavailable        the model endpoint cannot be used (a missing key or endpoint is an InputError)
        └── BudgetExhausted         the next call would pass the budget; what was paid for is kept

That a *candidate* failed is never an exception: it is a value (an outcome, a verdict row).
Every error names the thing, what was wanted, what was got, and what to do next.
"""  # noqa: E501

from __future__ import annotations


class EvolakeError(Exception):
    """Base of every error that a user may see. `str(error)` is the whole message, one to four short
    clauses."""

    exit_code = 3

    def __init__(
        self, what: str, *, wanted: str | None = None, got: str | None = None, do: str | None = None
    ):
        self.what, self.wanted, self.got, self.do = what, wanted, got, do
        parts = [what.rstrip(".")]
        if wanted:
            parts.append(f"wanted: {wanted}")
        if got:
            parts.append(f"got: {got}")
        if do:
            parts.append(f"next: {do}")
        super().__init__("\n  ".join(parts))

    def to_json(self) -> dict[str, str | None]:
        """Return the clauses by name, as `--json` prints them."""
        return {"what": self.what, "wanted": self.wanted, "got": self.got, "next": self.do}

    def __reduce__(self):
        return (_rebuild, (type(self), self.what, self.wanted, self.got, self.do))


def _rebuild(
    kind: type[EvolakeError], what: str, wanted: str | None, got: str | None, do: str | None
) -> EvolakeError:
    return kind(what, wanted=wanted, got=got, do=do)


class InputError(EvolakeError):
    """The user's input or usage is wrong; nothing was started."""

    exit_code = 2


class MachineryError(EvolakeError):
    """Our equipment failed. Never to be recorded as a candidate's failure."""


class JailUnavailable(MachineryError):
    """No working sandbox: evolake refuses to run generated code."""


class HostBusy(MachineryError):
    """The host was too busy to run a candidate. Nothing is known of the candidate; a later run may try
    again."""


class LakeError(MachineryError):
    """The lake is damaged, busy, or was used wrongly."""


class CorruptPart(LakeError):
    """A part's bytes differ from its manifest record. The part has been moved to quarantine."""


class PartitionBusy(LakeError):
    """Another run holds the lock of this partition or of this line."""


class AgentUnavailable(MachineryError):
    """The model endpoint answered in a way that no retry repairs."""


class BudgetExhausted(MachineryError):
    """The next model call would pass the budget. What was paid for has been kept."""
