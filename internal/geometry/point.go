package geometry

import (
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Point is a point on the sphere. It stands for the S2 cell of the smallest size,
// of about a centimetre, in which it lies: shapes that touch the cell touch it.
type Point struct{ at s2.Point }

// NewPoint returns the point at a longitude and latitude, which must be on the
// globe.
func NewPoint(p Pair) (Point, error) {
	if !p.OnGlobe() {
		return Point{}, boterr.Invalid("",
			"[%v, %v] is off the globe: longitude is from -180 to 180, latitude from -90 to 90", p.X, p.Y)
	}
	return Point{at: s2.PointFromLatLng(s2.LatLngFromDegrees(p.Y, p.X))}, nil
}

// NewPoints returns the points at longitudes and latitudes.
func NewPoints(pairs []Pair) ([]Point, error) {
	points := make([]Point, len(pairs))
	for i, pair := range pairs {
		var err error
		if points[i], err = NewPoint(pair); err != nil {
			return nil, err
		}
	}
	return points, nil
}

// cell returns the cell that p stands for.
func (p Point) cell() s2.Cell { return s2.CellFromPoint(p.at) }

// Distance returns the angle between two points in radians.
func (p Point) Distance(q Point) float64 { return p.at.Distance(q.at).Radians() }

// vertices returns points as S2 has them, without those that equal the one before.
func vertices(points []Point) []s2.Point {
	kept := make([]s2.Point, 0, len(points))
	for i, p := range points {
		if i == 0 || p.at != points[i-1].at {
			kept = append(kept, p.at)
		}
	}
	return kept
}
