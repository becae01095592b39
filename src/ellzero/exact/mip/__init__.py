"""The paper's mixed integer programs, the solvers that take them, and outer approximation; imports what `exact` may import."""
