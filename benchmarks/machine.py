"""What every benchmark says of itself: machine, Python, date, command."""

import datetime
import os
import platform
import sys
from pathlib import Path


def describe() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    today = datetime.date.today().isoformat()
    script = Path(sys.argv[0]).name
    return f"{today}, {model}, {os.cpu_count()} cores, Python {platform.python_version()}, `python benchmarks/{script}`"
