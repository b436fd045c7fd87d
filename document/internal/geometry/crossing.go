package geometry

import (
	"cmp"
	"math"
	"slices"

	"github.com/golang/geo/r3"
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// mostComparisons bounds the search for crossings in one polygon. Outlines of a
// million short sides stay far below; what exceeds it was made to be slow.
const mostComparisons = 200_000_000

// side is a side of a polygon with a box around it in space.
type side struct {
	a, b      s2.Point
	low, high r3.Vector
}

// newSide returns the side from a to b, which are not opposite.
func newSide(a, b s2.Point) side {
	s := side{
		a: a, b: b,
		low:  r3.Vector{X: min(a.X, b.X), Y: min(a.Y, b.Y), Z: min(a.Z, b.Z)},
		high: r3.Vector{X: max(a.X, b.X), Y: max(a.Y, b.Y), Z: max(a.Z, b.Z)},
	}
	// The arc rises above its chord, by a factor that is largest in the middle.
	const half, rounding = 0.5, 1e-14
	rise := 1/(half*a.Add(b.Vector).Norm()) - 1 + rounding
	if math.IsNaN(rise) || rise > 1 {
		rise = 1
	}
	margin := r3.Vector{X: rise, Y: rise, Z: rise}
	s.low, s.high = s.low.Sub(margin), s.high.Add(margin)
	return s
}

// mayCross reports whether the boxes of two sides overlap, as far as y and z tell.
func (s *side) mayCross(t *side) bool {
	return s.low.Y <= t.high.Y && t.low.Y <= s.high.Y && s.low.Z <= t.high.Z && t.low.Z <= s.high.Z
}

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

// checkCrossings refuses sides of which two cross at a point that is no vertex of
// both. It sweeps over the sides along the x axis.
func checkCrossings(sides []side) error {
	slices.SortFunc(sides, func(s, t side) int { return cmp.Compare(s.low.X, t.low.X) })
	var open []*side
	comparisons := 0
	for i := range sides {
		next := &sides[i]
		kept := open[:0]
		for _, earlier := range open {
			if earlier.high.X < next.low.X {
				continue
			}
			kept = append(kept, earlier)
			if next.mayCross(earlier) && s2.CrossingSign(next.a, next.b, earlier.a, earlier.b) == s2.Cross {
				return boterr.Invalid("", "the sides of a polygon cross: %s and %s", next, earlier)
			}
		}
		if comparisons += len(open); comparisons > mostComparisons {
			return boterr.New(boterr.ResourceExhausted, "", "the polygon has too many long sides to be looked at")
		}
		kept = append(kept, next)
		open = kept
	}
	return nil
}

// String shows a side by the degrees of its ends.
func (s *side) String() string { return shown(s.a) + " to " + shown(s.b) }
