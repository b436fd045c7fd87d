package geometry

import (
	"math"
	"strconv"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Polygon is a region with a ring around it, and holes.
type Polygon struct {
	// border is the polygon, or for one of more than a hemisphere what is left out.
	border *s2.Polygon
	// big is a polygon of more than a hemisphere, else nil.
	big *s2.Loop
	// sides is an index of the border's sides, nil where these are few or not yet
	// asked for by many.
	sides *s2.ShapeIndex
	// strict tells that the order of the points decided what is inside.
	strict bool
}

// maxRings bounds the work of finding out which ring is in which.
const maxRings = 8192

// NewPolygon returns the polygon within the first ring and outside of the others.
// Of the two sides of a ring the smaller one is within it, whatever the order of
// its points. Sides must not cross, and the others be holes in the first.
func NewPolygon(rings [][]Point) (*Polygon, error) {
	if len(rings) == 0 || len(rings) > maxRings {
		return nil, boterr.Invalid("", "a polygon has from 1 to %d rings, got %d", maxRings, len(rings))
	}
	loops := make([]*s2.Loop, len(rings))
	for i, ring := range rings {
		var err error
		if loops[i], err = newRing(ring); err != nil {
			return nil, boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
		}
	}
	if err := checkCrossings(sidesOf(loops)); err != nil {
		return nil, err
	}
	for _, loop := range loops {
		loop.Normalize()
	}
	if err := checkHoles(loops); err != nil {
		return nil, err
	}
	border := s2.PolygonFromLoops(loops)
	for i := 1; i < border.NumLoops(); i++ {
		if border.LastDescendant(i) != i {
			return nil, boterr.Invalid("", "a hole of a polygon cannot be in another hole")
		}
	}
	return newPolygon(border), nil
}

// NewStrictPolygon returns the region on the left of a ring, which may be more than
// a hemisphere.
func NewStrictPolygon(ring []Point) (*Polygon, error) {
	loop, err := newRing(ring)
	if err != nil {
		return nil, err
	}
	if err := checkCrossings(sidesOf([]*s2.Loop{loop})); err != nil {
		return nil, err
	}
	var big *s2.Loop
	if !loop.IsNormalized() {
		big = s2.LoopFromPoints(loop.Vertices())
		loop.Invert()
	}
	g := newPolygon(s2.PolygonFromLoops([]*s2.Loop{loop}))
	g.big, g.strict = big, true
	return g, nil
}

func newPolygon(border *s2.Polygon) *Polygon { return &Polygon{border: border} }

// IsStrict reports whether the order of the points decided what is inside.
func (g *Polygon) IsStrict() bool { return g.strict }

// touches reports whether the cell of a point meets the polygon.
func (g *Polygon) touches(p Point) bool {
	if g.big != nil {
		return g.big.ContainsPoint(p.at) || g.big.IntersectsCell(p.cell())
	}
	return g.border.ContainsPoint(p.at) || g.border.IntersectsCell(p.cell())
}

// containsLine reports whether a line is nowhere outside.
func (g *Polygon) containsLine(l *Line) bool {
	g.expect(len(l.line))
	if g.big != nil {
		return !g.borderMeets(l)
	}
	for i := 1; i < len(l.line); i++ {
		a, b := l.line[i-1], l.line[i]
		if crossed, shared := g.meets(a, b); crossed || !shared && !g.border.ContainsPoint(middle(a, b)) {
			return false
		}
	}
	return true
}

// intersectsLine reports whether a part of a line is inside or along the border.
func (g *Polygon) intersectsLine(l *Line) bool {
	g.expect(len(l.line))
	if g.big != nil {
		return g.big.ContainsPoint(l.line[0]) || g.crosses(l)
	}
	return g.borderMeets(l)
}

// borderMeets is intersectsLine for the border.
func (g *Polygon) borderMeets(l *Line) bool {
	for i := 1; i < len(l.line); i++ {
		a, b := l.line[i-1], l.line[i]
		if crossed, shared := g.meets(a, b); crossed || shared || g.border.ContainsPoint(middle(a, b)) {
			return true
		}
	}
	return false
}

// crosses reports whether a line goes through the border, or along it.
func (g *Polygon) crosses(l *Line) bool {
	for i := 1; i < len(l.line); i++ {
		if crossed, shared := g.meets(l.line[i-1], l.line[i]); crossed || shared {
			return true
		}
	}
	return false
}

// middle returns the point in the middle between two.
func middle(a, b s2.Point) s2.Point { return s2.Point{Vector: a.Add(b.Vector).Normalize()} }

// meets reports whether the side of a line crosses one of the border, and whether
// it is one.
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

// contains reports whether another polygon, which is not big, is nowhere outside.
func (g *Polygon) contains(h *Polygon) bool {
	if g.big != nil {
		return !g.border.Intersects(h.border)
	}
	return g.border.Contains(h.border)
}

// intersects reports whether the polygon and another one, which is not big, have a part in common.
func (g *Polygon) intersects(h *Polygon) bool {
	if g.big != nil {
		return !g.border.Contains(h.border)
	}
	return g.border.Intersects(h.border)
}

// distance returns the least angle between a point and the polygon, in radians.
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

// distanceToEdge returns the angle between a point and the nearest one of a side.
func distanceToEdge(p s2.Point, edge s2.Edge) s1.Angle {
	if isPole(p, edge) {
		return s2.DistanceFromSegment(p, edge.V0, edge.V1)
	}
	return p.Distance(s2.Project(p, edge.V0, edge.V1))
}

// isPole reports whether a point is about as far from all points of a side's great circle: which of them is the
// nearest is then lost in rounding.
func isPole(p s2.Point, edge s2.Edge) bool {
	const least = 1 - 1e-14 // The cosine of 1.4e-7, which is a metre on the globe.
	pole := edge.V0.PointCross(edge.V1)
	return math.Abs(p.Dot(pole.Vector)) >= least*pole.Norm()
}
