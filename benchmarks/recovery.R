# L1 (glmnet) and MCP (ncvreg) logistic regression, tuned on a second outcome vector: the paper's protocol for support recovery.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
source(file.path(here, "exchange.R"))
y_valid <- readBin(file_in("y_valid.bin"), "double", n)
loss <- function(eta) colMeans(log1p(exp(-y_valid * eta)))
best <- list(L1 = list(loss = Inf), MCP = list(loss = Inf))
consider <- function(method, intercept, beta) {
  losses <- loss(sweep(as.matrix(X %*% beta), 2, intercept, "+"))
  k <- which.min(losses)
  if (losses[k] < best[[method]]$loss) best[[method]] <<- list(loss = losses[k], support = which(beta[, k] != 0))
}
labels <- as.numeric(y > 0)
if (requireNamespace("glmnet", quietly = TRUE)) {
  fit <- glmnet::glmnet(X, labels, family = "binomial")
  consider("L1", fit$a0, as.matrix(fit$beta))
}
if (requireNamespace("ncvreg", quietly = TRUE)) {
  for (gamma in exp(seq(log(1.5), log(25), length.out = 10))) {
    fit <- suppressWarnings(ncvreg::ncvreg(X, labels, family = "binomial", penalty = "MCP", gamma = gamma))
    consider("MCP", fit$beta[1, ], fit$beta[-1, , drop = FALSE])
  }
}
for (method in names(best))
  if (is.finite(best[[method]]$loss))
    write(best[[method]]$support - 1, file_in(paste0(method, ".txt")), ncolumns = 1)
