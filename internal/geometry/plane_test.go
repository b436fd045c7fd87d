package geometry_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/geometry"
)

func TestPlaneShape_Contains(t *testing.T) {
	t.Parallel()
	box := geometry.NewBox(geometry.Pair{X: 10, Y: 0}, geometry.Pair{X: 0, Y: 10})
	triangle := geometry.NewPlanePolygon(pairs(0, 0, 10, 0, 5, 10))
	concave := geometry.NewPlanePolygon(pairs(0, 0, 0, 10, 5, 5, 10, 10, 10, 0))
	bowTie := geometry.NewPlanePolygon(pairs(0, 0, 10, 10, 10, 0, 0, 10))
	for _, test := range []struct {
		name    string
		shape   geometry.Plane
		x, y    float64
		belongs bool
	}{
		{"inside a box", box, 5, 5, true},
		{"a corner of a box", box, 10, 10, true},
		{"a side of a box", box, 0, 5, true},
		{"beside a box", box, -0.001, 5, false},
		{"within a circle", geometry.Circle{Radius: 5}, 3, 3, true},
		{"on a circle", geometry.Circle{Radius: 5}, 3, 4, true},
		{"outside of a circle", geometry.Circle{Radius: 5}, 4, 4, false},
		{"the center of a circle without radius", geometry.Circle{}, 0, 0, true},
		{"beside a circle without radius", geometry.Circle{}, 0.001, 0, false},
		{"on a circle, where the difference is not exact", geometry.Circle{Center: geometry.Pair{X: 51.9999, Y: 1}, Radius: 0.0001}, 52, 1, true},
		{"within an infinite circle", geometry.Circle{Radius: math.Inf(1)}, 1e300, 7, true},
		{"inside a polygon", triangle, 5, 3, true},
		{"a corner of a polygon", triangle, 10, 0, true},
		{"a flat side of a polygon", triangle, 2, 0, true},
		{"a side to the right", triangle, 7.5, 5, true},
		{"a side to the left", triangle, 2.5, 5, false},
		{"outside of a polygon", triangle, 9, 9, false},
		{"a steep side of a polygon", concave, 10, 3, true},
		{"in the notch of a polygon", concave, 5, 9, false},
		{"in a part of a polygon that crosses itself", bowTie, 2, 5, true},
		{"between its parts", bowTie, 5, 2, false},
		{"a polygon that is one point", geometry.NewPlanePolygon(pairs(1, 1, 1, 1, 1, 1)), 1, 1, true},
	} {
		require.Equal(t, test.belongs, test.shape.Contains(geometry.Pair{X: test.x, Y: test.y}), test.name)
	}
}

func TestPlaneShape_Bounds(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	for range 2_000 {
		corners := pairs(r.near(), r.near(), r.near(), r.near(), r.near(), r.near(), r.near(), r.near())
		p := geometry.Pair{X: r.near(), Y: r.near()}
		for _, shape := range []geometry.Plane{
			geometry.NewBox(corners[0], corners[1]),
			geometry.Circle{Center: corners[0], Radius: corners[0].Distance(corners[1])},
			geometry.NewPlanePolygon(corners),
		} {
			for _, candidate := range append(corners, p) {
				if shape.Contains(candidate) {
					require.True(t, shape.Bounds().Contains(candidate), "%v %v", shape, candidate)
				}
			}
		}
	}
}

func TestPlaneCells_Box(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	inside := 0
	for range 5_000 {
		scale := math.Pow(10, r.Float64()*8-5)
		box := geometry.NewBox(geometry.Pair{X: r.near() * scale, Y: r.near() * scale}, geometry.Pair{X: r.near() * scale, Y: r.near() * scale})
		cover := box.Cover()
		require.LessOrEqual(t, len(cover), 25)
		p := geometry.Pair{X: r.near() * scale, Y: r.near() * scale}
		for _, p := range []geometry.Pair{p, box.Low, box.High} {
			if box.Contains(p) {
				inside++
				require.True(t, contains(cover, geometry.PlaneCell(p)), "%v %v", box, p)
			}
		}
	}
	require.Greater(t, inside, 10_000)
}

func TestPlaneCells_Ring(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	for range 5_000 {
		center := geometry.Pair{X: r.near() * 36, Y: r.near() * 18}
		inner := r.Float64() * 20
		outer := inner + r.Float64()*20
		angle, distance := r.Float64()*7, inner+r.Float64()*(outer-inner)
		p := geometry.Pair{X: center.X + distance*math.Cos(angle), Y: center.Y + distance*math.Sin(angle)}
		if geometry.NewBox(geometry.Pair{X: -180, Y: -180}, geometry.Pair{X: 180, Y: 180}).Contains(p) {
			require.True(t, contains(geometry.PlaneRing(center, inner, outer), geometry.PlaneCell(p)), "%v %v", center, p)
		}
		if center.OnGlobe() && p.OnGlobe() {
			from, to := point(t, center.X, center.Y), point(t, p.X, p.Y)
			exact := from.Distance(to)
			require.True(t, contains(geometry.Ring(from, exact*0.9, exact*1.1), to.Cell()), "%v %v", center, p)
			require.True(t, contains(geometry.Ring(from, exact, exact), to.Cell()), "%v %v", center, p)
		}
	}
}
