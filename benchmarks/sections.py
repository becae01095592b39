"""Reports made of sections: each section can be run alone, and those that a call leaves out are kept from the last one."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import ellzero as ez
from benchmarks.exact_runs import ROOT, Job, Outcome, complaints, run
from experiments.measurement.markdown import processor

__all__ = ["Report", "Section", "arguments_of"]


@dataclass
class Section:
    """A section of a report: its text, the results that look wrong, and the raw numbers."""

    title: str
    text: str = ""
    checks: list[str] = field(default_factory=list)
    raw: list[dict[str, Any]] = field(default_factory=list)

    def solve(self, job: Job) -> Outcome | str:
        result = run(job)
        self.take(job, result)
        return result

    def solve_all(self, jobs: Sequence[Job]) -> list[Outcome | str]:
        """Solve jobs, as many at a time as ELLZERO_BENCH_AT_ONCE says (one, if it says nothing)."""
        with ThreadPoolExecutor(at_once()) as pool:
            results = list(pool.map(run, jobs))
        for job, result in zip(jobs, results, strict=True):
            self.take(job, result)
        return results

    def take(self, job: Job, result: Outcome | str) -> None:
        """Check and keep the result of a job."""
        self.checks += complaints(job, result)
        self.keep("ellzero", job.options | job.internal | job.data, result)

    def keep(self, tool: str, problem: dict[str, Any], result: Outcome | str) -> None:
        outcome = result if isinstance(result, str) else asdict(result)
        self.raw.append({"tool": tool, "problem": problem, "outcome": outcome})

    def report(self, made: str) -> str:
        checks = "Checks: nothing to report." if not self.checks else "Checks:\n\n" + "\n".join(f"- {c}" for c in self.checks)
        return f"## {self.title}\n\n{made}\n\n{self.text}\n\n{checks}"


def at_once() -> int:
    """Return how many jobs may run at a time: on a machine with many cores, each still has its own."""
    return int(os.environ.get("ELLZERO_BENCH_AT_ONCE", "1"))


def arguments_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every report has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="small sizes and limits; the report goes to build/")
    parser.add_argument("--only", default="", help="only the section of this name, or those whose names contain it")
    parser.add_argument("--out", type=Path, default=None, help="where the report goes")
    return parser


class Report:
    """A report: its file, the command that made it, and its sections."""

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        self.load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
        self.name, self.quick, self.only = name, bool(arguments.quick), str(arguments.only)
        self.kept = ROOT / "build" / (f"bench-{name}-quick.json" if self.quick else f"bench-{name}.json")
        usual = self.kept.with_suffix(".md") if self.quick else ROOT / "benchmarks" / "results" / f"{name}.md"
        self.out: Path = arguments.out or usual
        self.words = ["--quick"] * self.quick + [f"--only {self.only}"] * bool(self.only)
        for option in ("limit", "most"):
            given = getattr(arguments, option, None)
            self.words += [] if given is None else [f"--{option} {given:.0f}"]

    def made_by(self, seconds: float) -> str:
        command = f"make bench-{self.name}" + (f' BENCH="{" ".join(self.words)}"' if self.words else "")
        date = datetime.now(timezone.utc).date()
        many = f", {at_once()} jobs at a time" if at_once() > 1 else ""
        where = f"{processor()}{many}, load {self.load:.0f} before"
        return f"`{command}` on {date}, ellzero {ez.__version__}, {where}; the section took {seconds:.0f} s."

    def write(self, introduction: str, sections: Mapping[str, Callable[[], Section]]) -> None:
        """Run the chosen sections, and write the report after each one, so that an interrupted run leaves what it has."""
        chosen = [self.only] if self.only in sections else [name for name in sections if self.only in name]
        if not chosen:
            raise SystemExit(f"--only must be part of one of {', '.join(sections)}, got {self.only!r}.")
        state: dict[str, Any] = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.out.parent.mkdir(parents=True, exist_ok=True)
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        for name in chosen:
            start = time.perf_counter()
            section = sections[name]()
            text = section.report(self.made_by(time.perf_counter() - start))
            state[name] = {"text": text, "checks": section.checks, "raw": section.raw}
            self.kept.write_text(json.dumps(state, indent=1))
            self.save(introduction, [state[name]["text"] for name in sections if name in state])
            print(f"\n{text}\n", flush=True)

    def save(self, introduction: str, texts: Sequence[str]) -> None:
        self.out.write_text("\n\n".join([introduction.rstrip(), *texts]) + "\n")
