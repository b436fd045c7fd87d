package query

import (
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// GeoKey is a field of a geo index, for stores that keep such an index themselves. It finds places
// by cells: parts of the globe, or for Geo2D of the plane, that are numbered as S2 numbers them. A
// document that meets a geo condition has a cell that equals, lies within or contains one of the
// condition's.
type GeoKey struct {
	path *fieldPath
	kind IndexKind
}

// NewGeoKey returns the key of an index of the kind Geo2D or Geo2DSphere.
func NewGeoKey(path string, kind IndexKind) *GeoKey {
	return &GeoKey{path: compilePath(path), kind: kind}
}

// AppendCells appends the cells of a document's places: for a point one that holds no
// other. A document without a value in the field, with null or an empty array has
// none. What an index of that kind cannot hold is InvalidArgument.
func (k *GeoKey) AppendCells(cells []uint64, o document.Object) ([]uint64, error) {
	var whole collector
	k.path.walk(o, leafWhole, &whole, nil)
	if len(whole.values) == 1 && isNothing(whole.values[0]) {
		return cells, nil
	}
	for _, value := range whole.values {
		var err error
		if k.kind == Geo2D {
			cells, err = appendPlaneCells(cells, value)
		} else {
			cells, err = appendSphereCells(cells, value)
		}
		if err != nil {
			return cells, boterr.PrefixField(k.path.text, err)
		}
		cells = k.appendInner(cells, value)
	}
	return cells, nil
}

// appendInner appends the cells of places among the elements of an array that is a pair
// itself, such as [1, 2, [3, 4]]: a filter looks at both.
func (k *GeoKey) appendInner(cells []uint64, value any) []uint64 {
	list, _ := value.(document.Array)
	for _, item := range list.Items() {
		if !isPlace(item) {
			continue
		}
		if k.kind == Geo2D {
			cells, _ = appendPlaneCells(cells, item)
		} else {
			cells, _ = appendSphereCells(cells, item)
		}
	}
	return cells
}

// isNothing reports whether a value counts as no place: null, or an array or object
// without elements.
func isNothing(value any) bool {
	parts, ok := members(value)
	return value == nil || ok && len(parts) == 0
}

// appendPlaneCells appends the cell of a pair, or those of an array of pairs. Values
// that are neither array nor object count for nothing.
func appendPlaneCells(cells []uint64, value any) ([]uint64, error) {
	parts, _ := members(value)
	if len(parts) == 0 {
		return cells, nil
	}
	if _, ok := document.FloatNumber(parts[0]); ok {
		return appendPairCell(cells, value)
	}
	for i, part := range parts {
		if isPlace(part) && isNothing(part) {
			continue
		}
		var err error
		if cells, err = appendPairCell(cells, part); err != nil {
			return cells, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return cells, nil
}

func appendPairCell(cells []uint64, value any) ([]uint64, error) {
	pair, err := readPair(value, anyLength)
	if err == nil {
		err = checkInPlane(pair)
	}
	if err != nil {
		return cells, err
	}
	return append(cells, uint64(geometry.PlaneCell(pair))), nil
}

// appendSphereCells appends the cells of a place on the globe.
func appendSphereCells(cells []uint64, value any) ([]uint64, error) {
	at, err := storedPlace(value)
	if err != nil {
		return cells, err
	}
	if at.shape == nil {
		point, err := geometry.NewPoint(at.pair)
		if err != nil {
			return cells, err
		}
		return append(cells, uint64(point.Cell())), nil
	}
	if isStrict(at.shape) {
		return cells, boterr.Invalid(geoCRS, "%q is for queries only", crsStrictWinder)
	}
	return appendCells(cells, at.shape.Cells()), nil
}

func appendCells(cells []uint64, more geometry.Cells) []uint64 {
	for _, cell := range more {
		cells = append(cells, uint64(cell))
	}
	return cells
}

// GeoCells returns the cells in which an index looks for what matches, and false
// where the filter has no condition that the index can serve, at its top or in a top
// $and.
func (f *Filter) GeoCells(key *GeoKey) ([]uint64, bool) {
	for condition := range f.Conditions() {
		m, ok := condition.matcher.(*pathMatcher)
		if !ok || m.path.text != key.path.text {
			continue
		}
		test, ok := m.test.(geoTest)
		if !ok {
			continue
		}
		if cells := test.cover(key.kind); len(cells) > 0 {
			return appendCells(nil, cells), true
		}
	}
	return nil, false
}

// Cells returns the cells in which an index looks for what is at least inner and at
// most outer away from the search's point, in the search's unit.
func (g *GeoNear) Cells(key *GeoKey, inner, outer float64) []uint64 {
	if !g.spherical {
		return appendCells(nil, geometry.PlaneRing(g.pair, inner, outer))
	}
	inner, outer = inner/g.unit(), outer/g.unit()
	if key.kind == Geo2DSphere {
		return appendCells(nil, geometry.Ring(g.point, inner, outer))
	}
	return appendCells(nil, coverBoxes(geometry.NewCap(g.point, outer).Bounds()))
}

// Center returns the smallest cell around the search's point.
func (g *GeoNear) Center(key *GeoKey) uint64 {
	if key.kind == Geo2DSphere {
		return uint64(g.point.Cell())
	}
	return uint64(geometry.PlaneCell(g.pair))
}

// Span returns the size of a cell in the search's unit. The level of a cell is how
// often a largest one is divided.
func (g *GeoNear) Span(level int) float64 {
	if !g.spherical {
		return geometry.PlaneCellSize(level)
	}
	return geometry.CellSize(level) * g.unit()
}

// Reach returns the distances between which places are looked for, and the distance at
// which Cells returns all cells.
func (g *GeoNear) Reach() (least, most, all float64) {
	const acrossThePlane = 510 // Its diagonal is a little shorter.
	all = acrossThePlane
	if g.spherical {
		all = math.Pi * g.unit()
	}
	return g.least, g.most, all
}
