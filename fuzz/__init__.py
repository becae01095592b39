"""A fuzzer of the whole public face: random problems of every scale, judged by referees that share no code with the package."""
