# Reading a problem and writing a path, as benchmarks/tools.py expects it.
arguments <- commandArgs(trailingOnly = TRUE)
folder <- arguments[1]
seconds_for_repeats <- as.numeric(arguments[2])
repeats <- as.integer(arguments[3])
file_in <- function(name) file.path(folder, name)

shape <- readBin(file_in("shape.bin"), "integer", 3)
n <- shape[1]; p <- shape[2]
y <- readBin(file_in("y.bin"), "double", n)
grid <- readBin(file_in("grid.bin"), "double", 10000)
if (shape[3] > 0) {
  X <- new(getClass("dgCMatrix", where = asNamespace("Matrix")),
           i = readBin(file_in("rows.bin"), "integer", shape[3]),
           p = readBin(file_in("starts.bin"), "integer", p + 1),
           x = readBin(file_in("values.bin"), "double", shape[3]), Dim = c(n, p))
} else {
  X <- matrix(readBin(file_in("X.bin"), "double", as.double(n) * p), n, p)
}

timed <- function(fit) {
  times <- c()
  while (length(times) < repeats && sum(times) < seconds_for_repeats) {
    start <- proc.time()[["elapsed"]]
    model <- fit()
    times <- c(times, proc.time()[["elapsed"]] - start)
  }
  list(model = model, seconds = min(times))
}

write_path <- function(seconds, lambda, intercept, coef) {
  write.table(rbind(c(seconds, 0), cbind(lambda, intercept)), file_in("out.csv"), sep = ",",
              row.names = FALSE, col.names = FALSE)
  entries <- Matrix::summary(methods::as(coef, "CsparseMatrix"))
  write.table(cbind(entries$j, entries$i, entries$x), file_in("coef.csv"), sep = ",",
              row.names = FALSE, col.names = FALSE)
}
