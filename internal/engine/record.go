package engine

import (
	"encoding/json"
	"fmt"

	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// indexRecord is the stored form of an index.
type indexRecord struct {
	Keys     []keyRecord `json:"keys"`
	Unique   bool        `json:"unique,omitempty"`
	Sparse   bool        `json:"sparse,omitempty"`
	Number   int         `json:"number"`
	MultiKey bool        `json:"multiKey,omitempty"`
	Cut      bool        `json:"cut,omitempty"`
	// Levels are the levels of the geo keys, in their order.
	Levels []uint64 `json:"levels,omitempty"`
	// Building is true until the index contains all documents.
	Building bool `json:"building,omitempty"`
}

type keyRecord struct {
	Path string          `json:"path"`
	Kind query.IndexKind `json:"kind"`
}

// MarshalIndexes returns the indexes of a schema as JSON. building is the number of the index that does not contain
// all documents yet, or 0.
func (s *Schema) MarshalIndexes(building int) ([]byte, error) {
	records := make([]indexRecord, 0, len(s.Indexes))
	for i := range s.Indexes {
		x := &s.Indexes[i]
		r := indexRecord{
			Unique: x.Spec.Unique, Sparse: x.Spec.Sparse, Number: x.Number, MultiKey: x.MultiKey, Cut: x.Cut,
			Building: x.Number == building,
		}
		for _, key := range x.Spec.Keys {
			r.Keys = append(r.Keys, keyRecord{Path: key.Path, Kind: key.Kind})
		}
		for j := range x.Geo {
			r.Levels = append(r.Levels, x.Geo[j].Levels)
		}
		records = append(records, r)
	}
	return json.Marshal(records)
}

// UnmarshalIndexes returns the schema for indexes written by MarshalIndexes, and the number of the index that does
// not contain all documents yet, or 0.
func UnmarshalIndexes(collection string, text []byte) (schema *Schema, building int, err error) {
	var records []indexRecord
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, 0, err
	}
	schema = &Schema{Name: collection}
	for _, r := range records {
		spec := store.Index{Unique: r.Unique, Sparse: r.Sparse}
		for _, key := range r.Keys {
			spec.Keys = append(spec.Keys, store.IndexKey{Path: key.Path, Kind: key.Kind})
		}
		if err := spec.Check(); err != nil {
			return nil, 0, err
		}
		x := NewIndex(collection, spec)
		x.Number, x.MultiKey, x.Cut = r.Number, r.MultiKey, r.Cut
		if len(r.Levels) != len(x.Geo) {
			return nil, 0, fmt.Errorf("the index %s has levels for %d geo keys, but %d geo keys", x.Name(), len(r.Levels), len(x.Geo))
		}
		for j := range x.Geo {
			x.Geo[j].Levels = r.Levels[j]
		}
		if r.Building {
			building = r.Number
		}
		schema.Indexes = append(schema.Indexes, x)
	}
	return schema, building, nil
}

// WithoutNumber returns the schema without the index with a number, or the schema itself if there is none.
func (s *Schema) WithoutNumber(number int) *Schema {
	if at := s.IndexOf(number); at >= 0 {
		return s.WithoutIndex(at)
	}
	return s
}

// IndexOf returns the position of the index with a number, or -1.
func (s *Schema) IndexOf(number int) int {
	for i := range s.Indexes {
		if s.Indexes[i].Number == number {
			return i
		}
	}
	return -1
}

// NextNumber returns the number for a new index.
func (s *Schema) NextNumber() int {
	number := 1
	for i := range s.Indexes {
		number = max(number, s.Indexes[i].Number+s.Indexes[i].Numbers())
	}
	return number
}
