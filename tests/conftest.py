"""Shared builders of problems. Random tests are seeded; pytest prints the seed as part of the test's name."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
sys.path.insert(0, str(Path(__file__).parent))
