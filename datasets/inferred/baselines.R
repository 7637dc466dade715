# Learns the logarithm of CPI from train-i.csv, and predicts test-i.csv, by two
# kinds of ensembles of trees with their packages' usual settings. `presage infer
# baselines` runs it:
#
#   Rscript baselines.R FOLDER TASKS
suppressPackageStartupMessages({
  library(randomForest) # Debian: r-cran-randomforest
  library(gbm)          # Debian: r-cran-gbm
})
args <- commandArgs(trailingOnly = TRUE)
for (i in seq_len(as.integer(args[2]))) {
  set.seed(2012)
  train <- read.csv(file.path(args[1], paste0("train-", i, ".csv")))
  test <- read.csv(file.path(args[1], paste0("test-", i, ".csv")))
  train$cpi <- log(train$cpi)
  forest <- randomForest(cpi ~ ., data = train, ntree = 150)
  boosted <- gbm(cpi ~ ., data = train, distribution = "gaussian", n.trees = 600,
                 interaction.depth = 6, shrinkage = 0.05, bag.fraction = 0.5, n.minobsinnode = 5)
  write.csv(data.frame(random_forest = exp(predict(forest, test)),
                       gradient_boosting = exp(predict(boosted, test, n.trees = 600))),
            file.path(args[1], paste0("predicted-", i, ".csv")), row.names = FALSE, quote = FALSE)
}
