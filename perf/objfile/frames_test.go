package objfile

import "testing"

// FuzzFrames demands that the reader of .eh_frame ends, within its data.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0, 20, 0, 0, 0, 28, 0, 0, 0, 0, 16, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := frameReader{data: data, addr: 0x1000, encodings: make(map[uint64]byte)}
		for last := r.at; ; last = r.at {
			if _, _, ok := r.next(); !ok {
				return
			}
			if r.at <= last || r.at > uint64(len(data)) {
				t.Fatalf("from %d to %d of %d", last, r.at, len(data))
			}
		}
	})
}

func TestFrames(t *testing.T) {
	data := []byte{
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0, // common
		20, 0, 0, 0, 28, 0, 0, 0, 0, 16, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // 32 bytes at +0x1000
		0, 0, 0, 0,
	}
	r := frameReader{data: data, addr: 0x4000, encodings: make(map[uint64]byte)}
	if _, size, ok := r.next(); !ok || size != 0 {
		t.Errorf("common record: %d bytes, %t", size, ok)
	}
	if at, size, ok := r.next(); !ok || at != 0x4000+32+0x1000 || size != 32 {
		t.Errorf("%#x, %d bytes, %t", at, size, ok)
	}
	if _, _, ok := r.next(); ok {
		t.Error("a record after the end")
	}
}
