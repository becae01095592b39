# MCP-penalised logistic regression on ncvreg's own grid. Arguments: how many values of lambda, the largest model, then the gammas.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
source(file.path(here, "exchange.R"))
problem <- read_problem()
X <- as.matrix(problem$X)
labels <- as.numeric(problem$y > 0)
for (k in seq_along(settings[-(1:2)])) {
  gamma <- settings[k + 2]
  # Its warnings are about paths that end early, which is wanted; where the objective is convex is not asked.
  fit <- suppressWarnings(ncvreg::ncvreg(X, labels, family = "binomial", penalty = "MCP", gamma = gamma,
                                         nlambda = settings[1], dfmax = settings[2], convex = FALSE, returnX = FALSE))
  write_models(rbind(gamma, fit$lambda), fit$beta[1, ], Matrix::Matrix(fit$beta[-1, , drop = FALSE], sparse = TRUE), k > 1)
}
