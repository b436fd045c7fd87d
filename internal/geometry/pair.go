// Package geometry holds the shapes of geo queries and how they lie to each other:
// on the plane as MongoDB's 2d has it, and on the sphere with S2, in which the
// sides of shapes are geodesics.
package geometry

import "math"

// Pair is a pair of coordinates: x and y on the plane, longitude and latitude in
// degrees on the sphere.
type Pair struct{ X, Y float64 }

// IsFinite reports whether both coordinates are neither NaN nor infinite.
func (p Pair) IsFinite() bool { return isFinite(p.X) && isFinite(p.Y) }

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

// OnGlobe reports whether p is a longitude from -180 to 180 and a latitude from -90
// to 90.
func (p Pair) OnGlobe() bool {
	const east, north = 180, 90
	return math.Abs(p.X) <= east && math.Abs(p.Y) <= north
}

// Distance returns the distance of two pairs on the plane.
func (p Pair) Distance(q Pair) float64 { return math.Hypot(p.X-q.X, p.Y-q.Y) }

// isWithin reports whether q is at most radius away. Along an axis the sum of
// coordinate and radius is compared, which is exact where the difference of two
// coordinates is not.
func (p Pair) isWithin(q Pair, radius float64) bool {
	switch {
	case p.X == q.X:
		return max(p.Y, q.Y) <= min(p.Y, q.Y)+radius
	case p.Y == q.Y:
		return max(p.X, q.X) <= min(p.X, q.X)+radius
	default:
		return p.Distance(q) <= radius
	}
}
