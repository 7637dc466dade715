package spmv

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func energyTables(t *testing.T) map[string]*EnergyTable {
	t.Helper()
	tables := make(map[string]*EnergyTable)
	for _, name := range []string{"energy-sram-90nm", "energy-cache-45nm"} {
		table, err := ReadEnergyTable("../../datasets/spmv/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		tables[name] = table
	}
	return tables
}

// TestPublishedPoints demands the published energies at their capacities, those of
// another process scaled as written by hand.
func TestPublishedPoints(t *testing.T) {
	tables := energyTables(t)
	sram, cache := tables["energy-sram-90nm"], tables["energy-cache-45nm"]
	toOurs := 2 * (1.2 / 0.9) * (1.2 / 0.9) // 45 nm and 0.9 V to 90 nm and 1.2 V
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"32 KB, 2 ways", sram.Access(32<<10, 32, 2), 94.3086e-12},
		{"256 KB, 8 ways", sram.Access(256<<10, 128, 8), 927.837e-12},
		{"a line of 64 bytes into 4 KB", sram.Lines(4<<10, 64, 1, 0), 8 * 19.9484e-12},
		{"a line of 64 bytes out of 4 KB", sram.Lines(4<<10, 64, 0, 1), 8 * 8.54257e-12},
		{"leakage of 256 KB, 8 ways, and 16 KB, 2 ways", sram.Leak(2, &Hardware{DataBytes: 256 << 10, DataWays: 8, InstrBytes: 16 << 10, InstrWays: 2}), 2 * (127.5844 + 9.07178) * 1e-3},
		{"8 KB of 45 nm", cache.Access(8<<10, 32, 4), toOurs * 10e-12},
		// Between 32 KB and 1 MB, half way on a logarithmic scale.
		{"181 KB of 45 nm", cache.Access(185363, 32, 1), toOurs * math.Sqrt(20*100) * 1e-12},
		{"our own leakage, where there is none", cache.Leak(1, &Hardware{DataBytes: 32 << 10, DataWays: 2, InstrBytes: 16 << 10, InstrWays: 2}), 48 * 0.05e-3},
	} {
		if math.Abs(c.got/c.want-1) > 1e-5 {
			t.Errorf("%s: %g, want %g", c.what, c.got, c.want)
		}
	}
}

// TestEnergiesRiseWithSize asks for all caches of Table 5: a larger cache takes more
// for an access and a line, and leaks more.
func TestEnergiesRiseWithSize(t *testing.T) {
	m := DefaultMachine()
	of := map[string]CacheEnergies{"own": OwnEnergies(&m)}
	for name, table := range energyTables(t) {
		of[name] = table
	}
	for name, e := range of {
		for _, line := range lineLevels {
			for _, ways := range wayLevels {
				var access, in, out, leak float64
				for bytes := 2 << 10; bytes <= 256<<10; bytes *= 2 {
					a, i, o := e.Access(bytes, line, ways), e.Lines(bytes, line, 1, 0), e.Lines(bytes, line, 0, 1)
					l := e.Leak(1, &Hardware{LineBytes: line, DataBytes: bytes, DataWays: ways, InstrBytes: 2 << 10, InstrWays: 1})
					// Ours of one way is flat up to 128 rows, but for its wires.
					if !(a > access && i > in && o > out && l > leak) {
						t.Errorf("%s, %d ways of lines of %d: %d bytes take %g, %g and %g J and leak %g W; half of it %g, %g, %g and %g",
							name, ways, line, bytes, a, i, o, l, access, in, out, leak)
					}
					access, in, out, leak = a, i, o, l
				}
			}
		}
	}
}

// TestExtrapolated names the caches of Table 5 beyond the published points: 2 KB of
// eight ways by one table, 2 and 4 KB by the other.
func TestExtrapolated(t *testing.T) {
	tables := energyTables(t)
	for bytes := 2 << 10; bytes <= 256<<10; bytes *= 2 {
		for _, ways := range wayLevels {
			if got, want := tables["energy-sram-90nm"].Extrapolated(bytes, ways), bytes == 2<<10 && ways == 8; got != want {
				t.Errorf("sram: %d bytes, %d ways: extrapolated %v", bytes, ways, got)
			}
			if got, want := tables["energy-cache-45nm"].Extrapolated(bytes, ways), bytes < 8<<10; got != want {
				t.Errorf("cache: %d bytes, %d ways: extrapolated %v", bytes, ways, got)
			}
		}
	}
}

func TestEnergyTableErrors(t *testing.T) {
	const head = "capacity_bytes,width_bits,read_pj,write_pj,leakage_mw,process_nm,supply_volt,source\n"
	for text, want := range map[string]string{
		"":                               ":1: want the columns capacity_bytes,width_bits",
		"a,b\n1,2\n":                     ":1: want the columns",
		head:                             "0 rows of width_bits 64",
		head + "1024,64,1,1,,45,0.9\n":   "wrong number of fields",
		head + "1024,64,x,1,,45,0.9,s\n": `:2: read_pj "x": want a positive number`,
		head + "1024,64,1,-1,,45,.9,s\n": `:2: write_pj "-1": want a positive number`,
		head + "1024,64,,1,,45,.9,s\n":   `:2: read_pj ""`,
		head + "1024,64,1,1,,45,,s\n":    ":2: no supply_volt: a table of 45 nm cannot be scaled to 90 nm",
		head + "1024,64,1,1,,90,,\n":     ":2: no source",
		head + "1024,64,1,1,,90,,s\n":    "1 rows of width_bits 64, want two or more",
		head + "1024,64,1,1,,90,,s\n1024,64,2,2,,90,,s\n":                      ":3: capacity_bytes 1024 after 1024",
		head + "1024,64,1,1,,90,,s\n2048,64,2,2,,65,1,s\n":                     ":3: another process, voltage or source",
		head + "1024,64,1,1,,90,,s\n2048,64,2,2,3,90,,s\n":                     ":3: leakage_mw must be in all rows or in none",
		head + "1024,64,1,1,,90,,s\n2048,64,2,2,,90,,s\n1024,128,1,1,,90,,s\n": "1 rows of width_bits 128",
	} {
		path := filepath.Join(t.TempDir(), "energies.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadEnergyTable(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	if _, err := ReadEnergyTable("missing.csv"); err == nil || !strings.Contains(err.Error(), "missing.csv") {
		t.Errorf("no file: error %v", err)
	}
}
