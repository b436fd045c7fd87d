package geometry

import "math"

// Plane is a region of the plane.
type Plane interface {
	// Contains reports whether a pair lies in the region.
	Contains(p Pair) bool
	// Bounds returns a box in which the region lies.
	Bounds() Box
}

// Box is a rectangle with sides along the axes. Its sides belong to it.
type Box struct{ Low, High Pair }

// NewBox returns the box between two opposite corners.
func NewBox(a, b Pair) Box {
	return Box{
		Low:  Pair{X: min(a.X, b.X), Y: min(a.Y, b.Y)},
		High: Pair{X: max(a.X, b.X), Y: max(a.Y, b.Y)},
	}
}

// Contains implements Plane.
func (b Box) Contains(p Pair) bool {
	return p.X >= b.Low.X && p.X <= b.High.X && p.Y >= b.Low.Y && p.Y <= b.High.Y
}

// Bounds implements Plane.
func (b Box) Bounds() Box { return b }

// Circle is a circle with what is in it.
type Circle struct {
	Center Pair
	// Radius is not negative. It may be infinite.
	Radius float64
}

// Contains implements Plane.
func (c Circle) Contains(p Pair) bool { return c.Center.isWithin(p, c.Radius) }

// Bounds implements Plane. The box is a little larger than the circle, since sums
// are rounded.
func (c Circle) Bounds() Box {
	const slack = 1e-12
	reach := c.Radius + slack*(c.Radius+math.Abs(c.Center.X)+math.Abs(c.Center.Y))
	return Box{
		Low:  Pair{X: c.Center.X - reach, Y: c.Center.Y - reach},
		High: Pair{X: c.Center.X + reach, Y: c.Center.Y + reach},
	}
}

// PlanePolygon is a polygon on the plane, which may cross itself: what is inside of
// an odd number of turns belongs to it.
type PlanePolygon struct {
	corners []Pair
	bounds  Box
}

// NewPlanePolygon returns the polygon with at least one corner. The last one is
// joined to the first.
func NewPlanePolygon(corners []Pair) *PlanePolygon {
	bounds := NewBox(corners[0], corners[0])
	for _, c := range corners {
		bounds.Low = Pair{X: min(bounds.Low.X, c.X), Y: min(bounds.Low.Y, c.Y)}
		bounds.High = Pair{X: max(bounds.High.X, c.X), Y: max(bounds.High.Y, c.Y)}
	}
	return &PlanePolygon{corners: corners, bounds: bounds}
}

// Bounds implements Plane.
func (g *PlanePolygon) Bounds() Box { return g.bounds }

// Contains implements Plane. Corners and sides along an axis belong to the
// polygon; of the other sides those that have it on their left do, as in MongoDB.
func (g *PlanePolygon) Contains(p Pair) bool {
	if !g.bounds.Contains(p) {
		return false
	}
	inside := false
	a := g.corners[len(g.corners)-1]
	for _, b := range g.corners {
		if p == b || isOnAxisSide(p, a, b) {
			return true
		}
		if isLeftOf(p, a, b) {
			inside = !inside
		}
		a = b
	}
	return inside
}

// isOnAxisSide reports whether p lies on a side that is parallel to an axis.
func isOnAxisSide(p, a, b Pair) bool {
	switch {
	case a.Y == b.Y:
		return p.Y == a.Y && p.X >= min(a.X, b.X) && p.X <= max(a.X, b.X)
	case a.X == b.X:
		return p.X == a.X && p.Y >= min(a.Y, b.Y) && p.Y <= max(a.Y, b.Y)
	default:
		return false
	}
}

// isLeftOf reports whether a ray from p to the right meets a side. The lower end of
// the side does not belong to it.
func isLeftOf(p, a, b Pair) bool {
	if p.Y <= min(a.Y, b.Y) || p.Y > max(a.Y, b.Y) || p.X > max(a.X, b.X) {
		return false
	}
	return a.X == b.X || p.X <= (p.Y-a.Y)*(b.X-a.X)/(b.Y-a.Y)+a.X
}
