package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"time"
)

// An order is a document of a known shape.
type order struct {
	ID       uint64            `json:"id"` // exact as a float64
	Placed   time.Time         `json:"placed"`
	Customer customer          `json:"customer"`
	Items    []item            `json:"items"`
	Labels   map[string]string `json:"labels,omitempty"`
	Photo    []byte            `json:"photo"`
	Previous *order            `json:"previous,omitempty"`
}

type customer struct {
	Name   string  `json:"name"`
	Mail   *string `json:"mail"`
	Points int32   `json:"points,string"`
}

type item struct {
	Title  string     `json:"title"`
	Count  int        `json:"count"`
	Price  float64    `json:"price"`
	Weight float32    `json:"weight"`
	Size   [3]float64 `json:"size"`
	Gift   bool       `json:"gift,omitempty"`
}

// document makes up an order and a document of no shape, and takes both apart.
func document(r *random) (text string, parts int, err error) {
	shapeless := r.object(4)
	a, parts, err := roundTrip(shapeless)
	if err != nil {
		return "", 0, err
	}
	b, err := typedTrip(r.order(3))
	return a + b, parts, err
}

// roundTrip encodes a document, decodes it and encodes it again. It returns the
// text and the number of its tokens.
func roundTrip(doc any) (text string, parts int, err error) {
	first, err := json.Marshal(doc)
	if err != nil {
		return "", 0, err
	}
	var decoded any
	if err := json.Unmarshal(first, &decoded); err != nil {
		return "", 0, err
	}
	if !reflect.DeepEqual(doc, decoded) {
		return "", 0, errors.New("decoding gives other values than were encoded")
	}
	second, err := json.Marshal(decoded)
	if err != nil {
		return "", 0, err
	}
	if !bytes.Equal(first, second) {
		return "", 0, fmt.Errorf("the decoded document is encoded in %d bytes, the first one in %d, or in others", len(second), len(first))
	}
	parts, err = relaid(first)
	return string(first), parts, err
}

// relaid indents a text, compacts it and compares. It returns how many tokens the
// indented text has.
func relaid(text []byte) (tokens int, err error) {
	var wide, narrow bytes.Buffer
	if err := json.Indent(&wide, text, "", "\t"); err != nil {
		return 0, err
	}
	if err := json.Compact(&narrow, wide.Bytes()); err != nil {
		return 0, err
	}
	if !bytes.Equal(narrow.Bytes(), text) {
		return 0, fmt.Errorf("indented and compacted, %d bytes have become %d, or others", len(text), narrow.Len())
	}
	stream := json.NewDecoder(&wide)
	for {
		_, err := stream.Token()
		if err == io.EOF {
			return tokens, nil
		}
		if err != nil {
			return 0, err
		}
		tokens++
	}
}

// typedTrip encodes an order, decodes it into an order and into any, and encodes
// both again.
func typedTrip(o *order) (text string, err error) {
	first, err := json.Marshal(o)
	if err != nil {
		return "", err
	}
	var same order
	if err := json.Unmarshal(first, &same); err != nil {
		return "", err
	}
	if !reflect.DeepEqual(*o, same) {
		return "", errors.New("decoding gives another order than was encoded")
	}
	var loose any
	if err := json.Unmarshal(first, &loose); err != nil {
		return "", err
	}
	fields, err := json.Marshal(loose)
	if err != nil {
		return "", err
	}
	var sorted order
	if err := json.Unmarshal(fields, &sorted); err != nil {
		return "", err
	}
	if !reflect.DeepEqual(same, sorted) {
		return "", errors.New("an order decoded by way of any is another")
	}
	return string(first), nil
}

// object returns names with values, nested to some depth.
func (r *random) object(depth int) map[string]any {
	m := map[string]any{}
	for range 3 + r.below(5) {
		m[fmt.Sprintf("%s_%d", r.one(words), r.below(100))] = r.any(depth - 1)
	}
	return m
}

// any returns what decoding can give: numbers, texts, lists...
func (r *random) any(depth int) any {
	kind := r.below(10)
	switch {
	case kind < 3 && depth > 0:
		return r.object(depth)
	case kind < 5 && depth > 0:
		list := make([]any, 1+r.below(5))
		for i := range list {
			list[i] = r.any(depth - 1)
		}
		return list
	case kind == 5:
		return nil
	case kind == 6:
		return r.below(2) == 0
	case kind < 8:
		return r.text()
	}
	return r.number()
}

// text returns words with letters that have to be escaped, and others.
func (r *random) text() string {
	return r.sentence() + r.one([]string{"", "\t\"quoted\"\n", " <a&b>", " größer", " 数 😀", " \\ \u2028"})
}

// number returns a number, some large, some small, some whole.
func (r *random) number() float64 {
	x := float64(r.below(1 << 30))
	return x / [...]float64{1, 1, 1000, 1 << 30, 7e20, 1e-15}[r.below(6)]
}

func (r *random) order(depth int) *order {
	o := &order{
		ID: r.next() >> 11, Placed: time.Unix(int64(r.below(1<<31-1)), int64(r.below(1e9))).UTC(),
		Customer: customer{Name: r.text(), Points: int32(r.below(1<<30)) - 1<<29},
		Items:    make([]item, 1+r.below(4)),
		Photo:    make([]byte, 1+r.below(40)),
	}
	if r.below(2) == 0 {
		mail := r.one(words) + "@" + r.one(words)
		o.Customer.Mail = &mail
		o.Labels = map[string]string{r.one(words): r.text(), r.one(words): ""}
	}
	for i := range o.Photo {
		o.Photo[i] = byte(r.below(256))
	}
	for i := range o.Items {
		o.Items[i] = item{
			Title: r.text(), Count: r.below(100), Price: float64(r.below(1e6)) / 100, Weight: float32(r.number()),
			Size: [3]float64{r.number(), r.number(), r.number()}, Gift: r.below(2) == 0,
		}
	}
	if depth > 0 {
		o.Previous = r.order(depth - 1)
	}
	return o
}
