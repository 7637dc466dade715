// Package catalog finds machine descriptions by name and lists what they say, as
// rows.
package catalog
