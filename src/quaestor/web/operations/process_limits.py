"""Limits of a process on itself."""

import sys


def limit_memory(megabytes: int) -> None:
    """Let this process take so much memory more than it has, else MemoryError; not where the system knows no such limit."""
    if sys.platform == "linux":
        import resource

        with open("/proc/self/status") as status:
            held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
        resource.setrlimit(resource.RLIMIT_DATA, (held + megabytes * 1_000_000,) * 2)
