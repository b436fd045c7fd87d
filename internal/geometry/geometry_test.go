package geometry_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/geometry"
)

// pairs returns pairs of x and y.
func pairs(coordinates ...float64) []geometry.Pair {
	all := make([]geometry.Pair, 0, len(coordinates)/2)
	for i := 0; i < len(coordinates); i += 2 {
		all = append(all, geometry.Pair{X: coordinates[i], Y: coordinates[i+1]})
	}
	return all
}

func points(t *testing.T, coordinates ...float64) []geometry.Point {
	t.Helper()
	all, err := geometry.NewPoints(pairs(coordinates...))
	require.NoError(t, err)
	return all
}

func point(t *testing.T, x, y float64) geometry.Point {
	t.Helper()
	return points(t, x, y)[0]
}

func line(t *testing.T, coordinates ...float64) *geometry.Shape {
	t.Helper()
	l, err := geometry.NewLine(points(t, coordinates...))
	require.NoError(t, err)
	return &geometry.Shape{Lines: []*geometry.Line{l}}
}

// polygon returns a polygon of rings, which it closes.
func polygon(t *testing.T, rings ...[]float64) *geometry.Shape {
	t.Helper()
	g, err := geometry.NewPolygon(closed(t, rings...))
	require.NoError(t, err)
	return &geometry.Shape{Polygons: []*geometry.Polygon{g}}
}

func closed(t *testing.T, rings ...[]float64) [][]geometry.Point {
	t.Helper()
	all := make([][]geometry.Point, len(rings))
	for i, ring := range rings {
		all[i] = points(t, ring...)
		if len(all[i]) > 0 {
			all[i] = append(all[i], all[i][0])
		}
	}
	return all
}

// square returns the corners of a square around a center.
func square(x, y, half float64) []float64 {
	return []float64{x - half, y - half, x + half, y - half, x + half, y + half, x - half, y + half}
}

func strict(t *testing.T, ring []float64) *geometry.Shape {
	t.Helper()
	g, err := geometry.NewStrictPolygon(closed(t, ring)[0])
	require.NoError(t, err)
	return &geometry.Shape{Polygons: []*geometry.Polygon{g}}
}

func reversed(ring []float64) []float64 {
	all := make([]float64, 0, len(ring))
	for i := len(ring) - 2; i >= 0; i -= 2 {
		all = append(all, ring[i], ring[i+1])
	}
	return all
}

// circle returns the corners of a polygon with many corners.
func circle(x, y, radius float64, corners int) []float64 {
	all := make([]float64, 0, 2*corners)
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / float64(corners)
		all = append(all, x+radius*math.Cos(angle), y+radius*math.Sin(angle))
	}
	return all
}

// random makes random shapes near the origin.
type random struct {
	*testing.T

	*rand.Rand
}

func newRandom(t *testing.T) random {
	t.Helper()
	return random{T: t, Rand: rand.New(rand.NewPCG(3, 5))}
}

// near returns a coordinate; some are the same again and again.
func (r random) near() float64 {
	if r.IntN(3) == 0 {
		return float64(r.IntN(9) - 4)
	}
	return r.Float64()*10 - 5
}

// shape returns a shape and its vertices.
func (r random) shape() (*geometry.Shape, []geometry.Pair) {
	switch x, y := r.near(), r.near(); r.IntN(5) {
	case 0:
		return &geometry.Shape{Points: points(r.T, x, y)}, pairs(x, y)
	case 1:
		coordinates := []float64{x, y, r.near() + 20, r.near(), r.near() + 40, r.near()}
		return line(r.T, coordinates...), pairs(coordinates...)
	case 2:
		coordinates := []float64{x, y, r.near() + 0.1, r.near() + 0.1}
		return line(r.T, coordinates...), pairs(coordinates...)
	case 3:
		ring := circle(x, y, 2, 3+r.IntN(100))
		return polygon(r.T, ring, circle(x, y, 0.5, 3+r.IntN(9))), pairs(ring...)
	default:
		ring := square(x, y, 0.5+2*r.Float64())
		return polygon(r.T, ring), pairs(ring...)
	}
}
