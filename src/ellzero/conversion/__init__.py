"""Conversion of data files into column stores, in parts and with bounded memory; imports `base`, `tables` and `design`."""

from ellzero.conversion.convert_file import convert
from ellzero.conversion.plan import FORMATS, IMPUTE
from ellzero.conversion.writing import ColumnWriter, SparseColumnWriter

__all__ = ["FORMATS", "IMPUTE", "ColumnWriter", "SparseColumnWriter", "convert"]
