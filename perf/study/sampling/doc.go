// Package sampling is the study of MetaSim (2005): caches simulated on parts of a
// run, how far their hit ratios are from the whole run's, and what that costs.
package sampling
