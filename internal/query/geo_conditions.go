package query

import (
	"sync"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/geometry"
)

// geoTest is a condition on a place that an index can serve.
type geoTest interface {
	candidateTest
	// cover returns the cells in which an index of a kind searches for what meets the condition,
	// none where such an index cannot serve it.
	cover(kind IndexKind) geometry.Cells
}

const (
	// placeByteWork is reading a place and measuring it, for each of its bytes in BSON,
	// outlineByteWork looking at its pairs alone.
	placeByteWork   = 16
	outlineByteWork = 2
	// sideWork is comparing a side of a line with one of another shape, which no index
	// shortens; twoSidesSize is about the size of two sides.
	sideWork     = 32
	twoSidesSize = 64
)

// isPlace is the package's isPlace within the evaluation, which is about to read the place.
func (e *Evaluation) isPlace(value any) bool {
	return isPlace(value) && e.spend(document.SizeOf(value)*placeByteWork)
}

// isOutlined is isPlace for a condition that can rule out a shape by its outline alone.
func (e *Evaluation) isOutlined(value any) bool {
	return isPlace(value) && e.spend(document.SizeOf(value)*outlineByteWork)
}

// withinPlane is $geoWithin with a shape on the plane.
type withinPlane struct {
	region geometry.Plane
	// work is that of looking whether a pair is in the region.
	work int
}

func (c withinPlane) cover(kind IndexKind) geometry.Cells {
	if kind != Geo2D {
		return nil
	}
	return c.region.Bounds().Cover()
}

func (c withinPlane) test(value any, e *Evaluation) bool {
	if !e.isPlace(value) || !e.spend(c.work) {
		return false
	}
	at, err := storedPlace(value)
	return err == nil && at.shape == nil && c.region.Contains(at.pair)
}

// withinSphere is $geoWithin with a shape on the globe.
type withinSphere struct {
	region geometry.Sphere
	bounds []geometry.Box
	hull   geometry.Hull
	// cells returns the region's cover, which takes a while to find.
	cells func() geometry.Cells
}

func newWithinSphere(region geometry.Sphere) withinSphere {
	return withinSphere{region: region, bounds: region.Bounds(), hull: region.Hull(), cells: sync.OnceValue(region.Cover)}
}

// isNear reports whether a pair is in the region's bounds.
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

// coverBoxes returns the cells of boxes on the plane.
func coverBoxes(boxes []geometry.Box) geometry.Cells {
	var cells geometry.Cells
	for _, box := range boxes {
		cells = append(cells, box.Cover()...)
	}
	return cells
}

func (c withinSphere) test(value any, e *Evaluation) bool {
	if !e.isOutlined(value) {
		return false
	}
	if o, ok := isGeoShape(value); ok && !eachVertex(o, func(p geometry.Pair) bool { return !c.hull.Excludes(p) }) {
		return false
	}
	if !e.isPlace(value) {
		return false
	}
	at, err := storedPlace(value)
	if err != nil {
		return false
	}
	if at.shape != nil {
		return !isStrict(at.shape) && c.region.Contains(at.shape)
	}
	if !c.isNear(at.pair) {
		return false
	}
	point, ok := at.onGlobe()
	return ok && c.region.ContainsPoint(point)
}

// intersecting is $geoIntersects.
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
	if !e.isOutlined(value) || c.isApart(value) || !e.isPlace(value) || !e.spend(c.lineWork(value)) {
		return false
	}
	at, err := storedPlace(value)
	if err != nil {
		return false
	}
	if at.shape != nil {
		return !isStrict(at.shape) && c.shape.Intersects(at.shape)
	}
	point, ok := at.onGlobe()
	return ok && c.shape.IntersectsPoint(point)
}

// lineWork is the work of comparing the sides of lines with a value.
func (c intersecting) lineWork(value any) int {
	return c.shape.LineSides() * (1 + document.SizeOf(value)/twoSidesSize) * sideWork
}

// isApart reports whether the vertices of a value prove that it lies elsewhere.
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

// eachVertex gives the pairs in what may be GeoJSON to a function until it returns
// false, and reports whether it never did.
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

// eachPair is eachVertex in coordinates.
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

// isStrict reports whether a shape is a polygon with strict winding, which MongoDB
// takes in queries only: in a document none matches.
func isStrict(shape *geometry.Shape) bool {
	return len(shape.Polygons) == 1 && shape.Polygons[0].IsStrict()
}
