"""Errors of commands name options, and leave all other words alone."""

import pytest

from ellzero.cli import with_options
from ellzero.cli.parser import make_parser

ARGS = make_parser().parse_args(["certify", "data.csv", "--k", "2"])


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("lambda_2 must be positive (add lambda_2=1e-3).", "--lambda-2 must be positive (add --lambda-2=1e-3)."),
        ("k must be an integer.", "--k must be an integer."),
        ("sample_weight must not be negative.", "--weight must not be negative."),
        ("nothing else helps; bound=M does.", "nothing else helps; --bound=M does."),
        ("give lambda_0.", "give --lambda-0."),
        ("column 'lambda_2' holds text.", "column 'lambda_2' holds text."),
        ("lambda_2.csv is empty.", "lambda_2.csv is empty."),
        ("data/lambda_2 has no ending.", "data/lambda_2 has no ending."),
        ("target 'k' must hold numbers.", "target 'k' must hold numbers."),
        ("the gap is large.", "the gap is large."),
        ("data must be there.", "data must be there."),
    ],
)
def test_words(message, expected):
    assert with_options(message, ARGS) == expected
