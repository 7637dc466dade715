package locality

import (
	"encoding/json"
	"testing"
)

// Seal returns the text of a profiles.json with the checksum that it should have.
func Seal(t *testing.T, text string) string {
	t.Helper()
	var s saved
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	sum, err := s.checksum()
	if err != nil {
		t.Fatal(err)
	}
	s.Checksum = sum
	sealed, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(sealed)
}
