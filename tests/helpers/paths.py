"""Where things lie: the checkout, the package in it, and what may lie beside it (data and papers that are not ours to hand on)."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
SOURCE = ROOT / "src" / "quaestor"
SHARED = ROOT.parent / "shared"
