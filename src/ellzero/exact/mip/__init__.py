"""The paper's mixed integer programs: a program, solvers that take it, outer approximation for what they do not."""
