// Package subject takes an executable and runs it: Open and Build give a Program,
// its Structure is what static analysis finds, a Point gives the problem's
// parameters values, and a run feeds any number of collectors.
package subject
