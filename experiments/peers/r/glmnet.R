# L1-penalised logistic regression on glmnet's own grid. Argument: how many values of lambda.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
source(file.path(here, "exchange.R"))
problem <- read_problem()
fit <- suppressWarnings(glmnet::glmnet(problem$X, as.numeric(problem$y > 0), family = "binomial", nlambda = settings[1]))
write_models(rbind(fit$lambda), fit$a0, fit$beta)
