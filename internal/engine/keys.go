package engine

import (
	"encoding/binary"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Key is an index entry of a document, for databases whose keys are bytes.
type Key struct {
	// Number is Index.Number or, for a geo key, Index.GeoNumber.
	Number int
	Key    []byte
	// IsUnique is true if no other document may have the key.
	IsUnique bool
}

// Numbers returns how many numbers an index uses: one for the index, and one for each key.
func (x *Index) Numbers() int { return 1 + len(x.Spec.Keys) }

// GeoNumber returns the number of one of the geo keys of an index.
func (x *Index) GeoNumber(key int) int { return x.Number + 1 + key }

// Changes are the index entries to remove and to add when a document changes.
type Changes struct {
	Remove, Add []Key
	// Schema is the new schema, or nil if it stays the same. It changes if the document is the first with several
	// keys in an index, or with cells of a new level.
	Schema *Schema
}

// Changes returns the changes of index entries from one version of a document to the next. The zero Object
// means no document.
func (s *Schema) Changes(before, after document.Object) (c Changes, err error) {
	for i := range s.Indexes {
		if s.Indexes[i].SameFields(before, after) {
			continue
		}
		if err := c.compare(s, i, before, after); err != nil {
			return Changes{}, err
		}
	}
	return c, nil
}

// ChangesIn is like Changes, for one index.
func (s *Schema) ChangesIn(index int, before, after document.Object) (c Changes, err error) {
	err = c.compare(s, index, before, after)
	return c, err
}

// maxKeys limits the number of a document's keys in an index, as in MongoDB. Writing more would hold up other writes.
const maxKeys = 100_000

// checkCount returns an error if a document has too many keys in an index. path is one of the index's paths.
func checkCount(count int, path string) error {
	if count > maxKeys {
		return boterr.Invalid(path, "gives one document %d keys in an index; at most %d are allowed", count, maxKeys)
	}
	return nil
}

func (c *Changes) compare(s *Schema, i int, before, after document.Object) error {
	x := &s.Indexes[i]
	if x.Geo != nil {
		for j := range x.Geo {
			if err := c.compareGeo(s, i, j, before, after); err != nil {
				return err
			}
		}
		return nil
	}
	old, next, err := x.keysOfBoth(before, after)
	if err == nil {
		err = checkCount(len(next), x.Spec.Keys[0].Path)
	}
	if err != nil {
		return err
	}
	for _, key := range old {
		if !next.Contains(key) {
			c.Remove = append(c.Remove, Key{Number: x.Number, Key: []byte(key), IsUnique: x.Spec.Unique})
		}
	}
	for _, key := range next {
		if !old.Contains(key) {
			c.Add = append(c.Add, Key{Number: x.Number, Key: []byte(key), IsUnique: x.Spec.Unique})
		}
	}
	if len(next) > 1 && !x.MultiKey {
		c.grown(s).Indexes[i].MultiKey = true
	}
	return nil
}

func (c *Changes) compareGeo(s *Schema, i, j int, before, after document.Object) error {
	x := &s.Indexes[i].Geo[j]
	var room [2][4]uint64
	old, err := x.cells(room[0][:], before)
	if err != nil {
		return err
	}
	next, err := x.cells(room[1][:], after)
	if err == nil {
		err = checkCount(len(next), x.path)
	}
	if err != nil {
		return err
	}
	number := s.Indexes[i].GeoNumber(j)
	for _, cell := range old {
		if _, stays := slices.BinarySearch(next, cell); !stays {
			c.Remove = append(c.Remove, Key{Number: number, Key: CellKey(cell)})
		}
	}
	for _, cell := range next {
		if _, was := slices.BinarySearch(old, cell); was {
			continue
		}
		c.Add = append(c.Add, Key{Number: number, Key: CellKey(cell)})
		if level := levelOf(cell); level&^x.Levels != 0 {
			grown := &c.grown(s).Indexes[i]
			grown.Geo = slices.Clone(grown.Geo)
			grown.Geo[j].Levels |= level
		}
	}
	return nil
}

func (c *Changes) grown(s *Schema) *Schema {
	if c.Schema == nil {
		c.Schema = s.clone()
	}
	return c.Schema
}

func (s *Schema) clone() *Schema {
	return &Schema{Name: s.Name, Indexes: slices.Clone(s.Indexes)}
}

// WithCut returns the schema with Index.Cut set for one index.
func (s *Schema) WithCut(index int) *Schema {
	next := s.clone()
	next.Indexes[index].Cut = true
	return next
}

// WithIndex returns the schema with one more index.
func (s *Schema) WithIndex(x Index) *Schema {
	return &Schema{Name: s.Name, Indexes: append(slices.Clip(s.Indexes), x)}
}

// WithoutIndex returns the schema without the index at a position.
func (s *Schema) WithoutIndex(at int) *Schema {
	return &Schema{Name: s.Name, Indexes: slices.Delete(slices.Clone(s.Indexes), at, at+1)}
}

// levelOf returns the bit for a cell's level, or 0 for the level of points.
func levelOf(cell uint64) uint64 {
	if level := s2.CellID(cell).Level(); level < s2.MaxLevel {
		return 1 << level
	}
	return 0
}

// cellSize is the number of bytes of a cell in a key.
const cellSize = 8

// CellKey returns the key of a cell. Keys are in the order of cells.
func CellKey(cell uint64) []byte { return binary.BigEndian.AppendUint64(nil, cell) }

// CellOf returns the cell of a key, or 0 for a key of another length.
func CellOf(key []byte) uint64 {
	if len(key) != cellSize {
		return 0
	}
	return binary.BigEndian.Uint64(key)
}

// Duplicate returns the error for a document whose key another document has in a unique index.
func (s *Schema) Duplicate(o document.Object, key Key) error {
	for i := range s.Indexes {
		if s.Indexes[i].Number == key.Number {
			return s.Indexes[i].Duplicate(o, string(key.Key))
		}
	}
	return boterr.New(boterr.AlreadyExists, "", "the collection %q already has a document with the same unique key", s.Name)
}
