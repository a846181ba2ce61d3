"""How full the battery is: from Linux where it says so, or from Termux:API on a phone."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

SUPPLIES = Path("/sys/class/power_supply")
_TERMUX = "termux-battery-status"


def charge(supplies: Path = SUPPLIES) -> int | None:
    """Percent, 0 to 100; None where the device does not tell."""
    told = _of_linux(supplies)
    return _of_termux() if told is None else told


def _of_linux(supplies: Path) -> int | None:
    for capacity in sorted(supplies.glob("*/capacity")):
        try:
            return int(capacity.read_text())
        except (OSError, ValueError):
            continue
    return None


def _of_termux() -> int | None:
    try:
        done = subprocess.run([_TERMUX], capture_output=True, timeout=10, check=True)
        return int(json.loads(done.stdout)["percentage"])
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return None
