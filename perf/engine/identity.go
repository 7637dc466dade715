package engine

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Identity names an engine and its version. Results recorded under different
// identities are not interchangeable, so it is part of the key of every stored
// result of a run.
type Identity struct {
	Name string // letters, digits and dashes

	// Version starts at 1 and is raised with every change that alters an address
	// or a count in the trace of any program.
	Version int

	// Numbered makes the JSON form the bare version number. It is set by the
	// one engine that wrote keys before engines had names, so that its stored
	// results stay valid.
	Numbered bool
}

// String returns name@version.
func (id Identity) String() string { return id.Name + "@" + strconv.Itoa(id.Version) }

// MarshalJSON implements json.Marshaler: "name@version", or the version alone
// if Numbered. So the JSON forms of two identities differ unless the
// identities denote the same engine.
func (id Identity) MarshalJSON() ([]byte, error) {
	if err := id.check(); err != nil {
		return nil, err
	}
	if id.Numbered {
		return json.Marshal(id.Version)
	}
	return json.Marshal(id.String())
}

func (id Identity) check() error {
	if id.Version < 1 || id.Name == "" && !id.Numbered || strings.Trim(id.Name, nameLetters) != "" {
		return fmt.Errorf("engine: identity %q: want a name of letters, digits and dashes, and a version from 1", id.String())
	}
	return nil
}

const nameLetters = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// UnmarshalJSON implements json.Unmarshaler. An identity read from a bare number
// has no Name.
func (id *Identity) UnmarshalJSON(text []byte) error {
	var version int
	if json.Unmarshal(text, &version) == nil {
		*id = Identity{Version: version, Numbered: true}
		return id.check()
	}
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("engine: identity: %w", err)
	}
	name, number, _ := strings.Cut(s, "@")
	version, err := strconv.Atoi(number)
	if err != nil {
		return fmt.Errorf("engine: identity %q: want name@version", s)
	}
	*id = Identity{Name: name, Version: version}
	return id.check()
}
