"""Exit codes of all commands: 0 all is well, 1 a check failed, and these."""

from __future__ import annotations

BAD_INPUT = 2  # the arguments or the data cannot be used
ANOTHER_PROBLEM = 3  # a proof is valid, but not of the problem that was stated
INTERRUPTED = 130  # Ctrl-C ended the work
