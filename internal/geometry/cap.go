package geometry

import (
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// EarthRadius is the radius of the earth in metres that MongoDB computes with.
const EarthRadius = 6378100.0

// Cap is what is within a distance from a point.
type Cap struct {
	center Point
	radius float64
	cap    s2.Cap
}

// NewCap returns the cap with a radius in radians, which is not negative.
func NewCap(center Point, radius float64) *Cap {
	radius = min(radius, math.Pi)
	return &Cap{center: center, radius: radius, cap: s2.CapFromCenterAngle(center.at, s1.Angle(radius))}
}

// ContainsPoint reports whether the cell of a point meets the cap.
func (c *Cap) ContainsPoint(p Point) bool {
	return c.radius >= math.Pi || c.cap.ContainsPoint(p.at) || c.cap.IntersectsCell(p.cell())
}

// Contains reports whether all points, and all vertices of lines and polygons, lie
// in the cap.
func (c *Cap) Contains(s *Shape) bool {
	for _, p := range s.Points {
		if !c.ContainsPoint(p) {
			return false
		}
	}
	for _, l := range s.Lines {
		if !c.containsVertices(l.line) {
			return false
		}
	}
	for _, g := range s.Polygons {
		for _, loop := range g.border.Loops() {
			if !c.containsVertices(loop.Vertices()) {
				return false
			}
		}
	}
	return true
}

// containsVertices reports whether vertices lie in the cap. As in MongoDB they keep
// a distance of about three metres from its rim, but for a cap that is nearly the
// whole sphere.
func (c *Cap) containsVertices(vertices []s2.Point) bool {
	margin := min(math.Pi/EarthRadius, math.Pi-c.radius)
	for _, v := range vertices {
		if c.radius-v.Distance(c.center.at).Radians() < margin {
			return false
		}
	}
	return true
}
