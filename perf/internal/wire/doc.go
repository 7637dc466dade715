// Package wire writes numbers and strings as a compact run of bytes, and reads
// them back: what static analysis keeps in the store, where decoding by
// reflection would take longer than a question should.
//
//	number = varint, zigzag if it can be negative (encoding/binary)
//	string = number of an earlier one + 1, or 0, its length and its bytes
//
// The bytes say nothing about their structure: writer and reader agree on it, and
// on a version that the key of the store holds.
package wire
