"""System call numbers of what the filter speaks about, for the two architectures that evolake supports.

Each entry is (x86_64, aarch64); None where the architecture never had the call. Numbers are the kernel's
published interface.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
"""Machine name -> (the audit constant that a filter compares with, column of NUMBERS)."""

HIGHEST_KNOWN = 462
"""Calls above this number did not exist when the list was made. They answer ENOSYS, so a newer kernel opens
no new door."""

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "clone": (56, 220),
    "clone3": (435, 435),
    "execve": (59, 221),
    "execveat": (322, 281),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "ioprio_set": (251, 30),
    "prlimit64": (302, 261),
    "setrlimit": (160, 164),
    "setns": (308, 268),
    "unshare": (272, 97),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "acct": (163, 89),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "getsockopt": (55, 209),
    "setsockopt": (54, 208),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "userfaultfd": (323, 282),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "create_module": (174, None),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "syslog": (103, 116),
    "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42),
    "_sysctl": (156, None),
    "uselib": (134, None),
    "ioperm": (173, None),
    "iopl": (172, None),
    "modify_ldt": (154, None),
    "vhangup": (153, 58),
    "personality": (135, 92),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semctl": (66, 191),
    "semtimedop": (220, 192),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_notify": (244, 184),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "creat": (85, None),
    "rename": (82, None),
    "renameat": (264, 38),
    "renameat2": (316, 276),
    "link": (86, None),
    "linkat": (265, 37),
    "symlink": (88, None),
    "symlinkat": (266, 36),
    "unlink": (87, None),
    "unlinkat": (263, 35),
    "mkdir": (83, None),
    "mkdirat": (258, 34),
    "rmdir": (84, None),
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "fchown": (93, 55),
    "lchown": (94, None),
    "fchownat": (260, 54),
    "truncate": (76, 45),
    "utime": (132, None),
    "utimes": (235, None),
    "utimensat": (280, 88),
    "futimesat": (261, None),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "flock": (73, 32),
    "fadvise64": (221, 223),
    "readahead": (187, 213),
    "mincore": (27, 232),
    "cachestat": (451, 451),
    "preadv2": (327, 286),
    "pwritev2": (328, 287),
    "madvise": (28, 233),
    "mmap": (9, 222),
    "sync": (162, 81),
    "syncfs": (306, 267),
    "sync_file_range": (277, 84),
    "io_setup": (206, 0),
    "io_destroy": (207, 1),
    "io_submit": (209, 2),
    "io_cancel": (210, 3),
    "io_getevents": (208, 4),
    "io_pgetevents": (333, 292),
    "timer_create": (222, 107),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "pipe": (22, None),
    "pipe2": (293, 59),
    "sysinfo": (99, 179),
    "statx": (332, 291),
    "statmount": (457, 457),
    "listmount": (458, 458),
}

NETWORK = (
    "socket",
    "connect",
    "bind",
    "listen",
    "accept",
    "accept4",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
)
"""No socket of any family, no other end for one of a pair, and none of the ring interface, through which
sockets could be had past a filter."""

OTHER_PROCESSES = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "process_mrelease",
    "kcmp",
    "pidfd_open",
    "pidfd_send_signal",
    "pidfd_getfd",
    "tkill",
    "migrate_pages",
    "move_pages",
)
"""Ways to look into, signal or move another process."""

NAMESPACES_AND_MOUNTS = (
    "setns",
    "unshare",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "swapon",
    "swapoff",
    "quotactl",
    "quotactl_fd",
    "mknod",
    "mknodat",
    "name_to_handle_at",
    "open_by_handle_at",
    "fanotify_init",
    "statmount",
    "listmount",
)

KERNEL = (
    "bpf",
    "perf_event_open",
    "keyctl",
    "add_key",
    "request_key",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "syslog",
    "lookup_dcookie",
    "nfsservctl",
    "_sysctl",
    "uselib",
    "ioperm",
    "iopl",
    "modify_ldt",
    "vhangup",
    "personality",
    "acct",
    "userfaultfd",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "sethostname",
    "setdomainname",
)
"""The kernel's own affairs and rarely used, often attacked corners of it; the clock among them."""

LASTING_MEMORY = (
    "memfd_create",
    "memfd_secret",
    "shmget",
    "shmat",
    "shmctl",
    "semget",
    "semop",
    "semctl",
    "semtimedop",
    "msgget",
    "msgsnd",
    "msgrcv",
    "msgctl",
    "mq_open",
    "mq_unlink",
    "mq_notify",
)
"""Memory that no address-space limit counts, or that outlives the process and so could carry something to the
next candidate."""

SHARED_STATE = (
    "flock",
    "fadvise64",
    "readahead",
    "mincore",
    "cachestat",
    "preadv2",
    "pwritev2",
    "sync",
    "syncfs",
    "sync_file_range",
    "io_setup",
    "io_destroy",
    "io_submit",
    "io_cancel",
    "io_getevents",
    "io_pgetevents",
    "timer_create",
    "inotify_init",
    "inotify_init1",
    "inotify_add_watch",
)
"""State that two candidates at one time, or one after the other, have in common: locks on files of the host,
what of a file is in its memory (and reads that tell), its quotas of asynchronous requests, timers and
watches, its disk's queue."""

COUNTERS = ("pipe", "pipe2")
"""Calls that hand out the next number of a counter of the machine: each pipe has an inode number. A process
that can make no other needs none."""

MACHINE_LOAD = ("sysinfo",)
"""Calls that tell the load, the free memory and the number of processes of the machine."""


FILE_TIMES = ("utime", "utimes", "utimensat", "futimesat")

FILE_CHANGES = (
    *FILE_TIMES,
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "chmod",
    "fchmod",
    "fchmodat",
    "fchmodat2",
    "chown",
    "fchown",
    "lchown",
    "fchownat",
    "setxattr",
    "lsetxattr",
    "fsetxattr",
    "removexattr",
    "lremovexattr",
    "fremovexattr",
)
"""Ways to change a file system other than by what a file holds: names, owners, modes, times, attributes."""


WRITING_BY_NAME = ("creat", "truncate")


def supported() -> bool:
    """Return whether this machine's architecture has a table here."""
    return os.uname().machine in ARCHITECTURES


def audit_architecture() -> int:
    """Return the constant that the kernel puts into `seccomp_data.arch` on this machine."""
    return ARCHITECTURES[os.uname().machine][0]


def number(name: str) -> int | None:
    """Return this machine's number of the call `name`, or None where the architecture has no such call."""
    return NUMBERS[name][ARCHITECTURES[os.uname().machine][1]]


def numbers(names: Iterable[str]) -> list[int]:
    """Return numbers of those calls among `names` that exist here."""
    return [result for name in names if (result := number(name)) is not None]
