// Package record keeps the results of long experiments as CSV files, with a list
// of where each file comes from, and the figures that the project is judged by.
//
// A folder of recordings holds one CSV file for each table and recordings.csv,
// which names for each file what was run, the command that makes it again, the
// date and the file's SHA-256. Write makes both; Read refuses a file that was
// edited afterwards.
package record
