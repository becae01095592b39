# A problem, read by the exchange.R of the package (BENCH_EXCHANGE), and a path as benchmarks/tools.py expects it.
suppressWarnings(source(Sys.getenv("BENCH_EXCHANGE")))  # the last argument may be no number
seconds_for_repeats <- settings[1]
repeats <- settings[2]
problem <- read_problem()
X <- problem$X; y <- problem$y; p <- ncol(X); rm(problem)
grid <- readBin(file_in("grid.bin"), "double", 10000)

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
