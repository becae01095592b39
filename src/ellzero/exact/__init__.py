"""Solutions with a proof: branch and bound, its certificates, and a verifier that shares no code with it."""
