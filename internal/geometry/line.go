package geometry

import (
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Line is a chain of geodesics.
type Line struct {
	line s2.Polyline
	// sides is an index of the line's sides, nil where these are few.
	sides *s2.ShapeIndex
}

// NewLine returns the line through points. A point that is repeated counts once;
// there must be two, and none may be opposite to the next.
func NewLine(points []Point) (*Line, error) {
	line := s2.Polyline(vertices(points))
	if len(line) < 2 {
		return nil, boterr.Invalid("", "a line needs at least 2 different points, got %d", len(line))
	}
	for i := 1; i < len(line); i++ {
		if areAntipodal(line[i-1], line[i]) {
			return nil, boterr.Invalid("", "a side of a line cannot join opposite points of the globe, as side %d does", i-1)
		}
	}
	return &Line{line: line}, nil
}

// areAntipodal reports whether two points are opposite to each other, so that no
// shortest way joins them.
func areAntipodal(a, b s2.Point) bool { return a.Vector == b.Mul(-1) }

// touches reports whether the line meets the cell of a point.
func (l *Line) touches(p Point) bool { return l.line.IntersectsCell(p.cell()) }

// intersects reports whether two lines cross or share a vertex.
func (l *Line) intersects(m *Line) bool {
	if l.sides == nil {
		l, m = m, l
	}
	if l.sides == nil {
		return l.line.Intersects(&m.line)
	}
	query := s2.NewCrossingEdgeQuery(l.sides)
	for i := 1; i < len(m.line); i++ {
		if len(query.Crossings(m.line[i-1], m.line[i], &l.line, s2.CrossingTypeAll)) > 0 {
			return true
		}
	}
	return false
}

// distance returns the least angle between a point and the line, in radians.
func (l *Line) distance(p Point) float64 {
	least := p.at.Distance(l.line[0])
	for i := 1; i < len(l.line); i++ {
		least = min(least, distanceToEdge(p.at, s2.Edge{V0: l.line[i-1], V1: l.line[i]}))
	}
	return least.Radians()
}
