package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// place is a location of a document or a query: a legacy pair, for the plane and, within bounds,
// for the globe; a GeoJSON point, for both; or another GeoJSON shape, for the globe.
type place struct {
	pair geometry.Pair
	// legacy tells that the value is a pair rather than GeoJSON.
	legacy bool
	// shape is nil for pairs and points.
	shape *geometry.Shape
}

// onGlobe returns the point of a pair or a GeoJSON point.
func (p place) onGlobe() (geometry.Point, bool) {
	if p.shape != nil {
		return geometry.Point{}, false
	}
	point, err := geometry.NewPoint(p.pair)
	return point, err == nil
}

// isPlace reports whether a value can be a place at all.
func isPlace(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return true
	default:
		return false
	}
}

// storedPlace reads a value of a document. A pair may have further elements, such as
// an altitude.
func storedPlace(value any) (place, error) { return readPlace(value, anyLength) }

// queryPlace reads the operand of $geometry. A pair has two elements.
func queryPlace(value any) (place, error) { return readPlace(value, twoOnly) }

// readPlace reads a pair of coordinates or GeoJSON.
func readPlace(value any, pairs pairLength) (place, error) {
	if isLegacy(value) {
		pair, err := readPair(value, pairs)
		return place{pair: pair, legacy: true}, err
	}
	o, ok := value.(document.Object)
	if !ok {
		return place{}, notAPlace(value)
	}
	return readGeoJSON(o)
}

func notAPlace(value any) error {
	return boterr.Invalid("", "must be a GeoJSON object or a pair of coordinates, got %s", document.Excerpt(value))
}

// queryPoint reads a point of a query: a pair, or a GeoJSON point, which need not
// name its type.
func queryPoint(value any) (place, error) {
	if isLegacy(value) {
		pair, err := readPair(value, twoOnly)
		return place{pair: pair, legacy: true}, err
	}
	o, ok := value.(document.Object)
	if !ok {
		return place{}, notAPlace(value)
	}
	if kind, ok := o.Field(geoType); ok && kind != geoPoint {
		return place{}, boterr.Invalid(geoType, "must be %q, got %s", geoPoint, document.Excerpt(kind))
	}
	return readGeoPoint(o)
}

// isLegacy reports whether a value is meant as a pair: it is an array, or an object
// with a number first.
func isLegacy(value any) bool {
	switch v := value.(type) {
	case document.Array:
		return true
	case document.Object:
		if v.Len() == 0 {
			return false
		}
		_, ok := document.FloatNumber(v.At(0))
		return ok
	default:
		return false
	}
}

// pairLength says how many elements a pair may have.
type pairLength bool

const (
	// twoOnly is a pair of a query.
	twoOnly pairLength = false
	// anyLength lets further elements follow, which count for nothing.
	anyLength pairLength = true
)

// readPair reads two finite numbers: the first elements of an array or the first
// fields of an object.
func readPair(value any, length pairLength) (geometry.Pair, error) {
	const two = 2
	values, ok := members(value)
	if !ok || len(values) < two || length == twoOnly && len(values) > two {
		return geometry.Pair{}, boterr.Invalid("", "must be a pair of coordinates, got %s", document.Excerpt(value))
	}
	pair, ok := firstPair(values)
	if !ok {
		return pair, boterr.Invalid("", "the coordinates must be finite numbers, got %s", document.Excerpt(value))
	}
	return pair, nil
}

// firstPair returns the first two of a list, and whether they are finite numbers.
func firstPair(values []any) (geometry.Pair, bool) {
	const two = 2
	if len(values) < two {
		return geometry.Pair{}, false
	}
	x, ok1 := document.FloatNumber(values[0])
	y, ok2 := document.FloatNumber(values[1])
	pair := geometry.Pair{X: x, Y: y}
	return pair, ok1 && ok2 && pair.IsFinite()
}

// members returns the elements of an array or the values of an object, which must
// not be changed.
func members(value any) ([]any, bool) {
	switch v := value.(type) {
	case document.Array:
		return v.Items(), true
	case document.Object:
		return v.Values(), true
	default:
		return nil, false
	}
}
