// Package measure runs programs natively on this machine and returns what real
// clocks and hardware counters show.
package measure
