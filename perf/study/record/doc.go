// Package record keeps the results of long experiments as CSV files with their
// origin, and the project's headline figures.
package record
