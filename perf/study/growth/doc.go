// Package growth is the study of Marin and Mellor-Crummey (2004, 2005): misses and
// times of a program on several machines as the problem grows.
package growth
