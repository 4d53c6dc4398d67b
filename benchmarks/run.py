"""Run every benchmark of this folder, one after the other, each in its own process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run them; the exit status is non-zero if one failed."""
    here = Path(__file__).parent
    names = sys.argv[1:] or sorted(
        path.stem for path in here.glob("*.py") if path.stem != "run" and path.stem[0] != "_"
    )
    failed = []
    for name in names:
        print(f"\n== {name}", flush=True)
        if subprocess.run([sys.executable, here / f"{name}.py"], check=False).returncode:
            failed.append(name)
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
