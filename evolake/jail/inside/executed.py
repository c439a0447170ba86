"""Know each program that a run executes, with its arguments: the kernel asks the trusted server before every
`execve` of the jail.

A listener of seccomp (kernel documentation, `userspace-api/seccomp_filter`, "Userspace Notification"): the
process that asks waits until the answer, which is always to continue. What was executed cannot be hidden or
forged from inside, whatever the program is called and whichever process calls it; only its arguments could be
changed between the look and the call, by a program of the candidate's own that shares its memory with another
thread.
"""

# pathlib would cost every native run its import

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct

from evolake.jail.inside import kernel, seccomp, syscalls

SECCOMP_SET_MODE_FILTER, NEW_LISTENER = 1, 8
ASK = 0x7FC00000
RECEIVE, SEND = 0xC0502100, 0xC0182101
"""ioctl SECCOMP_IOCTL_NOTIF_RECV and _SEND."""
QUESTION = struct.Struct("=QIIiIQ6Q")
ANSWER = struct.Struct("=QqiI")
GO_ON = 1
POINTER = struct.calcsize("P")
NUMBER_OF_SECCOMP = {"x86_64": 317, "aarch64": 277}
MOST_PROGRAMS, MOST_BYTES, MOST_WORDS, LONGEST_WORD = 20_000, 4 << 20, 4096, 1 << 16
UNREADABLE = "(unreadable)"
"""Stands for the command line of a process that hides its memory; no program is called so."""

_libc = ctypes.CDLL(None, use_errno=True)


def listen(channel: socket.socket) -> None:
    """Let the server at the other end of `channel` be asked before each execution by this process and its
    children. Raises OSError where the kernel has no such filters, or this process is already under one."""
    allow = seccomp.step(seccomp.RETURN, seccomp.ALLOW)
    code = seccomp.step(seccomp.LOAD_WORD, seccomp.OFFSET_NUMBER)
    for number in syscalls.numbers(("execve", "execveat")):
        code += seccomp.step(seccomp.JUMP_EQUAL, number, 0, 1) + seccomp.step(seccomp.RETURN, ASK)
    packed = seccomp.packed(code + allow)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    number = NUMBER_OF_SECCOMP[os.uname().machine]
    descriptor = _libc.syscall(number, SECCOMP_SET_MODE_FILTER, NEW_LISTENER, ctypes.byref(packed))
    if descriptor < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"executions cannot be listened to: {os.strerror(error)}")
    socket.send_fds(channel, [b"x"], [descriptor])
    os.close(descriptor)


class Executed:
    """What a run has executed so far: command lines, the program's path first. `descriptor` is readable when
    the kernel asks."""

    def __init__(self, channel: socket.socket, first: list[str]):
        """first: what is executed first, by a process that the server made and that hides its memory like the
        server."""
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        if not descriptors:
            raise OSError("the program ended before it could be listened to")
        self.descriptor = descriptors[0]
        self.programs: list[list[str]] = []
        self._first: list[str] | None = first
        self._bytes = 0

    def answer(self) -> None:
        """Read one question, note it, and let the process continue."""
        question = bytearray(QUESTION.size)
        try:
            fcntl.ioctl(self.descriptor, RECEIVE, question)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR, errno.EAGAIN):  # whoever asked was killed meanwhile
                return
            raise
        identity, pid, _, number, _, _, *arguments = QUESTION.unpack(question)
        path, words = (
            (arguments[0], arguments[1])
            if number == syscalls.number("execve")
            else (arguments[1], arguments[2])
        )
        line, self._first = self._first or command_line(pid, path, words), None
        if not self.too_many:
            self.programs.append(line)
            self._bytes += sum(map(len, line)) + 8 * len(line)
        try:
            fcntl.ioctl(self.descriptor, SEND, ANSWER.pack(identity, 0, 0, GO_ON))
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise

    @property
    def too_many(self) -> bool:
        """Return whether more programs, or longer arguments, were executed than allowed."""
        return len(self.programs) >= MOST_PROGRAMS or self._bytes > MOST_BYTES

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.descriptor)


def command_line(pid: int, path: int, words: int) -> list[str]:
    """Return path and arguments that a process is about to execute, from its memory."""
    try:
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return [UNREADABLE]
    try:
        line = [_text(memory, path)]
        for place in range(words, words + POINTER * MOST_WORDS, POINTER):
            pointer = int.from_bytes(os.pread(memory, POINTER, place), "little")
            if pointer == 0:
                return line
            line.append(_text(memory, pointer))
        return [*line, UNREADABLE]
    except (OSError, OverflowError):
        return [UNREADABLE]
    finally:
        os.close(memory)


def _text(memory: int, place: int) -> str:
    """Return the C string at `place`, read page by page, since the page after it may not be there."""
    data = b""
    while b"\0" not in data and len(data) < LONGEST_WORD:
        step = 4096 - (place + len(data)) % 4096
        chunk = os.pread(memory, step, place + len(data))
        if not chunk:
            raise OSError("the text has no end")
        data += chunk
    return data.partition(b"\0")[0].decode("utf-8", "replace")
