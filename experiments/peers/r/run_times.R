# Times one tool on a saved problem. Arguments: the folder, how many runs, the seconds after which no further run begins, the tool.
# The best run counts. The tools' tolerance is 1e-6; whatever else is not named is their default.
here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
suppressWarnings(source(file.path(here, "exchange.R")))  # the tool's name is not a number
tool <- arguments[4]
problem <- read_problem()
X <- problem$X; y <- problem$y; rm(problem)
grid <- readBin(file_in("grid.bin"), "double", 10000)

# The grid is L0Learn's: its penalties multiply a sum over rows. Without maxSuppSize it ends at 50 features.
l0learn <- function(algorithm) function() {
  L0Learn::L0Learn.fit(X, y, loss = "Logistic", penalty = "L0L2", algorithm = algorithm, maxSuppSize = 1000, nGamma = 1,
                       gammaMin = 1e-7, gammaMax = 1e-7, lambdaGrid = list(grid), rtol = 1e-6)
}
fits <- list(
  "glmnet" = function() suppressWarnings(glmnet::glmnet(X, y, family = "binomial", nlambda = length(grid), thresh = 1e-6)),
  "ncvreg" = function() suppressWarnings(ncvreg::ncvreg(X, as.numeric(y > 0), family = "binomial", nlambda = length(grid),
                                                        eps = 1e-6)),
  "L0Learn 1" = l0learn("CD"),
  "L0Learn 2" = l0learn("CDPSI")
)
sizes <- function(model) switch(tool,
  "glmnet" = model$df,
  "ncvreg" = colSums(model$beta[-1, , drop = FALSE] != 0),
  model$suppSize[[1]]
)

package <- sub(" .*", "", tool)
invisible(loadNamespace(package))
times <- c()
while (length(times) < settings[1] && sum(times) < settings[2]) {
  start <- proc.time()[["elapsed"]]
  model <- fits[[tool]]()
  times <- c(times, proc.time()[["elapsed"]] - start)
}
cat(sprintf('{"time": %.6f, "runs": %d, "solutions": %d, "largest": %d, "version": "%s"}\n', min(times), length(times),
            length(sizes(model)), as.integer(max(sizes(model))), as.character(packageVersion(package))))
