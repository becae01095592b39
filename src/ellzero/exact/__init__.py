"""Solutions with a proof: branch and bound, MIP solvers, certificates and their verifier; imports up to `solvers`."""
