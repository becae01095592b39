"""Ctrl-C in a program of its own."""

import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil

PROMPT = 10.0
"""Seconds of the processor, as many on a busy machine: all stop within one, and what they stop would run for minutes."""

AGAIN = 60.0
"""Seconds after which Ctrl-C is pressed again."""

GUROBI = ("\n", "Interrupt request received\n")
"""Gurobi catches the signal itself, and says so."""


def interrupt(code, seconds, verdict):
    """Run code that says when it is solving, and interrupt it: it must say so promptly, and then its verdict.

    The code runs in the folder of the tests, and can import what tests share.
    """
    command, here = [sys.executable, "-c", textwrap.dedent(code)], Path(__file__).parents[1]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=here) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "solving\n"
        time.sleep(seconds)
        sent, heard = [0.0], threading.Event()

        def ask():  # again, as people do: Python loses a Ctrl-C that comes while it cleans up
            while child.poll() is None:
                sent[0] = processor_seconds(child)
                child.send_signal(signal.SIGINT)
                if heard.wait(AGAIN):
                    break

        asking = threading.Thread(target=ask)
        asking.start()
        while (said := child.stdout.readline()) in GUROBI:
            pass
        heard.set()
        asking.join()
        assert said == "interrupted\n"
        assert processor_seconds(child) - sent[0] < PROMPT
        assert child.stdout.readline() == f"{verdict}\n"
        assert child.wait(timeout=250) == 0


def processor_seconds(child):
    """The seconds that a process has had of the processor."""
    times = psutil.Process(child.pid).cpu_times()
    return times.user + times.system


def listening(argv):
    """The command line as a program that listens to Ctrl-C: a background job, as tests may be, starts with it ignored."""
    handled = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    return [sys.executable, "-c", f"{handled}; from ellzero.cli import main; sys.exit(main())", *map(str, argv)]
