# glmnet's L1 path with its default 100 values of lambda.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
suppressMessages(library(glmnet))
source(file.path(here, "exchange.R"))
fit <- timed(function() glmnet(X, y, family = "binomial", standardize = FALSE, thresh = 1e-6))
write_path(fit$seconds, fit$model$lambda, fit$model$a0, fit$model$beta)
