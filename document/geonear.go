package document

import (
	"math"
	"strings"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// EarthRadius is the radius of the earth in metres that MongoDB computes with.
const EarthRadius = 6378100.0

// DefaultGeoKey is the field in which GeoNear looks for points where neither the
// query nor an index names one.
const DefaultGeoKey = "location"

// GeoNear is a compiled search for what is near a point: the argument of MongoDB's
// $geoNear. It is safe for concurrent use.
type GeoNear struct {
	near          geoPoint
	spherical     bool
	metres        bool
	filter        *Filter
	key           *fieldPath
	limit         int64
	least, most   float64
	multiplier    float64
	distanceField string
	includeLocs   string
}

// GeoResult is a document that was found.
type GeoResult struct {
	// Document has the distance and the point in it where the query asked for that.
	Document Object
	// Distance is in metres where the query's point is GeoJSON, in radians for a
	// legacy pair with spherical, else in the units of the coordinates. The
	// query's distanceMultiplier is in it.
	Distance float64
}

// geoNearArgument is the argument of $geoNear.
type geoNearArgument struct {
	Near               any      `json:"near"`
	DistanceField      string   `json:"distanceField"`
	Spherical          bool     `json:"spherical"`
	MaxDistance        *float64 `json:"maxDistance"`
	MinDistance        *float64 `json:"minDistance"`
	Query              Object   `json:"query"`
	DistanceMultiplier *float64 `json:"distanceMultiplier"`
	IncludeLocs        string   `json:"includeLocs"`
	Key                string   `json:"key"`
	Limit              *int64   `json:"limit"`
}

// CompileGeoNear compiles a search. Its fields are those of $geoNear, and limit:
//
//   - near: a GeoJSON point, {"type": "Point", "coordinates": [longitude,
//     latitude]}, or a legacy pair [x, y] or {"lng": x, "lat": y}. Required.
//   - maxDistance, minDistance: in metres for GeoJSON; for a legacy pair in radians
//     with spherical, else in the units of the coordinates. Both inclusive.
//   - query: a filter. limit: the most documents to return, at least 1.
//   - distanceField, includeLocs: the dotted paths at which the results have their
//     distance and the point that was measured.
//   - distanceMultiplier: what distances in results are multiplied with.
//   - key: the dotted path of the field that holds the points.
//
// A point off the globe (for a legacy pair without spherical: beyond 180 in either
// direction), a number that is negative or no number, and a field that is unknown
// are InvalidArgument.
func CompileGeoNear(source Object) (*GeoNear, error) {
	if source.IsZero() {
		return nil, boterr.Invalid("near", "the point to search around is missing")
	}
	var argument geoNearArgument
	if err := DecodeStrict(source, &argument); err != nil {
		return nil, err
	}
	g := &GeoNear{spherical: argument.Spherical, multiplier: 1, most: math.Inf(1)}
	if err := g.setNear(argument.Near); err != nil {
		return nil, boterr.In("near", err)
	}
	if err := g.setFilter(argument.Query); err != nil {
		return nil, boterr.In("query", err)
	}
	if err := g.setNumbers(argument); err != nil {
		return nil, err
	}
	if err := g.setPaths(argument); err != nil {
		return nil, err
	}
	return g, nil
}

func (g *GeoNear) setNear(near any) error {
	point, ok := readPoint(near)
	if !ok {
		return boterr.Invalid("", "must be a GeoJSON point or a pair [longitude, latitude], got %s", textOf(near))
	}
	if point.isGeoJSON {
		g.spherical, g.metres = true, true
	}
	if !g.accepts(point) {
		return boterr.Invalid("", "%s is off the globe: longitude is from -180 to 180, latitude from -90 to 90", textOf(near))
	}
	g.near = point
	return nil
}

func (g *GeoNear) setFilter(query Object) error {
	if query.IsZero() {
		return nil
	}
	var err error
	g.filter, err = CompileFilter(query)
	return err
}

func (g *GeoNear) setNumbers(argument geoNearArgument) error {
	for _, number := range []struct {
		field string
		given *float64
		into  *float64
	}{
		{"minDistance", argument.MinDistance, &g.least},
		{"maxDistance", argument.MaxDistance, &g.most},
		{"distanceMultiplier", argument.DistanceMultiplier, &g.multiplier},
	} {
		if number.given == nil {
			continue
		}
		if math.IsNaN(*number.given) || *number.given < 0 {
			return boterr.Invalid(number.field, "must not be negative, got %v", *number.given)
		}
		*number.into = *number.given
	}
	if argument.Limit == nil {
		return nil
	}
	if g.limit = *argument.Limit; g.limit < 1 {
		return boterr.Invalid("limit", "must be at least 1, got %d", g.limit)
	}
	return nil
}

func (g *GeoNear) setPaths(argument geoNearArgument) error {
	for _, given := range []struct{ field, path string }{
		{"key", argument.Key}, {"distanceField", argument.DistanceField}, {"includeLocs", argument.IncludeLocs},
	} {
		if given.path == "" {
			continue
		}
		if err := CheckPath(given.path); err != nil {
			return boterr.In(given.field, err)
		}
		if isOperator(given.path) {
			return boterr.Invalid(given.field, "a path cannot begin with $")
		}
	}
	if distance, location := argument.DistanceField+".", argument.IncludeLocs+"."; distance != "." && location != "." &&
		(strings.HasPrefix(distance, location) || strings.HasPrefix(location, distance)) {
		return boterr.Invalid("includeLocs", "is the same place as distanceField, or one is inside the other")
	}
	if argument.Key != "" {
		g.key = compilePath(argument.Key)
	}
	g.distanceField, g.includeLocs = argument.DistanceField, argument.IncludeLocs
	return nil
}

// Filter returns the query's filter, nil where there is none.
func (g *GeoNear) Filter() *Filter { return g.filter }

// Limit returns the most documents to return; 0 is all.
func (g *GeoNear) Limit() int64 { return g.limit }

// Key returns the path of the field that the query names, or "".
func (g *GeoNear) Key() string {
	if g.key == nil {
		return ""
	}
	return g.key.text
}

// WithKey returns the search in the field at another path: that of the store's
// index where the query names none.
func (g *GeoNear) WithKey(path string) *GeoNear {
	with := *g
	with.key = compilePath(path)
	return &with
}

// Within returns the search among the documents that a further filter matches.
func (g *GeoNear) Within(filter *Filter) *GeoNear {
	within := *g
	within.filter = And(filter, g.filter)
	return &within
}

// Measure returns a document with its distance, and false where it has no point on
// the globe or is not within the distances asked for. It does not ask the filter.
// Of several points the nearest counts.
func (g *GeoNear) Measure(document Object) (GeoResult, bool) {
	key := g.key
	if key == nil {
		key = compilePath(DefaultGeoKey)
	}
	distance, location, found := math.Inf(1), any(nil), false
	for _, value := range pointsOf(document, key) {
		point, ok := readPoint(value)
		if !ok || !g.accepts(point) {
			continue
		}
		if d := g.distance(point); !found || d < distance {
			distance, location, found = d, value, true
		}
	}
	if !found || distance < g.least || distance > g.most {
		return GeoResult{}, false
	}
	return g.result(document, distance*g.multiplier, location), true
}

// result puts the distance and the point into a document where that is asked for.
func (g *GeoNear) result(document Object, distance float64, location any) GeoResult {
	if g.distanceField != "" {
		document = document.overwritten(strings.Split(g.distanceField, "."), distance)
	}
	if g.includeLocs != "" {
		document = document.overwritten(strings.Split(g.includeLocs, "."), location)
	}
	return GeoResult{Document: document, Distance: distance}
}

// overwritten returns o with the value at a path; what stands on the way and is no
// object gives way to one, as in MongoDB.
func (o Object) overwritten(parts []string, value any) Object {
	if len(parts) > 1 {
		at, _ := o.Field(parts[0])
		inner, _ := at.(Object)
		value = inner.overwritten(parts[1:], value)
	}
	return o.with(parts[0], value)
}

// distance returns the distance of a point in the query's unit.
func (g *GeoNear) distance(p geoPoint) float64 {
	if !g.spherical {
		return math.Hypot(p.x-g.near.x, p.y-g.near.y)
	}
	radians := p.latLng().Distance(g.near.latLng()).Radians()
	if g.metres {
		return radians * EarthRadius
	}
	return radians
}

// geoPoint is a point: longitude and latitude in degrees, or x and y on a plane.
type geoPoint struct {
	x, y      float64
	isGeoJSON bool
}

func (p geoPoint) latLng() s2.LatLng { return s2.LatLngFromDegrees(p.y, p.x) }

// accepts reports whether a point is on the globe, or for a search on a plane within
// the bounds of a 2d index.
func (g *GeoNear) accepts(p geoPoint) bool {
	highest := 180.0
	if g.spherical || p.isGeoJSON {
		highest = 90
	}
	return math.Abs(p.x) <= 180 && math.Abs(p.y) <= highest // False for NaN, too.
}

// pointsOf returns what may be points at a path: the value, or the elements of an
// array of points.
func pointsOf(o Object, key *fieldPath) []any {
	var whole collector
	key.walk(o, leafWhole, &whole, nil)
	var points []any
	for _, value := range whole.values {
		array, ok := value.(Array)
		if _, isPoint := readPoint(value); !ok || isPoint {
			points = append(points, value)
			continue
		}
		points = append(points, array.items()...)
	}
	return points
}

// readPoint reads a GeoJSON point or a legacy pair.
func readPoint(value any) (geoPoint, bool) {
	switch v := value.(type) {
	case Array:
		return readPair(v.items())
	case Object:
		if kind, ok := v.Field("type"); ok && kind == "Point" {
			coordinates, _ := v.Field("coordinates")
			pair, _ := coordinates.(Array)
			point, ok := readPair(pair.items())
			point.isGeoJSON = true
			return point, ok
		}
		if v.Len() == 0 {
			return geoPoint{}, false
		}
		return readPair(v.node.appendValues(nil))
	default:
		return geoPoint{}, false
	}
}

// readPair reads two numbers. MongoDB ignores further ones, such as an altitude.
func readPair(values []any) (geoPoint, bool) {
	const pair = 2
	if len(values) < pair {
		return geoPoint{}, false
	}
	x, ok1 := floatNumber(values[0])
	y, ok2 := floatNumber(values[1])
	return geoPoint{x: x, y: y}, ok1 && ok2
}
