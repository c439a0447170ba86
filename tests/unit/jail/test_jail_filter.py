"""The system call filter, run here by a small interpreter of the same instructions that the kernel runs."""

import errno
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.jail.inside import seccomp, syscalls
from evolake.jail.inside.seccomp import PYTHON_IN_NAMESPACES, PYTHON_ON_THE_HOST, Policy

OWN = 4321
NATIVE = Policy(programs=True)
NATIVE_WITHOUT_THREADS = Policy(programs=True, threads=False)
NATIVE_WITH_PROCESSES = Policy(programs=True, processes=True, signals=True, changes=True)
SHARING = Policy(programs=True, processes=True, signals=True, changes=True, shared_memory=True)
FORKED, FORKED_WITH_PROCESSES = seccomp.FORKED, seccomp.FORKED_WITH_PROCESSES
ALLOWED = "allowed"
MINUS_1 = 0xFFFFFFFF


def decide(policy, name, *arguments, architecture=None, number=None):
    """What the filter says to one call: ALLOWED, an errno, or "killed"."""
    number = syscalls.number(name) if number is None else number
    architecture = syscalls.audit_architecture() if architecture is None else architecture
    data = struct.pack(
        "=iIQ6Q",
        number,
        architecture,
        0,
        *[argument & (2**64 - 1) for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]],
    )
    return ran(seccomp.program(policy, OWN), data)[0]


def ran(instructions, data, accumulator=0):
    """(what instructions say to one call, how many of them were executed)."""
    steps = list(struct.iter_unpack("=HBBI", instructions))
    position = executed = 0
    while True:
        code, if_true, if_false, value = steps[position]
        position += 1
        executed += 1
        if code == seccomp.LOAD_WORD:
            accumulator = struct.unpack_from("=I", data, value)[0]
        elif code == seccomp.RETURN:
            if value == seccomp.ALLOW:
                return ALLOWED, executed
            return (value & 0xFFFF if value & seccomp.ERRNO else "killed"), executed
        else:
            holds = {
                seccomp.JUMP_EQUAL: accumulator == value,
                seccomp.JUMP_ABOVE: accumulator > value,
                seccomp.JUMP_BITS: accumulator & value != 0,
            }[code]
            position += if_true if holds else if_false


EVERYWHERE = [
    *syscalls.NETWORK,
    *syscalls.OTHER_PROCESSES,
    *syscalls.NAMESPACES_AND_MOUNTS,
    *syscalls.KERNEL,
    *syscalls.LASTING_MEMORY,
    *syscalls.SHARED_STATE,
    "execveat",
]


@pytest.mark.parametrize(
    "policy",
    [
        PYTHON_IN_NAMESPACES,
        PYTHON_ON_THE_HOST,
        NATIVE,
        NATIVE_WITHOUT_THREADS,
        NATIVE_WITH_PROCESSES,
        SHARING,
        FORKED,
    ],
)
def test_every_policy_refuses_the_common_list(policy):
    present = [name for name in EVERYWHERE if syscalls.number(name) is not None]
    assert {name: decide(policy, name) for name in present} == dict.fromkeys(present, errno.EPERM)


def decisions():
    """(policy, call, arguments, what is said) for each line of filter_decisions.txt."""
    own = {"OWN": OWN, "MINUS_1": MINUS_1}
    for line in Path(__file__).with_name("filter_decisions.txt").read_text().splitlines()[1:]:
        if not line.startswith(" "):
            policy = globals()[line]
            continue
        call, *arguments, said = line.split()
        numbers = [own.get(word) or int(word, 0) for word in arguments]
        yield pytest.param(policy, call, numbers, getattr(errno, said, 0 if said == "0" else said), id=line)


@pytest.mark.parametrize(("policy", "call", "arguments", "said"), list(decisions()))
def test_calls_are_decided_by_their_arguments(policy, call, arguments, said):
    assert decide(policy, call, *arguments) == said


def test_foreign_architectures_are_killed_and_unknown_calls_do_not_exist():
    assert decide(PYTHON_IN_NAMESPACES, "clone", architecture=0x40000003) == "killed"
    assert decide(PYTHON_IN_NAMESPACES, "clone", number=syscalls.HIGHEST_KNOWN + 1) == errno.ENOSYS
    assert decide(PYTHON_IN_NAMESPACES, "clone", number=0x40000000) == errno.ENOSYS


def test_the_template_with_a_process_filled_in_is_the_filter():
    for policy in (PYTHON_IN_NAMESPACES, PYTHON_ON_THE_HOST, NATIVE):
        own = seccomp.step(seccomp.JUMP_EQUAL, OWN, 0, 1)
        assert seccomp.template(policy).replace(
            seccomp.step(seccomp.JUMP_EQUAL, seccomp.ANYBODY, 0, 1), own
        ) == seccomp.program(policy, OWN)


def test_every_named_call_has_a_number_on_both_architectures_or_a_successor():
    only_older = {
        "fork",
        "vfork",
        "mknod",
        "create_module",
        "_sysctl",
        "uselib",
        "ioperm",
        "iopl",
        "modify_ldt",
        "open",
        "creat",
        "rename",
        "link",
        "symlink",
        "unlink",
        "mkdir",
        "rmdir",
        "chmod",
        "chown",
        "lchown",
        "utime",
        "utimes",
        "futimesat",
        "inotify_init",
        "pipe",
    }
    assert {name for name, (_, aarch64) in syscalls.NUMBERS.items() if aarch64 is None} == only_older
    assert all(x86 is not None for x86, _ in syscalls.NUMBERS.values())
    for numbers in zip(*syscalls.NUMBERS.values(), strict=True):
        known = [number for number in numbers if number is not None]
        assert len(set(known)) == len(known)


RETURNS = {
    errno.EPERM: seccomp.ERRNO | errno.EPERM,
    errno.ENOSYS: seccomp.ERRNO | errno.ENOSYS,
    "killed": seccomp.KILL_PROCESS,
}


@given(st.dictionaries(st.integers(0, 600), st.sampled_from(list(RETURNS)), max_size=150))
@settings(deadline=None, max_examples=25)
def test_each_number_is_decided_as_it_was_given_and_all_others_are_allowed(decided):
    instructions = seccomp.by_number(
        {number: seccomp.step(seccomp.RETURN, RETURNS[what]) for number, what in decided.items()}
    )
    answers = {number: ran(instructions, b"", number)[0] for number in range(602)}
    assert answers == dict.fromkeys(range(602), ALLOWED) | decided


@pytest.mark.parametrize("policy", [PYTHON_IN_NAMESPACES, FORKED, FORKED_WITH_PROCESSES])
def test_no_call_is_compared_with_all_that_are_refused(policy):
    """The kernel runs the filter for each call that there is, in each process that gets it."""
    instructions = seccomp.program(policy, OWN)
    for number in range(syscalls.HIGHEST_KNOWN + 2):
        data = struct.pack("=iIQ6Q", number, syscalls.audit_architecture(), 0, *[0] * 6)
        assert ran(instructions, data)[1] < 120 < len(instructions) // 8
