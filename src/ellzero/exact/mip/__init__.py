"""The paper's mixed integer programs: the program itself, solvers that take it, and outer approximation for what they do not."""
