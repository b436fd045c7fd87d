package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// Fields and types of GeoJSON.
const (
	geoType        = "type"
	geoCoordinates = "coordinates"
	geoGeometries  = "geometries"
	geoCRS         = "crs"

	geoPoint              = "Point"
	geoLineString         = "LineString"
	geoPolygon            = "Polygon"
	geoMultiPoint         = "MultiPoint"
	geoMultiLineString    = "MultiLineString"
	geoMultiPolygon       = "MultiPolygon"
	geoGeometryCollection = "GeometryCollection"
)

// The names of coordinate reference systems. The first two mean the usual system. With the third, the order of
// a polygon's points decides which side is inside.
const (
	crs84           = "urn:ogc:def:crs:OGC:1.3:CRS84"
	crs4326         = "EPSG:4326"
	crsStrictWinder = "urn:x-mongodb:crs:strictwinding:EPSG:4326"
)

// placeReader parses places. meter limits the work of checking polygons.
type placeReader struct{ meter geometry.Meter }

// sizedReader returns a reader that limits the work by the size of a value.
func sizedReader(value any) placeReader {
	left := basePlaceWork + document.SizeOf(value)*checkByteWork
	return placeReader{func(work int) bool {
		left -= min(work, maxAtOnce)
		return left >= 0
	}}
}

// readGeoJSON parses a GeoJSON object. It ignores unknown fields.
func (r placeReader) readGeoJSON(o document.Object) (place, error) {
	kind, _ := o.Field(geoType)
	if kind == geoPoint {
		return readGeoPoint(o)
	}
	shape := &geometry.Shape{}
	if kind != geoGeometryCollection {
		return place{shape: shape}, r.addGeoJSON(shape, o)
	}
	value, _ := o.Field(geoGeometries)
	geometries, ok := value.(document.Array)
	if !ok || geometries.Len() == 0 {
		return place{}, boterr.Invalid(geoGeometries, "must be an array of at least one GeoJSON object, got %s", document.Excerpt(value))
	}
	for i, item := range geometries.All() {
		if err := r.addCollected(shape, item); err != nil {
			return place{}, boterr.PrefixField(geoGeometries+boterr.Index(i), err)
		}
	}
	return place{shape: shape}, nil
}

func (r placeReader) addCollected(shape *geometry.Shape, item any) error {
	o, ok := item.(document.Object)
	if !ok {
		return document.WrongType("object", item)
	}
	if err := r.addGeoJSON(shape, o); err != nil {
		return err
	}
	if last := len(shape.Polygons) - 1; last >= 0 && shape.Polygons[last].IsStrict() {
		return boterr.Invalid(geoCRS, "cannot be %q within a %s", crsStrictWinder, geoGeometryCollection)
	}
	return nil
}

// addGeoJSON adds a GeoJSON object other than a GeometryCollection to a shape.
func (r placeReader) addGeoJSON(shape *geometry.Shape, o document.Object) error {
	kind, _ := o.Field(geoType)
	var add func(*geometry.Shape, any) error
	switch kind {
	case geoPoint:
		return addGeoPoint(shape, o)
	case geoPolygon:
		return r.addGeoPolygon(shape, o)
	case geoLineString:
		add = addLine
	case geoMultiPoint:
		add = addPoints
	case geoMultiLineString:
		add = eachOf(addLine)
	case geoMultiPolygon:
		add = eachOf(r.addPolygon)
	default:
		return boterr.Invalid(geoType, "%s is not a GeoJSON type that is allowed here", document.Excerpt(kind))
	}
	if err := refuseStrict(o); err != nil {
		return err
	}
	coordinates, _ := o.Field(geoCoordinates)
	return boterr.PrefixField(geoCoordinates, add(shape, coordinates))
}

func readGeoPoint(o document.Object) (place, error) {
	if err := refuseStrict(o); err != nil {
		return place{}, err
	}
	coordinates, _ := o.Field(geoCoordinates)
	pair, err := readPair(coordinates, anyLength)
	if err != nil {
		return place{}, boterr.PrefixField(geoCoordinates, err)
	}
	if !pair.OnGlobe() {
		_, err = geometry.NewPoint(pair)
		return place{}, boterr.PrefixField(geoCoordinates, err)
	}
	return place{pair: pair}, nil
}

func addGeoPoint(shape *geometry.Shape, o document.Object) error {
	at, err := readGeoPoint(o)
	if err != nil {
		return err
	}
	point, err := geometry.NewPoint(at.pair)
	shape.Points = append(shape.Points, point)
	return boterr.PrefixField(geoCoordinates, err)
}

func (r placeReader) addGeoPolygon(shape *geometry.Shape, o document.Object) error {
	strict, err := readCRS(o)
	if err != nil {
		return boterr.PrefixField(geoCRS, err)
	}
	coordinates, _ := o.Field(geoCoordinates)
	if !strict {
		return boterr.PrefixField(geoCoordinates, r.addPolygon(shape, coordinates))
	}
	rings, err := readRings(coordinates)
	if err != nil {
		return boterr.PrefixField(geoCoordinates, err)
	}
	if len(rings) != 1 {
		return boterr.Invalid(geoCoordinates, "must be one ring with the crs %q, got %d", crsStrictWinder, len(rings))
	}
	polygon, err := geometry.NewStrictPolygon(rings[0], r.meter)
	shape.Polygons = append(shape.Polygons, polygon)
	return boterr.PrefixField(geoCoordinates+boterr.Index(0), err)
}

// eachOf returns a function that adds each element of a non-empty array.
func eachOf(add func(*geometry.Shape, any) error) func(*geometry.Shape, any) error {
	return func(shape *geometry.Shape, coordinates any) error {
		list, ok := coordinates.(document.Array)
		if !ok || list.Len() == 0 {
			return boterr.Invalid("", "must be an array of at least one element, got %s", document.Excerpt(coordinates))
		}
		for i, item := range list.All() {
			if err := add(shape, item); err != nil {
				return boterr.PrefixField(boterr.Index(i), err)
			}
		}
		return nil
	}
}

func addPoints(shape *geometry.Shape, coordinates any) error {
	points, err := readPoints(coordinates)
	if err != nil {
		return err
	}
	if len(points) == 0 {
		return boterr.Invalid("", "must be an array of at least one point")
	}
	shape.Points = append(shape.Points, points...)
	return nil
}

func addLine(shape *geometry.Shape, coordinates any) error {
	points, err := readPoints(coordinates)
	if err != nil {
		return err
	}
	line, err := geometry.NewLine(points)
	shape.Lines = append(shape.Lines, line)
	return err
}

func (r placeReader) addPolygon(shape *geometry.Shape, coordinates any) error {
	rings, err := readRings(coordinates)
	if err != nil {
		return err
	}
	polygon, err := geometry.NewPolygon(rings, r.meter)
	shape.Polygons = append(shape.Polygons, polygon)
	return err
}

func readRings(coordinates any) ([][]geometry.Point, error) {
	list, ok := coordinates.(document.Array)
	if !ok {
		return nil, document.WrongType("array", coordinates)
	}
	rings := make([][]geometry.Point, list.Len())
	for i, item := range list.All() {
		var err error
		if rings[i], err = readPoints(item); err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return rings, nil
}

func readPoints(coordinates any) ([]geometry.Point, error) {
	list, ok := coordinates.(document.Array)
	if !ok {
		return nil, document.WrongType("array", coordinates)
	}
	points := make([]geometry.Point, list.Len())
	for i, item := range list.All() {
		array, ok := item.(document.Array)
		if !ok {
			return nil, boterr.PrefixField(boterr.Index(i), document.WrongType("array", item))
		}
		pair, err := readPair(array, anyLength)
		if err == nil {
			points[i], err = geometry.NewPoint(pair)
		}
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return points, nil
}

// refuseStrict checks the reference system of a GeoJSON object that is not a polygon.
func refuseStrict(o document.Object) error {
	strict, err := readCRS(o)
	if strict {
		return boterr.Invalid(geoCRS, "%q is for a %s only", crsStrictWinder, geoPolygon)
	}
	return boterr.PrefixField(geoCRS, err)
}

// readCRS parses the reference system of a GeoJSON object, if it has one.
func readCRS(o document.Object) (strict bool, err error) {
	value, ok := o.Field(geoCRS)
	if !ok {
		return false, nil
	}
	crs, ok := value.(document.Object)
	if !ok {
		return false, document.WrongType("object", value)
	}
	if kind, _ := crs.Field("type"); kind != "name" {
		return false, boterr.Invalid("type", `must be "name", got %s`, document.Excerpt(kind))
	}
	value, _ = crs.Field("properties")
	properties, ok := value.(document.Object)
	if !ok {
		return false, boterr.PrefixField("properties", document.WrongType("object", value))
	}
	switch name, _ := properties.Field("name"); name {
	case crs84, crs4326:
		return false, nil
	case crsStrictWinder:
		return true, nil
	default:
		return false, boterr.Invalid("properties.name", "must be %q, %q or %q, got %s", crs84, crs4326, crsStrictWinder, document.Excerpt(name))
	}
}

// place is a location in a document or query. A legacy pair is on the plane, and also on the globe if its coordinates
// are within bounds. A GeoJSON point is on both, and any other GeoJSON shape is on the globe.
type place struct {
	pair geometry.Pair
	// legacy is true if the value is a pair rather than GeoJSON.
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

func isPlace(value any) bool {
	switch value.(type) {
	case document.Object, document.Array:
		return true
	default:
		return false
	}
}

// stored parses a value of a document. A pair may have further elements, such as an altitude.
func (r placeReader) stored(value any) (place, error) { return r.read(value, anyLength) }

func (r placeReader) read(value any, pairs pairLength) (place, error) {
	if isLegacy(value) {
		pair, err := readPair(value, pairs)
		return place{pair: pair, legacy: true}, err
	}
	o, ok := value.(document.Object)
	if !ok {
		return place{}, boterr.Invalid("", "must be a GeoJSON object or a pair of coordinates, got %s", document.Excerpt(value))
	}
	return r.readGeoJSON(o)
}

// queryPoint reads a point of a query: a pair, or a GeoJSON point, whose type may be left out.
func queryPoint(value any) (place, error) {
	o, ok := value.(document.Object)
	if !ok || isLegacy(value) {
		return placeReader{}.read(value, twoOnly)
	}
	if kind, ok := o.Field(geoType); ok && kind != geoPoint {
		return place{}, boterr.Invalid(geoType, "must be %q, got %s", geoPoint, document.Excerpt(kind))
	}
	return readGeoPoint(o)
}

// isLegacy reports whether a value looks like a pair: an array, or an object whose first value is a number.
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

// pairLength determines how many elements a pair may have.
type pairLength bool

const (
	// twoOnly allows exactly two elements, as queries require.
	twoOnly pairLength = false
	// anyLength allows and ignores further elements.
	anyLength pairLength = true
)

// readPair parses two finite numbers: the first elements of an array or the first values of an object.
func readPair(value any, length pairLength) (geometry.Pair, error) {
	values, ok := members(value)
	if !ok || len(values) < 2 || length == twoOnly && len(values) > 2 {
		return geometry.Pair{}, boterr.Invalid("", "must be a pair of coordinates, got %s", document.Excerpt(value))
	}
	pair, ok := firstPair(values)
	if !ok {
		return pair, boterr.Invalid("", "the coordinates must be finite numbers, got %s", document.Excerpt(value))
	}
	return pair, nil
}

// firstPair returns the first two values of a list, and whether they are finite numbers.
func firstPair(values []any) (geometry.Pair, bool) {
	if len(values) < 2 {
		return geometry.Pair{}, false
	}
	x, ok1 := document.FloatNumber(values[0])
	y, ok2 := document.FloatNumber(values[1])
	pair := geometry.Pair{X: x, Y: y}
	return pair, ok1 && ok2 && pair.IsFinite()
}

// members returns the elements of an array or the values of an object. The caller must not modify them.
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
