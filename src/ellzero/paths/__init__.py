"""Many models of one problem, by lambda_0, by a second penalty or by size, and proofs for them; imports up to `exact`."""
