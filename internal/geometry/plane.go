package geometry

import (
	"cmp"
	"math"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Plane is a region of the plane.
type Plane interface {
	// Contains reports whether the region contains a pair.
	Contains(p Pair) bool
	// Bounds returns a box that contains the region.
	Bounds() Box
}

// Box is a rectangle with sides along the axes. It includes its sides.
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

// Circle is a circle with its interior.
type Circle struct {
	Center Pair
	// Radius is not negative. It may be infinite.
	Radius float64
}

// Contains implements Plane.
func (c Circle) Contains(p Pair) bool { return c.Center.isWithin(p, c.Radius) }

// Bounds implements Plane. The box is slightly larger than the circle, because sums are rounded.
func (c Circle) Bounds() Box {
	const slack = 1e-12
	reach := c.Radius + slack*(c.Radius+math.Abs(c.Center.X)+math.Abs(c.Center.Y))
	return Box{
		Low:  Pair{X: c.Center.X - reach, Y: c.Center.Y - reach},
		High: Pair{X: c.Center.X + reach, Y: c.Center.Y + reach},
	}
}

// PlanePolygon is a polygon on the plane. If its sides cross, it contains a point if a ray from the point meets an
// odd number of sides.
type PlanePolygon struct {
	corners []Pair
	bounds  Box
}

// NewPlanePolygon returns the polygon with the given corners, at least one. Its last side joins the last corner to
// the first.
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

// Contains implements Plane. The polygon includes its corners and its sides parallel to an axis. As in MongoDB, it
// includes other sides if the interior is on their left.
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

// isLeftOf reports whether a ray from p to the right meets a side. The lower end does not belong to the side.
func isLeftOf(p, a, b Pair) bool {
	if p.Y <= min(a.Y, b.Y) || p.Y > max(a.Y, b.Y) || p.X > max(a.X, b.X) {
		return false
	}
	return a.X == b.X || p.X <= (p.Y-a.Y)*(b.X-a.X)/(b.Y-a.Y)+a.X
}

// side is a side of a polygon with a bounding box in space.
type side struct {
	a, b s2.Point
	// low and high are the corners of the box by axis.
	low, high [axes]float64
}

const axes = 3

// newSide returns the side from a to b, which must not be antipodal.
func newSide(a, b s2.Point) side {
	// The arc rises above its chord, most in the middle. rise is at least this height.
	const half, rounding = 0.5, 1e-14
	rise := 1/(half*a.Add(b.Vector).Norm()) - 1 + rounding
	if math.IsNaN(rise) || rise > 1 {
		rise = 1
	}
	from, to := [axes]float64{a.X, a.Y, a.Z}, [axes]float64{b.X, b.Y, b.Z}
	s := side{a: a, b: b}
	for axis := range axes {
		s.low[axis] = min(from[axis], to[axis]) - rise
		s.high[axis] = max(from[axis], to[axis]) + rise
	}
	return s
}

// mayCross reports whether the boxes of two sides overlap.
func (s *side) mayCross(t *side) bool {
	for axis := range axes {
		if s.low[axis] > t.high[axis] || t.low[axis] > s.high[axis] {
			return false
		}
	}
	return true
}

// String returns the ends of a side in degrees.
func (s *side) String() string { return shown(s.a) + " to " + shown(s.b) }

func sidesOf(rings []*s2.Loop) []side {
	count := 0
	for _, ring := range rings {
		count += ring.NumEdges()
	}
	sides := make([]side, 0, count)
	for _, ring := range rings {
		for i := range ring.NumEdges() {
			edge := ring.Edge(i)
			sides = append(sides, newSide(edge.V0, edge.V1))
		}
	}
	return sides
}

// sweepAxis returns the axis along which the boxes of the sides overlap least.
func sweepAxis(sides []side) int {
	best, least := 0, math.Inf(1)
	for axis := range axes {
		low, high, total := math.Inf(1), math.Inf(-1), 0.0
		for i := range sides {
			s := &sides[i]
			low, high = min(low, s.low[axis]), max(high, s.high[axis])
			total += s.high[axis] - s.low[axis]
		}
		if overlap := total / (high - low); overlap < least {
			best, least = axis, overlap
		}
	}
	return best
}

// checkCrossings returns an error if two sides cross at a point that is not a corner of both. It sweeps over the
// sides along an axis. crowd is the maximum number of sides whose boxes overlap with the box of a side.
func checkCrossings(sides []side, meter Meter) (crowd int, err error) {
	axis := sweepAxis(sides)
	slices.SortFunc(sides, func(s, t side) int { return cmp.Compare(s.low[axis], t.low[axis]) })
	var open []*side
	for i := range sides {
		next := &sides[i]
		crosser := s2.NewEdgeCrosser(next.a, next.b)
		kept, near := open[:0], 0
		for _, earlier := range open {
			if earlier.high[axis] < next.low[axis] {
				continue
			}
			kept = append(kept, earlier)
			if !next.mayCross(earlier) {
				continue
			}
			near++
			if crosser.CrossingSign(earlier.a, earlier.b) == s2.Cross {
				return 0, boterr.Invalid("", "the sides of a polygon cross: %s and %s", next, earlier)
			}
		}
		if !meter(len(open) + near*crossingWork) {
			return 0, tooMuch()
		}
		crowd = max(crowd, near)
		open = kept
		open = append(open, next)
	}
	return crowd, nil
}
