// Package sparse is the study of section 5 of Wu and Lee (2012): the best blocks and
// caches for sparse matrix-vector products.
package sparse
