"""What a solver may ask of X, one file a storage.

`as_design` takes whatever users hold and copies at most once:

- column-major float64, float32, int8 or boolean arrays (also read-only, also with a stride between columns): no copy;
- row-major arrays: one copy, into column-major order;
- other integers: one copy; types of up to 16 bits become float32, which holds them exactly, others float64;
- sparse matrices and arrays: CSC with float64 or float32 values is used as it is, everything else is converted once;
- what is kept elsewhere (column stores, Dask arrays, arrays of Zarr or HDF5): copies of the columns in use only.
"""

from ellzero.design.base import Design, as_design, is_stored

__all__ = ["Design", "as_design", "is_stored"]
