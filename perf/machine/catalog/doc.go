// Package catalog finds machine descriptions by name and puts them into tables.
package catalog
