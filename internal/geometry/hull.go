package geometry

import (
	"math"

	"github.com/golang/geo/s2"
)

// Hull is a cap in which a region or shape lies. It tells without a look at the sides
// of a shape, which take time to read, that the shape is somewhere else.
type Hull struct {
	center s2.Point
	radius float64
}

// Hull returns a cap in which the shape lies.
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

// Excludes reports whether a pair lies surely outside. One off the globe does.
func (h Hull) Excludes(p Pair) bool {
	point, err := NewPoint(p)
	return err != nil || point.at.Distance(h.center).Radians() > h.radius
}

// Outline collects the vertices of a shape.
type Outline struct {
	first  Point
	known  bool
	radius float64
}

// Add takes a vertex.
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

// IsApart reports whether a shape with these vertices lies surely outside of the hull.
// A shape lies within a cap around its vertices unless that is half of the globe.
func (o *Outline) IsApart(h Hull) bool {
	return o.known && o.radius < math.Pi/2-slack &&
		o.first.at.Distance(h.center).Radians() > h.radius+o.radius+slack
}
