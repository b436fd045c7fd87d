package geometry

import (
	"math"
	"slices"
	"strconv"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Sphere is a region of the sphere.
type Sphere interface {
	// Contains reports whether the region contains a whole shape.
	Contains(s *Shape, meter Meter) bool
	// ContainsPoint is Contains for a single point.
	ContainsPoint(p Point, meter Meter) bool
	// Cover returns the cells in which an index must look for shapes in the region.
	Cover() Cells
	// Bounds returns boxes of longitude and latitude that contain the region: one, or two if it crosses the 180th
	// meridian.
	Bounds() []Box
	// Hull returns a cap that contains the region.
	Hull() Hull
}

// Meter counts work, in units of about a nanosecond. It returns false once there has been too much. The function that
// it was passed to then ends early, with an error or an invalid result.
type Meter func(work int) bool

// Units of work.
const (
	// boundWork is for comparing the bounds of two parts, and cellWork for finding the cell of a point.
	boundWork = 16
	cellWork  = 128
	// sideWork is for comparing two sides. vertexWork is for comparing a cell with a vertex of a line and the side
	// from it. searchWork is for a search in an index of sides.
	sideWork   = 16
	vertexWork = 256
	searchWork = 1024
	// edgeWork is for each side when an index is built or read.
	edgeWork = 512
	// crossingWork is for finding out whether two sides cross. Comparing their boxes takes 1.
	crossingWork = 50
)

// Shape is a decoded GeoJSON object. It consists of points, lines and polygons.
type Shape struct {
	Points   []Point
	Lines    []*Line
	Polygons []*Polygon

	// cellsOfPoints are the cells of the points, once Prepare has been called.
	cellsOfPoints map[s2.CellID]struct{}
}

// ContainsPoint reports whether one of the polygons contains a point.
func (s *Shape) ContainsPoint(p Point, meter Meter) bool {
	return slices.ContainsFunc(s.Polygons, func(g *Polygon) bool {
		return !meter(boundWork) || g.around.ContainsPoint(p.at) && (!meter(g.pointWork()) || g.touches(p))
	})
}

// Contains reports whether each part of t lies within one of the polygons of s.
func (s *Shape) Contains(t *Shape, meter Meter) bool {
	for _, p := range t.Points {
		if !s.ContainsPoint(p, meter) {
			return false
		}
	}
	for _, l := range t.Lines {
		if !slices.ContainsFunc(s.Polygons, func(g *Polygon) bool {
			return !meter(boundWork) || g.around.Intersects(l.around) && g.containsLine(l, meter)
		}) {
			return false
		}
	}
	for _, h := range t.Polygons {
		if !slices.ContainsFunc(s.Polygons, func(g *Polygon) bool {
			return !meter(boundWork) || g.around.Intersects(h.around) && (!meter(g.polygonWork(h)) || g.contains(h))
		}) {
			return false
		}
	}
	return true
}

// Intersects reports whether s and t have a point in common. s must have been prepared. The polygons of t must not be
// strict.
func (s *Shape) Intersects(t *Shape, meter Meter) bool {
	return slices.ContainsFunc(t.Points, func(p Point) bool { return s.IntersectsPoint(p, meter) }) ||
		slices.ContainsFunc(t.Lines, func(l *Line) bool { return s.intersectsLine(l, meter) }) ||
		slices.ContainsFunc(t.Polygons, func(g *Polygon) bool { return s.intersectsPolygon(g, meter) })
}

// IntersectsPoint reports whether s meets a point. s must have been prepared.
func (s *Shape) IntersectsPoint(p Point, meter Meter) bool {
	if len(s.cellsOfPoints) > 0 {
		if _, found := s.cellsOfPoints[p.Cell()]; found || !meter(cellWork) {
			return true
		}
	}
	return slices.ContainsFunc(s.Lines, func(l *Line) bool { return l.meetsPoint(p, meter) }) || s.ContainsPoint(p, meter)
}

func (s *Shape) intersectsLine(l *Line, meter Meter) bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool { return l.meetsPoint(p, meter) }) ||
		slices.ContainsFunc(s.Lines, func(m *Line) bool {
			return !meter(boundWork) || l.around.Intersects(m.around) && (!meter(l.lineWork(m)) || l.intersects(m))
		}) ||
		slices.ContainsFunc(s.Polygons, func(g *Polygon) bool {
			return !meter(boundWork) || g.around.Intersects(l.around) && g.intersectsLine(l, meter)
		})
}

func (s *Shape) intersectsPolygon(h *Polygon, meter Meter) bool {
	return slices.ContainsFunc(s.Points, func(p Point) bool {
		return !meter(boundWork) || h.around.ContainsPoint(p.at) && (!meter(h.pointWork()) || h.touches(p))
	}) || slices.ContainsFunc(s.Lines, func(l *Line) bool {
		return !meter(boundWork) || h.around.Intersects(l.around) && h.intersectsLine(l, meter)
	}) || slices.ContainsFunc(s.Polygons, func(g *Polygon) bool {
		return !meter(boundWork) || g.around.Intersects(h.around) && (!meter(g.polygonWork(h)) || g.intersects(h))
	})
}

// Distance returns the least angle between a point and a part of s, in radians, or infinity if s is empty.
func (s *Shape) Distance(p Point) float64 {
	least := math.Inf(1)
	for _, q := range s.Points {
		least = min(least, p.Distance(q))
	}
	for _, l := range s.Lines {
		least = min(least, l.distance(p))
	}
	for _, g := range s.Polygons {
		least = min(least, g.distance(p))
	}
	return least
}

// Polygon is a region bounded by a ring, with holes.
type Polygon struct {
	// border is the polygon or, if that is larger than a hemisphere, its complement.
	border *s2.Polygon
	// big is the polygon if it is larger than a hemisphere, otherwise nil.
	big *s2.Loop
	// sides is an index of the border's sides. It is nil if there are few sides, or few comparisons so far.
	sides *s2.ShapeIndex
	// strict is true if the order of the points determines the interior.
	strict bool
	// around is a cap that contains the polygon.
	around s2.Cap
	// crowd is the maximum number of sides that are close to a side. A cell of an index may have all of them.
	crowd int
}

// tooMuch returns the error for a polygon that takes too long to check.
func tooMuch() error {
	return boterr.New(boterr.ResourceExhausted, "",
		"the polygon takes too long to check: use fewer holes, or fewer long sides that are close to each other")
}

// NewPolygon returns the polygon inside the first ring and outside the others, which must be holes in the first. The
// interior of a ring is its smaller side, whatever the order of its points. Sides must not cross.
func NewPolygon(rings [][]Point, meter Meter) (*Polygon, error) {
	if len(rings) == 0 {
		return nil, boterr.Invalid("", "a polygon has at least 1 ring, got none")
	}
	loops := make([]*s2.Loop, len(rings))
	for i, ring := range rings {
		var err error
		if loops[i], err = newRing(ring); err != nil {
			return nil, boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
		}
	}
	crowd, err := checkCrossings(sidesOf(loops), meter)
	if err != nil {
		return nil, err
	}
	for _, loop := range loops {
		loop.Normalize()
	}
	if err := checkHoles(loops, meter); err != nil {
		return nil, err
	}
	if !meter(len(loops) * len(loops) * sideWork) { // S2 looks for holes in holes.
		return nil, tooMuch()
	}
	border := s2.PolygonFromLoops(loops)
	for i := 1; i < border.NumLoops(); i++ {
		if border.LastDescendant(i) != i {
			return nil, boterr.Invalid("", "a hole of a polygon cannot be in another hole")
		}
	}
	return newPolygon(border, crowd), nil
}

// NewStrictPolygon returns the region on the left of a ring. The region may be larger than a hemisphere.
func NewStrictPolygon(ring []Point, meter Meter) (*Polygon, error) {
	loop, err := newRing(ring)
	if err != nil {
		return nil, err
	}
	crowd, err := checkCrossings(sidesOf([]*s2.Loop{loop}), meter)
	if err != nil {
		return nil, err
	}
	var big *s2.Loop
	if !loop.IsNormalized() {
		big = s2.LoopFromPoints(loop.Vertices())
		loop.Invert()
	}
	g := newPolygon(s2.PolygonFromLoops([]*s2.Loop{loop}), crowd)
	g.strict = true
	if big != nil {
		g.big, g.around = big, s2.FullCap()
	}
	return g, nil
}

func newPolygon(border *s2.Polygon, crowd int) *Polygon {
	return &Polygon{border: border, crowd: crowd, around: border.CapBound().Expanded(slack)}
}

// pointWork is the work of comparing the polygon with a point.
func (g *Polygon) pointWork() int { return searchWork + g.crowd*sideWork }

// polygonWork is the work of comparing the polygon with another one.
func (g *Polygon) polygonWork(h *Polygon) int {
	sides, others := g.border.NumEdges(), h.border.NumEdges()
	return g.border.NumLoops()*h.border.NumLoops()*searchWork + min(sides, others)*edgeWork + min(sides*h.crowd, others*g.crowd)*sideWork
}

// lineWork is the work of comparing the polygon with the side of a line from a to b. A long side passes more sides of
// the polygon than a short one.
func (g *Polygon) lineWork(a, b s2.Point) int {
	sides := g.border.NumEdges()
	if g.sides == nil {
		return g.pointWork() + sides*sideWork
	}
	part := min(1, a.Distance(b)/max(2*g.around.Radius(), slack))
	return 2*g.pointWork() + int(float64(sides)*float64(part))*sideWork
}

// IsStrict reports whether the order of the points determines the interior.
func (g *Polygon) IsStrict() bool { return g.strict }

// touches reports whether the cell of a point meets the polygon.
func (g *Polygon) touches(p Point) bool {
	if g.big != nil {
		return g.big.ContainsPoint(p.at) || g.big.IntersectsCell(p.cell())
	}
	return g.border.ContainsPoint(p.at) || g.border.IntersectsCell(p.cell())
}

// containsLine reports whether no part of a line is outside.
func (g *Polygon) containsLine(l *Line, meter Meter) bool {
	if !g.expect(len(l.line), meter) {
		return true
	}
	if g.big != nil {
		return !g.borderMeets(l, meter)
	}
	for i := 1; i < len(l.line); i++ {
		a, b := l.line[i-1], l.line[i]
		if !meter(g.lineWork(a, b)) {
			return true
		}
		if crossed, shared := g.meets(a, b); crossed || !shared && !g.border.ContainsPoint(middle(a, b)) {
			return false
		}
	}
	return true
}

// intersectsLine reports whether a part of a line is inside the polygon or on its border.
func (g *Polygon) intersectsLine(l *Line, meter Meter) bool {
	if !g.expect(len(l.line), meter) {
		return true
	}
	if g.big != nil {
		return g.big.ContainsPoint(l.line[0]) || g.crosses(l, meter)
	}
	return g.borderMeets(l, meter)
}

func (g *Polygon) borderMeets(l *Line, meter Meter) bool {
	for i := 1; i < len(l.line); i++ {
		a, b := l.line[i-1], l.line[i]
		if !meter(g.lineWork(a, b)) {
			return true
		}
		if crossed, shared := g.meets(a, b); crossed || shared || g.border.ContainsPoint(middle(a, b)) {
			return true
		}
	}
	return false
}

// crosses reports whether a line crosses the border or follows it.
func (g *Polygon) crosses(l *Line, meter Meter) bool {
	for i := 1; i < len(l.line); i++ {
		a, b := l.line[i-1], l.line[i]
		if !meter(g.lineWork(a, b)) {
			return true
		}
		if crossed, shared := g.meets(a, b); crossed || shared {
			return true
		}
	}
	return false
}

func middle(a, b s2.Point) s2.Point { return s2.Point{Vector: a.Add(b.Vector).Normalize()} }

// meets reports whether a side of a line crosses a side of the border, and whether it coincides with one.
func (g *Polygon) meets(a, b s2.Point) (crossed, shared bool) {
	crosser := s2.NewEdgeCrosser(a, b)
	meet := func(edge s2.Edge) {
		same := a == edge.V0 && b == edge.V1 || a == edge.V1 && b == edge.V0
		shared = shared || same
		crossed = crossed || !same && crosser.CrossingSign(edge.V0, edge.V1) == s2.Cross
	}
	if g.sides != nil {
		for _, i := range s2.NewCrossingEdgeQuery(g.sides).Crossings(a, b, g.border, s2.CrossingTypeAll) {
			meet(g.border.Edge(i))
		}
		return crossed, shared
	}
	for i := range g.border.NumEdges() {
		meet(g.border.Edge(i))
	}
	return crossed, shared
}

// contains reports whether the polygon contains all of h, which must not be big.
func (g *Polygon) contains(h *Polygon) bool {
	if g.big != nil {
		return !g.border.Intersects(h.border)
	}
	return g.border.Contains(h.border)
}

// intersects reports whether the polygon overlaps h, which must not be big.
func (g *Polygon) intersects(h *Polygon) bool {
	if g.big != nil {
		return !g.border.Contains(h.border)
	}
	return g.border.Intersects(h.border)
}

// distance returns the smallest angle between a point and the polygon in radians.
func (g *Polygon) distance(p Point) float64 {
	if g.border.ContainsPoint(p.at) {
		return 0
	}
	if g.sides != nil {
		query := s2.NewClosestEdgeQuery(g.sides, s2.NewClosestEdgeQueryOptions().MaxResults(1))
		for _, found := range query.FindEdges(s2.NewMinDistanceToPointTarget(p.at)) {
			if found.EdgeID() >= 0 {
				return distanceToEdge(p.at, g.border.Edge(int(found.EdgeID()))).Radians()
			}
		}
	}
	least := s1.InfAngle()
	for i := range g.border.NumEdges() {
		least = min(least, distanceToEdge(p.at, g.border.Edge(i)))
	}
	return least.Radians()
}

// distanceToEdge returns the angle between a point and the nearest point of a side.
func distanceToEdge(p s2.Point, edge s2.Edge) s1.Angle {
	if isPole(p, edge) {
		return s2.DistanceFromSegment(p, edge.V0, edge.V1)
	}
	return p.Distance(s2.Project(p, edge.V0, edge.V1))
}

// isPole reports whether a point is about equally far from all points of a side's great circle, so that
// rounding hides which one is nearest.
func isPole(p s2.Point, edge s2.Edge) bool {
	const least = 1 - 1e-14 // the cosine of 1.4e-7 radians, a metre on the globe
	pole := edge.V0.PointCross(edge.V1)
	return math.Abs(p.Dot(pole.Vector)) >= least*pole.Norm()
}

type corner struct{ ring, index int }

// checkHoles returns an error if a ring after the first is not a hole in it, or if two rings share a side or touch
// each other at more points than a polygon allows. Sides must not cross.
func checkHoles(rings []*s2.Loop, meter Meter) error {
	if len(rings) == 1 {
		return nil
	}
	corners := map[s2.Point][]corner{}
	for number, ring := range rings {
		touched := 0
		for i, at := range ring.Vertices() {
			here, others := corner{ring: number, index: i}, corners[at]
			if !meter(len(others) * crossingWork) {
				return tooMuch()
			}
			if err := checkTouches(rings, others, here); err != nil {
				return err
			}
			if len(others) > 0 && others[0].ring == 0 {
				touched++
			}
			corners[at] = append(corners[at], here)
		}
		field := "[" + strconv.Itoa(number) + "]"
		if number > 0 && !rings[0].Contains(ring) {
			return boterr.Invalid(field, "is not within the first ring: the other rings must be holes in it")
		}
		if touched > 1 {
			return boterr.Invalid(field, "touches the first ring in more than one point")
		}
	}
	return nil
}

// checkTouches refuses a ring that shares a side with another ring, or crosses a hole, at a corner of both. others are
// the corners of earlier rings at the same point.
func checkTouches(rings []*s2.Loop, others []corner, here corner) error {
	field := "[" + strconv.Itoa(here.ring) + "]"
	b0, at, b2 := around(rings[here.ring], here.index)
	for _, other := range others {
		a0, _, a2 := around(rings[other.ring], other.index)
		if a0 == b0 || a0 == b2 || a2 == b0 || a2 == b2 {
			return boterr.Invalid(field, "shares a side at %s with the ring %d", shown(at), other.ring)
		}
		if other.ring > 0 && s2.WedgeIntersects(a0, at, a2, b0, b2) {
			return boterr.Invalid(field, "overlaps the ring %d at %s", other.ring, shown(at))
		}
	}
	return nil
}

// around returns a corner of a ring and its two neighbours.
func around(ring *s2.Loop, index int) (before, at, after s2.Point) {
	return ring.Vertex(index + ring.NumVertices() - 1), ring.Vertex(index), ring.Vertex(index + 1)
}

// Hull is a cap that contains a region or shape. Comparing a shape with it is much faster than comparing sides, and
// often shows that the shape is outside.
type Hull struct {
	center s2.Point
	radius float64
}

// Hull returns a cap that contains the shape.
func (s *Shape) Hull() Hull {
	bound := s2.EmptyRect()
	for _, p := range s.Points {
		bound = bound.AddPoint(s2.LatLngFromPoint(p.at))
	}
	for _, l := range s.Lines {
		bound = bound.Union(l.line.RectBound())
	}
	for _, g := range s.Polygons {
		bound = bound.Union(g.region().RectBound())
	}
	around := bound.CapBound()
	return Hull{center: around.Center(), radius: around.Radius().Radians() + slack}
}

// Hull implements Sphere.
func (c *Cap) Hull() Hull { return Hull{center: c.center.at, radius: c.radius + slack} }

// Excludes reports whether a pair is certainly outside the hull. A pair off the globe is outside.
func (h Hull) Excludes(p Pair) bool {
	point, err := NewPoint(p)
	return err != nil || point.at.Distance(h.center).Radians() > h.radius
}

// Outline collects the corners of a shape.
type Outline struct {
	first  Point
	known  bool
	radius float64
}

// Add adds a corner.
func (o *Outline) Add(p Pair) {
	point, err := NewPoint(p)
	switch {
	case err != nil: // The shape is invalid.
	case !o.known:
		o.first, o.known = point, true
	default:
		o.radius = max(o.radius, o.first.Distance(point))
	}
}

// IsApart reports whether a shape with these vertices is certainly outside the hull. A shape lies within every cap
// that contains its vertices and is smaller than half of the globe.
func (o *Outline) IsApart(h Hull) bool {
	return o.known && o.radius < math.Pi/2-slack &&
		o.first.at.Distance(h.center).Radians() > h.radius+o.radius+slack
}

// An index of a shape's sides saves time if there are at least manySides sides, and at least manyTests pairs of sides
// to compare.
const (
	manySides = 64
	manyTests = 100_000
)

// Prepare makes comparisons of a shape with many others fast, and safe for concurrent use. S2 builds some data at
// first use, which must not happen concurrently.
func (s *Shape) Prepare() {
	anywhere := s2.CellFromCellID(s2.CellIDFromFace(0))
	s.cellsOfPoints = make(map[s2.CellID]struct{}, len(s.Points))
	for _, p := range s.Points {
		s.cellsOfPoints[p.Cell()] = struct{}{}
	}
	for _, l := range s.Lines {
		if len(l.line) > manySides {
			l.sides = indexOf(&l.line)
		}
	}
	for _, g := range s.Polygons {
		if g.border.NumEdges() >= manySides {
			g.sides = indexOf(g.border)
		}
		g.border.IntersectsCell(anywhere)
		for _, loop := range g.border.Loops() {
			loop.IntersectsCell(anywhere)
		}
		if g.big != nil {
			g.big.IntersectsCell(anywhere)
		}
	}
}

// expect creates an index of the polygon's sides, unless there is one, if it saves time in comparisons with a
// number of other sides. It returns false if the meter does.
func (g *Polygon) expect(others int, meter Meter) bool {
	count := g.border.NumEdges()
	if g.sides != nil || count < manySides || count*others < manyTests {
		return true
	}
	if !meter(count * edgeWork) {
		return false
	}
	g.sides = indexOf(g.border)
	return true
}

func indexOf(shape s2.Shape) *s2.ShapeIndex {
	index := s2.NewShapeIndex()
	index.Add(shape)
	index.Build()
	return index
}
