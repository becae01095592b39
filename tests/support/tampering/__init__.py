"""Ways to tamper with a certificate: each function changes its parts, and the verifier gives a reason against the result."""

from support.tampering import diagonals, groups, growth, prices, problem, tree

TAMPERINGS = [tampering for part in (tree, problem, diagonals, growth, prices, groups) for tampering in part.TAMPERINGS]
