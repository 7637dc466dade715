package notebook

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"testing"

	"github.com/janpfeifer/gonb/gonbui/protocol"
)

// TestPicturesHaveTexts: what a picture shows in words reaches the kernel, which takes
// apart what it knows the types of alone, and stands where Jupyter's messages have it.
func TestPicturesHaveTexts(t *testing.T) {
	var sent bytes.Buffer
	if err := gob.NewEncoder(&sent).Encode(pictureData([]byte{1, 2}, "Misses over n.")); err != nil {
		t.Fatal(err)
	}
	var got protocol.DisplayData
	if err := gob.NewDecoder(&sent).Decode(&got); err != nil {
		t.Fatal(err)
	}
	metadata, err := json.Marshal(got.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"image/png":{"alt":"Misses over n."}}`; string(metadata) != want {
		t.Errorf("metadata %s, want %s", metadata, want)
	}
	if d := pictureData([]byte{1}, ""); d.Metadata != nil {
		t.Errorf("a picture without a text has metadata %v", d.Metadata)
	}
}
