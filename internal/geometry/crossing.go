package geometry

import (
	"cmp"
	"math"
	"slices"

	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// maxWork bounds the search for crossings in one polygon, in comparisons of two
// boxes; that of two sides counts for many. Outlines of hundreds of thousands of short
// sides stay far below; what exceeds it was made to be slow.
const (
	maxWork     = 200_000_000
	workOfSides = 50
)

// side is a side of a polygon with a box around it in space.
type side struct {
	a, b s2.Point
	// low and high are the bounds of the box by axis.
	low, high [axes]float64
}

// axes is the number of axes of space.
const axes = 3

// newSide returns the side from a to b, which are not opposite.
func newSide(a, b s2.Point) side {
	// The arc rises above its chord, by a factor that is largest in the middle.
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

// String shows a side by the degrees of its ends.
func (s *side) String() string { return shown(s.a) + " to " + shown(s.b) }

// sidesOf returns the sides of rings.
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

// sweepAxis returns the axis along which the boxes of sides overlap least.
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

// checkCrossings refuses sides if two of them cross at a point that is not a vertex of both. It
// sweeps over the sides along an axis.
func checkCrossings(sides []side) error {
	axis := sweepAxis(sides)
	slices.SortFunc(sides, func(s, t side) int { return cmp.Compare(s.low[axis], t.low[axis]) })
	var open []*side
	work := 0
	for i := range sides {
		next := &sides[i]
		crosser := s2.NewEdgeCrosser(next.a, next.b)
		kept := open[:0]
		for _, earlier := range open {
			if earlier.high[axis] < next.low[axis] {
				continue
			}
			kept = append(kept, earlier)
			if !next.mayCross(earlier) {
				continue
			}
			work += workOfSides
			if crosser.CrossingSign(earlier.a, earlier.b) == s2.Cross {
				return boterr.Invalid("", "the sides of a polygon cross: %s and %s", next, earlier)
			}
		}
		if work += len(open); work > maxWork {
			return boterr.New(boterr.ResourceExhausted, "", "the polygon has too many long sides to be looked at")
		}
		kept = append(kept, next)
		open = kept
	}
	return nil
}
