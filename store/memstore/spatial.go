package memstore

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore/internal/persistent"
)

// spatialIndex is one version of the places in a field: the positions of documents
// by the cells of their places.
type spatialIndex struct {
	path string
	// field is the first part of path.
	field string
	kind  query.IndexKind
	key   *query.GeoKey
	// entries are the cells with the position behind them.
	entries persistent.Tree[string, struct{}]
	// levels has a bit for each level that the cell of an entry had, but for the level of points. A
	// cell of such a level may contain one that is searched for.
	levels uint64
}

func newSpatialIndex(key store.IndexKey) spatialIndex {
	field, _, _ := strings.Cut(key.Path, ".")
	return spatialIndex{path: key.Path, field: field, kind: key.Kind, key: query.NewGeoKey(key.Path, key.Kind)}
}

// replace replaces the places of one version of a document by those of the next. The zero Object
// stands for no document.
func (x *spatialIndex) replace(edit *persistent.Edit, position uint64, before, after document.Object) error {
	if !before.IsZero() && !after.IsZero() {
		old, had := before.Field(x.field)
		if next, has := after.Field(x.field); had == has && old == next {
			return nil
		}
	}
	var room [4]uint64
	next, err := x.cells(room[:0], after)
	if err != nil {
		return err
	}
	var oldRoom [4]uint64
	old, err := x.cells(oldRoom[:0], before)
	if err != nil {
		return err
	}
	for _, cell := range old {
		if !slices.Contains(next, cell) {
			x.entries.Delete(edit, spatialEntry(cell, position))
		}
	}
	for _, cell := range next {
		if slices.Contains(old, cell) {
			continue
		}
		x.entries.Set(edit, spatialEntry(cell, position), struct{}{})
		if level := s2.CellID(cell).Level(); level < s2.MaxLevel {
			x.levels |= 1 << level
		}
	}
	return nil
}

// cells returns the cells of a document, none of the zero Object.
func (x *spatialIndex) cells(room []uint64, o document.Object) ([]uint64, error) {
	if o.IsZero() {
		return room, nil
	}
	return x.key.AppendCells(room, o)
}

// cellSize is the number of bytes of a cell in an entry, and of a position.
const cellSize = 8

// spatialEntry returns the entry of a document under a cell.
func spatialEntry(cell, position uint64) string {
	var entry [2 * cellSize]byte
	binary.BigEndian.PutUint64(entry[:], cell)
	binary.BigEndian.PutUint64(entry[cellSize:], position)
	return string(entry[:])
}

// within yields the positions, all below end, of the documents that have a cell equal
// to, within or around one of those given, in the order of insertion, until yield
// returns false.
func (x *spatialIndex) within(cells []uint64, end uint64, yield func(position uint64) bool) {
	found := positionSet{end: end}
	collect := func(position uint64) bool {
		found.add(position)
		return true
	}
	var around []s2.CellID
	for _, cell := range cells {
		id := s2.CellID(cell)
		x.between(id.RangeMin(), id.RangeMax(), collect)
		around = x.appendAround(around, id)
	}
	slices.Sort(around)
	for _, id := range slices.Compact(around) {
		x.between(id, id, collect)
	}
	found.all(yield)
}

// appendAround appends the cells around one that an entry may have.
func (x *spatialIndex) appendAround(around []s2.CellID, id s2.CellID) []s2.CellID {
	above := x.levels & (1<<id.Level() - 1)
	for ; above != 0; above &= above - 1 {
		around = append(around, id.Parent(bits.TrailingZeros64(above)))
	}
	return around
}

// between yields the positions under the cells in a range until yield returns false.
func (x *spatialIndex) between(low, high s2.CellID, yield func(position uint64) bool) {
	for entry := range x.entries.From(spatialEntry(uint64(low), 0)) {
		if cellOf(entry) > high || !yield(positionOf(entry)) {
			return
		}
	}
}

func cellOf(entry string) s2.CellID {
	return s2.CellID(binary.BigEndian.Uint64([]byte(entry[:cellSize])))
}

func positionOf(entry string) uint64 { return binary.BigEndian.Uint64([]byte(entry[cellSize:])) }
