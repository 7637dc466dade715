// Package num holds shares and ratios as tables and warnings show them.
package num
