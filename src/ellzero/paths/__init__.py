"""Many models of one problem: along lambda_0, along a second penalty, by size, and with a proof for each."""
