"""What a solver may ask of X, one file a storage.

`as_design` takes whatever users hold and copies at most once:

- column-major float64 or float32 arrays (also read-only, also with a stride between columns): no copy;
- row-major arrays: one copy, into column-major order;
- integers and booleans: one copy; types of up to 16 bits become float32, which holds them exactly, others float64;
- sparse matrices and arrays: CSC with float64 or float32 values is used as it is, everything else is converted once.
"""

from ellzero.design.base import Design, as_design

__all__ = ["Design", "as_design"]
