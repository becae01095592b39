# L0Learn's coordinate descent (CD) or its local search (CDPSI), as the last argument says, on the given grid; its penalties multiply
# a sum over rows.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
suppressMessages(library(L0Learn))
source(file.path(here, "exchange.R"))
fit <- timed(function() L0Learn.fit(X, y, loss = "Logistic", penalty = "L0L2", algorithm = arguments[4], maxSuppSize = 1000,
                                    nGamma = 1, gammaMin = 1e-7, gammaMax = 1e-7, autoLambda = FALSE,
                                    lambdaGrid = list(grid), rtol = 1e-6, atol = 1e-9))
beta <- fit$model$beta[[1]]
write_path(fit$seconds, fit$model$lambda[[1]], fit$model$a0[[1]], beta[(nrow(beta) - p + 1):nrow(beta), , drop = FALSE])
