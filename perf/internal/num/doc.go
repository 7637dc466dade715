// Package num holds small functions of numbers that several packages use.
package num
