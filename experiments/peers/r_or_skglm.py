"""Methods of an R package, with skglm in its place where R is not installed."""

from __future__ import annotations

from typing import ClassVar

from experiments.peers.rscript import has_r_package
from experiments.peers.skglm_path import has_skglm

__all__ = ["RPackageMethod"]


class RPackageMethod:
    """Base class of L1 and MCP; `backend` is the R package, "skglm", or "auto": the first of them that is installed."""

    name: ClassVar[str]  # as in the paper's legends
    package: ClassVar[str]
    backend: str

    @property
    def tool(self) -> str:
        """Return the back end that is used, for reports."""
        if self.backend != "auto":
            return self.backend
        return self.package if has_r_package(self.package) else "skglm"

    def missing(self) -> str | None:
        """Return a sentence on what must be installed, or None if the method can run."""
        needed = f"{self.name} needs R with the package {self.package}"
        if self.tool == self.package:
            return None if has_r_package(self.package) else f"{needed}."
        return None if has_skglm() else f"{needed}, or skglm (pip install ellzero[experiments])."
