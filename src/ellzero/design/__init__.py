"""Designs: the matrix X behind one interface, one file a storage; imports `base` and the compiled core.

`as_design` takes any X that users hold and copies it at most once:

- column-major float64, float32, int8 or boolean arrays (also read-only, also with a stride between columns): no copy;
- row-major arrays: one copy, into column-major order;
- other integers: one copy; types of up to 16 bits become float32, which holds them exactly, others float64;
- sparse matrices and arrays: CSC with float64 or float32 values is used without a copy, everything else is converted once;
- an X outside memory (column stores, Dask arrays, arrays of Zarr or HDF5): only the columns in use are copied.
"""

from ellzero.design.base import Design, as_design, is_stored

__all__ = ["Design", "as_design", "is_stored"]
