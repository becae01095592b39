# A problem and models as binary files; peers/rscript.py is the other side.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
settings <- as.numeric(arguments[-1])
file_in <- function(name) file.path(folder, name)

read_problem <- function() {
  shape <- readBin(file_in("shape.bin"), "integer", 3)
  n <- shape[1]; p <- shape[2]; entries <- shape[3]
  if (entries >= 0) {
    X <- new(getClass("dgCMatrix", where = asNamespace("Matrix")),
             i = readBin(file_in("rows.bin"), "integer", entries),
             p = readBin(file_in("starts.bin"), "integer", p + 1),
             x = readBin(file_in("values.bin"), "double", entries), Dim = c(n, p))
  } else {
    X <- matrix(readBin(file_in("X.bin"), "double", as.double(n) * p), n, p)
  }
  list(X = X, y = readBin(file_in("y.bin"), "double", n))
}

# One model to a column of `coef`; `points` has a column of settings for each model.
write_models <- function(points, intercept, coef, append = FALSE) {
  coef <- methods::as(methods::as(coef, "generalMatrix"), "CsparseMatrix")
  put <- function(values, name) {
    file <- file(file_in(name), if (append) "ab" else "wb")
    writeBin(values, file)
    close(file)
  }
  put(as.double(rbind(points, as.vector(intercept))), "points.bin")
  put(diff(coef@p), "counts.bin")
  put(coef@i, "support.bin")
  put(coef@x, "coefficients.bin")
}
