"""The rounding margins of the verifier against exact arithmetic, on certificates of random problems."""
