// Package parquet writes recorded tables as Apache Parquet, which R, Python, DuckDB and
// Spark read: columns keep their names, order and types, and the file's metadata say
// where the table comes from.
//
// It is not part of package perf, as the library that it links is large.
package parquet
