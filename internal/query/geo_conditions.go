package query

import (
	"math"
	"sync"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// geoTest is a condition on places for which an index can be used.
type geoTest interface {
	candidateTest
	// cover returns the cells that an index of a kind must search for the condition. It returns none if the index
	// cannot be used.
	cover(kind IndexKind) geometry.Cells
}

const (
	// placeByteWork is for reading and measuring a place, per byte of its BSON. outlineByteWork is for only reading
	// its pairs.
	placeByteWork   = 16
	outlineByteWork = 2
	// basePlaceWork, and checkByteWork for each byte, limit the work of checking a place for an index.
	basePlaceWork = 1 << 18
	checkByteWork = 128
)

// readsPlace reports whether a value looks like a place, and counts the work of reading it, per byte.
func (e *Evaluation) readsPlace(value any, byteWork int) bool {
	return isPlace(value) && e.spend(document.SizeOf(value)*byteWork)
}

// withinPlane is $geoWithin with a shape on the plane.
type withinPlane struct {
	region geometry.Plane
	// work is the work of testing one pair.
	work int
}

func (c withinPlane) cover(kind IndexKind) geometry.Cells {
	if kind != Geo2D {
		return nil
	}
	return c.region.Bounds().Cover()
}

func (c withinPlane) test(value any, e *Evaluation) bool {
	if !e.readsPlace(value, placeByteWork) || !e.spend(c.work) {
		return false
	}
	at, err := placeReader{e.spend}.stored(value)
	return err == nil && at.shape == nil && c.region.Contains(at.pair)
}

// withinSphere is $geoWithin with a shape on the globe.
type withinSphere struct {
	region geometry.Sphere
	bounds []geometry.Box
	hull   geometry.Hull
	// cells returns the cover of the region, which takes long to compute.
	cells func() geometry.Cells
}

func newWithinSphere(region geometry.Sphere) withinSphere {
	return withinSphere{region: region, bounds: region.Bounds(), hull: region.Hull(), cells: sync.OnceValue(region.Cover)}
}

func (c withinSphere) isNear(p geometry.Pair) bool {
	for i := range c.bounds {
		if c.bounds[i].Contains(p) {
			return true
		}
	}
	return false
}

func (c withinSphere) cover(kind IndexKind) geometry.Cells {
	if kind == Geo2DSphere {
		return c.cells()
	}
	return coverBoxes(c.bounds)
}

func coverBoxes(boxes []geometry.Box) geometry.Cells {
	var cells geometry.Cells
	for _, box := range boxes {
		cells = append(cells, box.Cover()...)
	}
	return cells
}

func (c withinSphere) test(value any, e *Evaluation) bool {
	if !e.readsPlace(value, outlineByteWork) {
		return false
	}
	if o, ok := isGeoShape(value); ok && !eachVertex(o, func(p geometry.Pair) bool { return !c.hull.Excludes(p) }) {
		return false
	}
	if !e.readsPlace(value, placeByteWork) {
		return false
	}
	at, err := placeReader{e.spend}.stored(value)
	if err != nil {
		return false
	}
	if at.shape != nil {
		return !isStrict(at.shape) && c.region.Contains(at.shape, e.spend) && !e.hasEnded()
	}
	if !c.isNear(at.pair) {
		return false
	}
	point, ok := at.onGlobe()
	return ok && c.region.ContainsPoint(point, e.spend) && !e.hasEnded()
}

type intersecting struct {
	shape *geometry.Shape
	hull  geometry.Hull
	cells func() geometry.Cells
}

func newIntersecting(shape *geometry.Shape) intersecting {
	shape.Prepare()
	return intersecting{shape: shape, hull: shape.Hull(), cells: sync.OnceValue(shape.Cover)}
}

func (c intersecting) cover(kind IndexKind) geometry.Cells {
	if kind != Geo2DSphere {
		return nil
	}
	return c.cells()
}

func (c intersecting) test(value any, e *Evaluation) bool {
	if !e.readsPlace(value, outlineByteWork) || c.isApart(value) || !e.readsPlace(value, placeByteWork) {
		return false
	}
	at, err := placeReader{e.spend}.stored(value)
	if err != nil {
		return false
	}
	if at.shape != nil {
		return !isStrict(at.shape) && c.shape.Intersects(at.shape, e.spend) && !e.hasEnded()
	}
	point, ok := at.onGlobe()
	return ok && c.shape.IntersectsPoint(point, e.spend) && !e.hasEnded()
}

// isApart reports whether the vertices of a value prove that it does not intersect the shape.
func (c intersecting) isApart(value any) bool {
	o, ok := isGeoShape(value)
	if !ok {
		return false
	}
	var outline geometry.Outline
	eachVertex(o, func(p geometry.Pair) bool {
		outline.Add(p)
		return true
	})
	return outline.IsApart(c.hull)
}

// isGeoShape reports whether a value may be GeoJSON other than a point.
func isGeoShape(value any) (document.Object, bool) {
	o, ok := value.(document.Object)
	if !ok || isLegacy(value) {
		return o, false
	}
	kind, _ := o.Field(geoType)
	return o, kind != geoPoint
}

// eachVertex calls take for each pair in a value that may be GeoJSON, until take returns false. It returns
// false if take did.
func eachVertex(o document.Object, take func(geometry.Pair) bool) bool {
	if coordinates, ok := o.Field(geoCoordinates); ok {
		return eachPair(coordinates, take)
	}
	value, _ := o.Field(geoGeometries)
	geometries, _ := value.(document.Array)
	for _, item := range geometries.Items() {
		if inner, ok := item.(document.Object); ok && !eachVertex(inner, take) {
			return false
		}
	}
	return true
}

func eachPair(coordinates any, take func(geometry.Pair) bool) bool {
	list, ok := coordinates.(document.Array)
	if !ok {
		return true
	}
	if pair, ok := firstPair(list.Items()); ok {
		return take(pair)
	}
	for _, item := range list.Items() {
		if !eachPair(item, take) {
			return false
		}
	}
	return true
}

// isStrict reports whether a shape is a polygon with strict winding. MongoDB accepts such polygons only in
// queries; in a document they never match.
func isStrict(shape *geometry.Shape) bool {
	return len(shape.Polygons) == 1 && shape.Polygons[0].IsStrict()
}

// geoCondition compiles $geoWithin, its old name $within, and $geoIntersects. Each must be the only operator of
// its field. $near is compiled elsewhere.
func (c filterCompiler) geoCondition(operator string, operand any, siblings document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$geoWithin", "$within", "$geoIntersects":
	case "$near", "$nearSphere", "$geoNear":
		return nil, boterr.Invalid("", "%s must be the only condition on a field, at the top of the filter or in a top $and", operator)
	default:
		return nil, boterr.Invalid("", "%s is not an operator here, or is not supported%s", operator,
			perhaps(operator, fieldOperators))
	}
	if siblings.Len() > 1 {
		return nil, boterr.Invalid("", "%s must be the only condition on a field; put other conditions into an $and", operator)
	}
	specifier, region, err := geoSpecifier(operand)
	if err != nil {
		return nil, err
	}
	var test candidateTest
	if operator == "$geoIntersects" {
		test, err = c.intersectsCondition(specifier, region)
	} else {
		test, err = c.withinCondition(specifier, region)
	}
	if err != nil {
		return nil, boterr.PrefixField(specifier, err)
	}
	return one(test), nil
}

// geoSpecifier returns the only field in the operand of a geo operator.
func geoSpecifier(operand any) (specifier string, region any, err error) {
	o, ok := operand.(document.Object)
	if !ok {
		return "", nil, document.WrongType("object", operand)
	}
	for key, value := range o.All() {
		switch {
		case key == "$uniqueDocs": // Without effect since MongoDB 2.6.
		case specifier != "":
			return "", nil, boterr.Invalid(key, "only one shape is allowed, and there is already %s", specifier)
		default:
			specifier, region = key, value
		}
	}
	if specifier == "" {
		return "", nil, boterr.Invalid("", "a shape is missing, such as $geometry")
	}
	return specifier, region, nil
}

func (c filterCompiler) withinCondition(specifier string, operand any) (candidateTest, error) {
	if !isPlace(operand) {
		return nil, boterr.Invalid("", "must be an array or object, got %s", document.Excerpt(operand))
	}
	parts, _ := members(operand)
	switch specifier {
	case "$box":
		return boxCondition(parts)
	case "$polygon":
		return planePolygonCondition(parts)
	case "$center":
		center, radius, err := readCircle(parts)
		return withinPlane{region: geometry.Circle{Center: center, Radius: radius}}, err
	case "$centerSphere":
		return capCondition(parts)
	case "$geometry":
		return c.withinShapeCondition(operand)
	default:
		return nil, unknownShape(specifier)
	}
}

func unknownShape(specifier string) error {
	return boterr.Invalid("", "%s is not a shape of this operator", specifier)
}

// boxCondition compiles $box, which has two opposite corners.
func boxCondition(corners []any) (candidateTest, error) {
	if len(corners) < 2 {
		return nil, boterr.Invalid("", "must be two opposite corners, got %d", len(corners))
	}
	a, err := readPair(corners[0], twoOnly)
	if err != nil {
		return nil, boterr.PrefixField(boterr.Index(0), err)
	}
	b, err := readPair(corners[1], twoOnly)
	return withinPlane{region: geometry.NewBox(a, b)}, boterr.PrefixField(boterr.Index(1), err)
}

// planePolygonCondition compiles $polygon, which has at least three corners.
func planePolygonCondition(corners []any) (candidateTest, error) {
	if len(corners) < 3 {
		return nil, boterr.Invalid("", "a polygon has at least 3 corners, got %d", len(corners))
	}
	pairs := make([]geometry.Pair, len(corners))
	for i, corner := range corners {
		var err error
		if pairs[i], err = readPair(corner, twoOnly); err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
	}
	return withinPlane{region: geometry.NewPlanePolygon(pairs), work: 2 * len(pairs)}, nil
}

func readCircle(parts []any) (center geometry.Pair, radius float64, err error) {
	if len(parts) != 2 {
		return center, 0, boterr.Invalid("", "must be a center and a radius, got %d elements", len(parts))
	}
	center, err = readPair(parts[0], twoOnly)
	if err != nil {
		return center, 0, boterr.PrefixField(boterr.Index(0), err)
	}
	radius, ok := document.FloatNumber(parts[1])
	if !ok || !(radius >= 0) { // NaN is not a radius.
		return center, 0, boterr.Invalid(boterr.Index(1), "the radius must be a number of at least 0, got %s", document.Excerpt(parts[1]))
	}
	return center, radius, nil
}

// capCondition compiles $centerSphere, which has a pair on the globe and a radius in radians.
func capCondition(parts []any) (candidateTest, error) {
	center, radius, err := readCircle(parts)
	if err != nil {
		return nil, err
	}
	point, err := geometry.NewPoint(center)
	if err != nil {
		return nil, boterr.PrefixField(boterr.Index(0), err)
	}
	return newWithinSphere(geometry.NewCap(point, radius)), nil
}

// withinShapeCondition compiles the $geometry of $geoWithin. The shape must have an interior.
func (c filterCompiler) withinShapeCondition(operand any) (candidateTest, error) {
	at, err := placeReader{c.costs.spendPlace}.read(operand, twoOnly)
	if err != nil {
		return nil, err
	}
	if at.shape == nil || len(at.shape.Polygons) == 0 {
		return nil, boterr.Invalid("", "must be a %s or %s: a point or a line contains nothing", geoPolygon, geoMultiPolygon)
	}
	at.shape.Prepare()
	return newWithinSphere(at.shape), nil
}

func (c filterCompiler) intersectsCondition(specifier string, operand any) (candidateTest, error) {
	if specifier != "$geometry" {
		return nil, unknownShape(specifier)
	}
	at, err := placeReader{c.costs.spendPlace}.read(operand, twoOnly)
	if err != nil {
		return nil, err
	}
	if at.shape != nil {
		return newIntersecting(at.shape), nil
	}
	point, err := geometry.NewPoint(at.pair)
	return newIntersecting(&geometry.Shape{Points: []geometry.Point{point}}), err
}

// GeoKey makes the keys of a field in a geo index, for stores that keep such indexes themselves. A key is the
// number of a cell: a part of the globe, or for Geo2D of the plane, numbered as in S2. A document that meets a
// geo condition has a cell that equals, lies within or contains a cell of the condition.
type GeoKey struct {
	path *fieldPath
	kind IndexKind
}

// NewGeoKey returns the key of an index. kind is Geo2D or Geo2DSphere.
func NewGeoKey(path string, kind IndexKind) *GeoKey {
	return &GeoKey{path: compilePath(path), kind: kind}
}

// AppendCells appends the cells of the places in a document. A point has one of the smallest cells. A missing
// value, null and an empty array have none. A value that an index of the kind cannot hold is InvalidArgument.
func (k *GeoKey) AppendCells(cells []uint64, o document.Object) ([]uint64, error) {
	var whole collector
	k.path.walk(o, leafWhole, &whole, nil)
	if len(whole.values) == 1 && isNothing(whole.values[0]) {
		return cells, nil
	}
	for _, value := range whole.values {
		var err error
		if cells, err = k.appendPlace(cells, value); err != nil {
			return cells, boterr.PrefixField(k.path.text, err)
		}
		cells = k.appendInner(cells, value)
	}
	return cells, nil
}

func (k *GeoKey) appendPlace(cells []uint64, value any) ([]uint64, error) {
	if k.kind == Geo2D {
		return appendPlaneCells(cells, value)
	}
	return appendSphereCells(cells, value)
}

// appendInner appends the cells of places within an array that is itself a pair, such as [1, 2, [3, 4]], because
// filters consider both.
func (k *GeoKey) appendInner(cells []uint64, value any) []uint64 {
	list, _ := value.(document.Array)
	for _, item := range list.Items() {
		if isPlace(item) {
			cells, _ = k.appendPlace(cells, item)
		}
	}
	return cells
}

// isNothing reports whether a value counts as missing: null, an empty array, or an empty object.
func isNothing(value any) bool {
	parts, ok := members(value)
	return value == nil || ok && len(parts) == 0
}

// appendPlaneCells appends the cells of a pair, or of an array of pairs. It ignores values that are neither an array
// nor an object.
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

func appendSphereCells(cells []uint64, value any) ([]uint64, error) {
	at, err := sizedReader(value).stored(value)
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

// GeoCells returns the cells that an index must search. It returns false if no condition at the top of the
// filter, or in a top $and, can use the index.
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

// Cells returns the cells that an index must search for places between the distances inner and outer from the
// search's point, in the search's unit.
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

// Span returns the size of a cell in the search's unit. A cell of level n results from dividing a largest cell
// n times.
func (g *GeoNear) Span(level int) float64 {
	if !g.spherical {
		return geometry.PlaneCellSize(level)
	}
	return s2.AvgEdgeMetric.Value(level) * g.unit()
}

// Reach returns the minimum and maximum distance of the search, and the distance for which Cells returns all cells.
func (g *GeoNear) Reach() (least, most, all float64) {
	const acrossThePlane = 510 // The diagonal of the plane is a little shorter.
	all = acrossThePlane
	if g.spherical {
		all = math.Pi * g.unit()
	}
	return g.least, g.most, all
}
