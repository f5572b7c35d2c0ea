"""Sets the variables of the shim (fault_shim.cpp), and reads its counts."""

import struct

# In the shim's order.
CALLS = ["open_tmpfile", "fallocate", "ftruncate", "pwrite", "fsync", "linkat", "rename", "unlink",
         "open", "write", "send", "socketpair", "mmap", "spawn", "thread", "malloc"]
WHO = ["program", "runner"]


def variables(library, **faults):
    """The environment that loads the shim; the faults are its variables, in lower case."""
    return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0",
            **{f"FAULT_{key.upper()}": str(value) for key, value in faults.items()}}


def read_counts(path):
    """The number of injected faults, and of each call by each kind of process."""
    failed, *numbers = struct.unpack(f"{1 + len(WHO) * len(CALLS)}q", path.read_bytes())
    rows = [numbers[i * len(CALLS):(i + 1) * len(CALLS)] for i in range(len(WHO))]
    return failed, {who: dict(zip(CALLS, row)) for who, row in zip(WHO, rows)}
