"""Exit codes of all commands: 0 all is well, 1 a check failed, and these."""

from __future__ import annotations

BAD_INPUT = 2  # the arguments or the data cannot be used
INTERRUPTED = 130  # Ctrl-C ended the work
