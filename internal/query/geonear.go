package query

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// EarthRadius is the radius of the earth in metres that MongoDB uses.
const EarthRadius = geometry.EarthRadius

// DefaultGeoKey is the field that Measure uses if the search does not name one.
const DefaultGeoKey = "location"

// ErrNoGeoIndex is the cause of the error of a search by distance that names no field, in a collection without
// a geo index.
var ErrNoGeoIndex = errors.New("there is no geo index, so the search must name the field")

// GeoNear is a compiled search by distance from a point: the argument of MongoDB's $geoNear, or a filter's $near. It
// is safe for concurrent use.
type GeoNear struct {
	// source is the zero Object if the search is a filter's $near.
	source document.Object
	// pair is the point to search around. point is its position on the globe if the search is spherical.
	pair          geometry.Pair
	point         geometry.Point
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

// GeoResult is a document that a search found.
type GeoResult struct {
	// Document includes the distance and the place if the query asks for them.
	Document document.Object
	// Distance is in metres if the search's point is GeoJSON, in radians for a legacy pair with spherical, and
	// otherwise in the unit of the coordinates. It is multiplied by distanceMultiplier.
	Distance float64
}

// CompileGeoNear compiles a search. Its fields are the fields of $geoNear and limit:
//
//   - near: a GeoJSON point, {"type": "Point", "coordinates": [longitude,
//     latitude]}, or a legacy pair [x, y] or {"lng": x, "lat": y}. Required. A third
//     number of a pair is a maxDistance.
//   - spherical: measure legacy pairs on the globe. Any value is read as a boolean.
//   - maxDistance, minDistance: in metres for GeoJSON; for a legacy pair in radians
//     with spherical, else in the units of the coordinates. Both are inclusive. They
//     and near may be expressions that need no document.
//   - query: a filter without $near.
//   - limit: the maximum number of documents to return, at least 1.
//   - distanceField, includeLocs: the dotted paths at which results hold the distance
//     and the measured place. If both need the same field, includeLocs wins.
//   - distanceMultiplier: the factor for distances in results.
//   - key: the dotted path of the field that holds the places.
//
// The error is InvalidArgument if the point is off the globe (for a legacy pair without spherical: if a
// coordinate is beyond 180 in either direction), a number is negative or NaN, a field other than spherical is
// null, or a field is unknown.
func CompileGeoNear(source document.Object) (*GeoNear, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	near, ok := source.Field("near")
	if !ok {
		return nil, boterr.Invalid("near", "the point to search around is missing")
	}
	spherical, _ := source.Field("spherical")
	g := &GeoNear{source: source, spherical: isTrue(spherical), multiplier: 1, most: math.Inf(1)}
	near, err := constantOf(near)
	if err == nil {
		err = g.setNear(near)
	}
	if err != nil {
		return nil, noPoint(err)
	}
	for key, value := range source.All() {
		if err := g.setOption(key, value); err != nil {
			return nil, boterr.PrefixField(key, err)
		}
	}
	return g, nil
}

// Source returns the argument of $geoNear, or the zero Object for a filter's $near.
func (g *GeoNear) Source() document.Object {
	if g == nil {
		return document.Object{}
	}
	return g.source
}

func noPoint(err error) error {
	reason := err.Error()
	if cause, ok := boterr.AsError(err); ok {
		reason = cause.Message()
	}
	return boterr.Invalid("near", "is not a point to search around: %s", reason)
}

// setOption sets a field of $geoNear other than near and spherical.
func (g *GeoNear) setOption(key string, value any) (err error) {
	switch key {
	case "near", "spherical":
	case "minDistance":
		g.least, err = distanceExpression(value)
	case "maxDistance":
		g.most, err = distanceExpression(value)
	case "distanceMultiplier":
		g.multiplier, err = distanceOperand(value, orInfinite)
	case "distanceField":
		g.distanceField, err = resultPath(value)
	case "includeLocs":
		g.includeLocs, err = resultPath(value)
	case "key":
		var path string
		path, err = pathOperand(value)
		g.key = compilePath(path)
	case "query":
		g.filter, err = geoQuery(value)
	case "limit":
		g.limit, err = limitOperand(value)
	default:
		err = boterr.Invalid("", "is not an option of a search by distance")
	}
	return err
}

// distanceExpression returns a distance, which may be an expression.
func distanceExpression(source any) (float64, error) {
	value, err := constantOf(source)
	if err != nil {
		return 0, err
	}
	return distanceOperand(value, orInfinite)
}

// constantOf evaluates an expression without a document. A path has no value then. A missing result becomes
// null.
func constantOf(source any) (any, error) {
	e, err := expressionCompiler{timeless: true, costs: new(costs)}.expression(source)
	if err != nil {
		return nil, err
	}
	value, err := e.evaluate(&expressionRun{})
	if value == document.Missing {
		value = nil
	}
	return value, err
}

func pathOperand(value any) (string, error) {
	path, ok := value.(string)
	if !ok {
		return "", document.WrongType("string", value)
	}
	for part := range strings.SplitSeq(path, ".") {
		if isOperator(part) {
			return "", boterr.Invalid("", "a name in a path cannot begin with $")
		}
	}
	return path, document.CheckPath(path)
}

// resultPath reads a path at which a result is written. The path must have fewer parts than a value can have
// levels, so that the result fits below it.
func resultPath(value any) (string, error) {
	path, err := pathOperand(value)
	if err == nil && strings.Count(path, ".")+1 >= document.MaxNesting {
		err = boterr.Invalid("", "the path has more than %d parts", document.MaxNesting-1)
	}
	return path, err
}

func geoQuery(value any) (*Filter, error) {
	query, ok := value.(document.Object)
	if !ok {
		return nil, document.WrongType("object", value)
	}
	return compileFilter(query, filterCompiler{expr: &exprUse{}})
}

func limitOperand(value any) (int64, error) {
	limit, ok := document.WholeNumber(value)
	if !ok || limit < 1 {
		return 0, boterr.Invalid("", "must be a whole number of at least 1, got %s", document.Excerpt(value))
	}
	return limit, nil
}

// setNear sets the point to search around: GeoJSON or a pair. A pair may have a maximum distance as its third
// number.
func (g *GeoNear) setNear(near any) error {
	if values, ok := members(near); ok && isLegacy(near) && len(values) == 3 {
		most, err := distanceOperand(values[2], orInfinite)
		if err != nil {
			return err
		}
		g.most, near = most, document.A(values[0], values[1])
	}
	at, err := queryPoint(near)
	if err != nil {
		return err
	}
	return g.setPoint(at)
}

func (g *GeoNear) setPoint(at place) (err error) {
	g.pair = at.pair
	if !at.legacy {
		g.spherical, g.metres = true, true
	}
	if g.spherical {
		g.point, err = geometry.NewPoint(at.pair)
		return err
	}
	return checkInPlane(at.pair)
}

// checkInPlane returns an error for a pair beyond the bounds of an index on the plane.
func checkInPlane(p geometry.Pair) error {
	const bound = 180
	if math.Abs(p.X) <= bound && math.Abs(p.Y) <= bound {
		return nil
	}
	return boterr.Invalid("", "[%v, %v] is outside the plane; coordinates range from -%d to %[3]d", p.X, p.Y, bound)
}

// Filter returns the search's filter, or nil.
func (g *GeoNear) Filter() *Filter { return g.filter }

// Limit returns the maximum number of documents to return; 0 means all.
func (g *GeoNear) Limit() int64 { return g.limit }

// Key returns the path of the field that the search names, or "".
func (g *GeoNear) Key() string {
	if g.key == nil {
		return ""
	}
	return g.key.text
}

// NotServed returns the error of a search that none of its collection's geo indexes can serve. path is the
// field that the search names, or the field of the only geo index.
func (g *GeoNear) NotServed(path string) error {
	kind := g.Kinds()[0]
	if g.Key() != "" {
		return boterr.Invalid("key",
			"the collection has no geo index on %q of the kind %q, which the point needs; add one or name another field", path, kind)
	}
	return boterr.Invalid("near", "needs an index of the kind %q, but the index on %q is of another kind; "+
		"search a 2dsphere index with a GeoJSON point or spherical, and a 2d index with a pair", kind, path)
}

// WithKey returns the search in the field at another path. A store calls it with the path of its index if the
// query names none.
func (g *GeoNear) WithKey(path string) *GeoNear {
	with := *g
	with.key = compilePath(path)
	return &with
}

// At returns the search with now as the value of $$NOW in its filter.
func (g *GeoNear) At(now time.Time) *GeoNear {
	at := *g
	at.filter = g.filter.At(now)
	return &at
}

// Within returns the search among the documents that filter also matches.
func (g *GeoNear) Within(filter *Filter) *GeoNear {
	within := *g
	within.filter = And(filter, g.filter)
	return &within
}

// Kinds returns the kinds of index that can serve the search, the best one first: GeoJSON needs Geo2DSphere, a
// pair on the plane Geo2D, and a pair on the globe either.
func (g *GeoNear) Kinds() []IndexKind {
	switch {
	case !g.spherical:
		return []IndexKind{Geo2D}
	case g.metres:
		return []IndexKind{Geo2DSphere}
	default:
		return []IndexKind{Geo2DSphere, Geo2D}
	}
}

// Measure returns a document with its distance, and false if it has no measurable place within the wanted
// distances. It does not check the filter. If there are several places, it uses the nearest.
func (g *GeoNear) Measure(document document.Object) (GeoResult, bool) {
	found, ok := g.nearest(document, sizedReader(document))
	if !ok {
		return GeoResult{}, false
	}
	return g.result(document, found), true
}

type measured struct {
	reader   placeReader
	distance float64
	value    any
}

// nearest returns the nearest place of a document. ok is false if it has none within the distances.
func (g *GeoNear) nearest(document document.Object, reader placeReader) (nearest measured, ok bool) {
	nearest.reader = reader
	key := g.key
	if key == nil {
		key = defaultGeoKey
	}
	if len(key.parts) == 1 {
		nearest.takeValue(g, key.parts[0].of(document))
	} else {
		var whole collector
		key.walk(document, leafWhole, &whole, nil)
		for _, value := range whole.values {
			nearest.takeValue(g, value)
		}
	}
	ok = nearest.value != nil && nearest.distance >= g.least && nearest.distance <= g.most
	return nearest, ok
}

var defaultGeoKey = compilePath(DefaultGeoKey)

// takeValue takes a place, or the places in an array.
func (m *measured) takeValue(g *GeoNear, value any) {
	if m.takePlace(g, value) {
		return
	}
	list, _ := value.(document.Array)
	for _, item := range list.Items() {
		m.takePlace(g, item)
	}
}

// takePlace takes a value, and reports whether it is a place.
func (m *measured) takePlace(g *GeoNear, value any) bool {
	if !isPlace(value) {
		return false
	}
	at, err := m.reader.stored(value)
	if err != nil {
		return false
	}
	distance, ok := g.distance(at)
	if ok && (m.value == nil || distance < m.distance) {
		m.distance, m.value = distance, value
	}
	return true
}

// distance returns the distance of a place in the search's unit. ok is false if the place is not on the globe or, for
// a search on the plane, is not a point.
func (g *GeoNear) distance(at place) (float64, bool) {
	if !g.spherical {
		return at.pair.Distance(g.pair), at.shape == nil
	}
	if at.shape != nil {
		return at.shape.Distance(g.point) * g.unit(), !isStrict(at.shape)
	}
	point, ok := at.onGlobe()
	if !ok {
		return 0, false
	}
	return point.Distance(g.point) * g.unit(), true
}

// unit returns the length of a radian in the unit of a search on the globe.
func (g *GeoNear) unit() float64 {
	if g.metres {
		return EarthRadius
	}
	return 1
}

// Distance returns the distance of the nearest place of a document in the search's unit, without its
// distanceMultiplier, and false if the document has no measurable place within the wanted distances.
func (g *GeoNear) Distance(document document.Object) (float64, bool) {
	found, ok := g.nearest(document, sizedReader(document))
	return found.distance, ok
}

// Distance is like GeoNear.Distance, within the budget of the evaluation. It counts the document as visited.
func (e *Evaluation) Distance(near *GeoNear, doc document.Object) (distance float64, ok bool, err error) {
	e.Visit(doc)
	found, ok := e.nearest(near, doc)
	return found.distance, ok, e.budget.failure
}

// nearest is like GeoNear.nearest, within the budget.
func (e *Evaluation) nearest(near *GeoNear, doc document.Object) (measured, bool) {
	field := DefaultGeoKey
	if near.key != nil {
		field = near.key.parts[0].name
	}
	if !e.spend(stepWork + document.SizeOf(doc.Value(field))*placeByteWork) {
		return measured{}, false
	}
	found, ok := near.nearest(doc, placeReader{e.spend})
	return found, ok && !e.hasEnded()
}

// Measure is like GeoNear.Measure, within the budget of the evaluation.
func (e *Evaluation) Measure(near *GeoNear, doc document.Object) (result GeoResult, ok bool, err error) {
	found, ok := e.nearest(near, doc)
	if !ok {
		return result, false, e.budget.failure
	}
	e.spend((len(near.distanceField) + len(near.includeLocs)) / bytesOfWork)
	result = near.result(doc, found)
	e.budget.keep(grownBy(doc, result.Document))
	return result, true, e.budget.failure
}

// result adds the distance and the place to a document if the search asks for them.
func (g *GeoNear) result(document document.Object, found measured) GeoResult {
	distance := found.distance * g.multiplier
	if g.distanceField != "" {
		document = putAt(document, strings.Split(g.distanceField, "."), distance)
	}
	if g.includeLocs != "" {
		document = putAt(document, strings.Split(g.includeLocs, "."), found.value)
	}
	return GeoResult{Document: document, Distance: distance}
}

// putAt returns an object with the value at a path. As in MongoDB, it replaces other values on the path by objects.
func putAt(o document.Object, path []string, value any) document.Object {
	if len(path) > 1 {
		at, _ := o.Field(path[0])
		inner, _ := at.(document.Object)
		value = putAt(inner, path[1:], value)
	}
	return o.Put(path[0], value)
}

// isNear reports whether an operator sorts by distance. $geoNear is an old name.
func isNear(operator string) bool {
	switch operator {
	case "$near", "$nearSphere", "$geoNear":
		return true
	default:
		return false
	}
}

// nearSlot receives the $near of a filter. If the compiler has no slot, $near is not allowed.
type nearSlot struct{ near *GeoNear }

// withoutNear returns the compiler for parts of a filter that cannot contain a $near.
func (c filterCompiler) withoutNear() filterCompiler {
	inner := c
	inner.slot = nil
	return inner
}

// nearOperators returns the operators of a field's value if the first one is a $near.
func nearOperators(operand any) (document.Object, bool) {
	operators, ok := operand.(document.Object)
	if !ok || operators.Len() == 0 || !isNear(operators.NameAt(0)) {
		return document.Object{}, false
	}
	return operators, isPlace(operators.At(0))
}

func (c filterCompiler) near(path string, operators document.Object) (matcher, error) {
	operator := operators.NameAt(0)
	if c.slot == nil {
		return nil, boterr.Invalid(operator, "%s is allowed only at the top of the filter or in a top $and", operator)
	}
	if c.slot.near != nil {
		return nil, boterr.Invalid(operator, "the filter already has a search by distance, on %q", c.slot.near.key.text)
	}
	near := &GeoNear{key: compilePath(path), multiplier: 1, most: math.Inf(1)}
	set := near.setLegacyNear
	if isWrapped(operators.At(0)) {
		set = near.setWrappedNear
	}
	if err := set(operators); err != nil {
		return nil, err
	}
	c.slot.near = near
	return nearMatcher{near}, nil
}

// isWrapped reports whether the operand of a $near has its point in $geometry.
func isWrapped(operand any) bool {
	o, ok := operand.(document.Object)
	return ok && (o.Len() == 0 || isOperatorObject(o))
}

// setWrappedNear parses {$near: {$geometry: point, $maxDistance: metres}}.
func (g *GeoNear) setWrappedNear(operators document.Object) error {
	if operators.Len() > 1 {
		return boterr.Invalid(operators.NameAt(1), "cannot be used next to a search with $geometry: put distances inside the search")
	}
	found := false
	operator := operators.NameAt(0)
	for key, value := range operators.At(0).(document.Object).All() {
		var err error
		switch key {
		case "$geometry":
			found = true
			err = g.setGeometry(value)
		case "$minDistance":
			g.least, err = distanceOperand(value, finiteOnly)
		case "$maxDistance":
			g.most, err = distanceOperand(value, finiteOnly)
		default:
			err = boterr.Invalid("", "is not an option of a search by distance")
		}
		if err != nil {
			return boterr.PrefixField(operator, boterr.PrefixField(key, err))
		}
	}
	if !found {
		return boterr.Invalid(operator+".$geometry", "the point to search around is missing")
	}
	return nil
}

func (g *GeoNear) setGeometry(value any) error {
	at, err := queryPoint(value)
	if err != nil {
		return err
	}
	if at.legacy {
		return boterr.Invalid("", "must be a GeoJSON point, got %s", document.Excerpt(value))
	}
	return g.setPoint(at)
}

// setLegacyNear parses {$near: [x, y], $maxDistance: distance}. The point may also be GeoJSON.
func (g *GeoNear) setLegacyNear(operators document.Object) error {
	operator := operators.NameAt(0)
	for key, value := range operators.All() {
		var err error
		switch key {
		case operator:
			g.spherical = key == "$nearSphere"
			err = g.setNear(value)
		case "$minDistance":
			g.least, err = distanceOperand(value, orInfinite)
		case "$maxDistance":
			g.most, err = distanceOperand(value, orInfinite)
		case "$uniqueDocs": // Without effect since MongoDB 2.6.
		default:
			err = boterr.Invalid("", "cannot be used with a search by distance")
		}
		if err != nil {
			return boterr.PrefixField(key, err)
		}
	}
	return nil
}

type distanceRange bool

const (
	finiteOnly distanceRange = false
	orInfinite distanceRange = true
)

func distanceOperand(value any, allowed distanceRange) (float64, error) {
	distance, ok := document.FloatNumber(value)
	if !ok || !(distance >= 0) || allowed == finiteOnly && math.IsInf(distance, 1) { // NaN is not a distance.
		return 0, boterr.Invalid("", "must be a number of at least 0, got %s", document.Excerpt(value))
	}
	return distance, nil
}

type nearMatcher struct{ near *GeoNear }

func (m nearMatcher) match(root any, e *Evaluation) bool {
	o, _ := root.(document.Object)
	_, ok := e.nearest(m.near, o)
	return ok
}

// Near returns the search of the filter's $near or $nearSphere, or nil. The filter matches documents within its
// distances. Unless there is a sort, a store returns them nearest first.
func (f *Filter) Near() *GeoNear {
	if f == nil || f.rare == nil {
		return nil
	}
	return f.rare.near
}
