// Package kernels is the study of Hsu and Kremer (1998): the smallest model that
// explains the measured times of a loop nest, or evidence that there is none.
package kernels
