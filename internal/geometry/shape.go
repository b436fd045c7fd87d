package geometry

import (
	"math"
	"slices"
)

// Sphere is a region of the sphere.
type Sphere interface {
	// Contains reports whether a whole shape lies in the region.
	Contains(s *Shape) bool
	// ContainsPoint is Contains for one point.
	ContainsPoint(p Point) bool
	// Cover returns the cells in which an index looks for what is in the region.
	Cover() Cells
	// Bounds returns boxes of longitudes and latitudes in which the region lies: one,
	// or two where it goes across the 180th meridian.
	Bounds() []Box
	// Hull returns a cap in which the region lies.
	Hull() Hull
}

// Shape is what a GeoJSON object describes: points, lines and polygons.
type Shape struct {
	Points   []Point
	Lines    []*Line
	Polygons []*Polygon
}

// LineSides returns the number of points of all lines.
func (s *Shape) LineSides() int {
	count := 0
	for _, l := range s.Lines {
		count += len(l.line)
	}
	return count
}

// ContainsPoint reports whether one of the polygons contains a point.
func (s *Shape) ContainsPoint(p Point) bool {
	for _, g := range s.Polygons {
		if g.touches(p) {
			return true
		}
	}
	return false
}

// Contains reports whether each part of t lies within one of the polygons of s.
func (s *Shape) Contains(t *Shape) bool {
	for _, p := range t.Points {
		if !s.ContainsPoint(p) {
			return false
		}
	}
	for _, l := range t.Lines {
		if !slices.ContainsFunc(s.Polygons, func(g *Polygon) bool { return g.containsLine(l) }) {
			return false
		}
	}
	for _, h := range t.Polygons {
		if !slices.ContainsFunc(s.Polygons, func(g *Polygon) bool { return g.contains(h) }) {
			return false
		}
	}
	return true
}

// Intersects reports whether a part of s and one of t have a point in common. The
// polygons of t are not strict.
func (s *Shape) Intersects(t *Shape) bool {
	return slices.ContainsFunc(t.Points, s.IntersectsPoint) ||
		slices.ContainsFunc(t.Lines, s.intersectsLine) ||
		slices.ContainsFunc(t.Polygons, s.intersectsPolygon)
}

// IntersectsPoint reports whether a part of s meets a point.
func (s *Shape) IntersectsPoint(p Point) bool {
	for _, q := range s.Points {
		if q == p || q.cell().ID() == p.cell().ID() {
			return true
		}
	}
	for _, l := range s.Lines {
		if l.touches(p) {
			return true
		}
	}
	return s.ContainsPoint(p)
}

func (s *Shape) intersectsLine(l *Line) bool {
	return slices.ContainsFunc(s.Points, l.touches) ||
		slices.ContainsFunc(s.Lines, l.intersects) ||
		slices.ContainsFunc(s.Polygons, func(g *Polygon) bool { return g.intersectsLine(l) })
}

func (s *Shape) intersectsPolygon(h *Polygon) bool {
	return slices.ContainsFunc(s.Points, h.touches) ||
		slices.ContainsFunc(s.Lines, h.intersectsLine) ||
		slices.ContainsFunc(s.Polygons, func(g *Polygon) bool { return g.intersects(h) })
}

// Distance returns the least angle between a point and a part of s, in radians;
// infinity where s is empty.
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
