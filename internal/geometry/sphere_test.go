package geometry_test

import (
	"math"
	"slices"
	"testing"

	"github.com/golang/geo/s2"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/geometry"
)

// contains reports whether a cell lies in one of a list.
func contains(cells geometry.Cells, cell s2.CellID) bool {
	return slices.ContainsFunc(cells, func(c s2.CellID) bool { return c.Contains(cell) })
}

func TestShapes_Refuse(t *testing.T) {
	t.Parallel()
	outer := square(0, 0, 10)
	for name, test := range map[string]struct {
		rings [][]float64
		field string
		text  string
	}{
		"no ring":                       {nil, "", "rings"},
		"an empty ring":                 {[][]float64{{}}, "[0]", "closed"},
		"two corners":                   {[][]float64{{0, 0, 1, 1}}, "[0]", "3 different points"},
		"one point":                     {[][]float64{{1, 1, 1, 1, 1, 1}}, "[0]", "3 different points"},
		"crossing sides":                {[][]float64{{0, 0, 2, 2, 2, 0, 0, 2}}, "", "cross"},
		"a corner twice":                {[][]float64{{0, 0, 1, 0, 1, 1, 0, 0, -1, -1, 0, -1}}, "[0]", "twice"},
		"a spike":                       {[][]float64{{0, 0, 1, 0, 1, 1, 2, 2, 1, 1}}, "[0]", "twice"},
		"opposite points":               {[][]float64{{-150, -30, 30, 30, 90, 45}}, "[0]", "opposite"},
		"a hole outside":                {[][]float64{outer, square(50, 50, 1)}, "[1]", "not within"},
		"a hole larger than the ring":   {[][]float64{square(0, 0, 1), outer}, "[1]", "not within"},
		"a hole across the ring":        {[][]float64{outer, square(10, 0, 1)}, "", "cross"},
		"a hole that is the ring":       {[][]float64{outer, outer}, "[1]", "shares a side"},
		"a hole that shares a side":     {[][]float64{outer, {-10, -10, 10, -10, 0, 0}}, "[1]", "shares a side"},
		"a hole that touches in two":    {[][]float64{outer, {-10, -10, 0, -5, 10, 10, -5, 0}}, "[1]", "more than one point"},
		"a hole in a hole":              {[][]float64{outer, square(0, 0, 5), square(0, 0, 1)}, "", "in another hole"},
		"holes that cross":              {[][]float64{outer, square(0, 0, 2), square(1, 1, 2)}, "", "cross"},
		"holes that share a side":       {[][]float64{outer, square(0, 0, 1), {1, -1, 3, 0, 1, 1}}, "[2]", "shares a side"},
		"holes that overlap at corners": {[][]float64{outer, {0, 0, 4, -2, 4, 2}, {0, 0, 4, -1, 5, 0, 4, 1}}, "", "cross"},
	} {
		_, err := geometry.NewPolygon(closed(t, test.rings...))
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
		cause, _ := boterr.AsError(err)
		require.Equal(t, test.field, cause.Field, name)
		require.Contains(t, cause.Message(), test.text, name)
	}
	_, err := geometry.NewPolygon([][]geometry.Point{points(t, 0, 0, 1, 0, 1, 1, 0, 1)})
	require.ErrorContains(t, err, "closed")
	_, err = geometry.NewStrictPolygon(points(t, 0, 0, 2, 2, 2, 0, 0, 2, 0, 0))
	require.ErrorContains(t, err, "cross")
	for _, coordinates := range [][]float64{{0, 0}, {5, 5, 5, 5, 5, 5}, {-150, -30, 30, 30}} {
		_, err = geometry.NewLine(points(t, coordinates...))
		require.ErrorIs(t, err, boterr.InvalidArgument, "%v", coordinates)
	}
	for _, p := range pairs(181, 0, -181, 0, 0, 91, 0, -91, math.NaN(), 0, 0, math.Inf(1)) {
		_, err = geometry.NewPoint(p)
		require.ErrorIs(t, err, boterr.InvalidArgument, "%v", p)
	}
}

func TestPolygon_HolesTouch(t *testing.T) {
	t.Parallel()
	polygon(t, square(0, 0, 10), []float64{-10, -10, -5, -6, -6, -5})
	polygon(t, square(0, 0, 10), []float64{0, 0, 4, -2, 4, 2}, []float64{0, 0, -4, 2, -4, -2})
}

func TestPolygon_Contains(t *testing.T) {
	t.Parallel()
	region := polygon(t, square(0, 0, 10), square(0, 0, 2))
	for _, test := range []struct {
		name  string
		shape *geometry.Shape
		lies  bool
	}{
		{"a point inside", &geometry.Shape{Points: points(t, 5, 5)}, true},
		{"a point on the border", &geometry.Shape{Points: points(t, 10, 0)}, true},
		{"a corner", &geometry.Shape{Points: points(t, -10, 10)}, true},
		{"a point in the hole", &geometry.Shape{Points: points(t, 0, 0)}, false},
		{"points inside and outside", &geometry.Shape{Points: points(t, 5, 5, 50, 50)}, false},
		{"a line inside", line(t, 5, 5, 6, 6, 5, 8), true},
		{"a line over the hole", line(t, 5, 0, -5, 0), false},
		{"a line that leaves", line(t, 5, 5, 5, 50), false},
		{"a line that leaves and comes back", line(t, 5, 5, 20, 0, 5, -5), false},
		{"a line along the border", line(t, 10, -10, 10, 10), true},
		{"a polygon inside", polygon(t, square(6, 6, 1)), true},
		{"a polygon around the hole", polygon(t, square(0, 0, 5)), false},
		{"a polygon with a hole around the hole", polygon(t, square(0, 0, 9), square(0, 0, 3)), true},
		{"the same polygon", region, true},
		{"a polygon that sticks out", polygon(t, square(10, 0, 1)), false},
		{"a polygon around it", polygon(t, square(0, 0, 20)), false},
	} {
		require.Equal(t, test.lies, region.Contains(test.shape), test.name)
	}
}

func TestIntersects(t *testing.T) {
	t.Parallel()
	region := polygon(t, square(0, 0, 10), square(0, 0, 2))
	for _, test := range []struct {
		name       string
		a, b       *geometry.Shape
		intersects bool
	}{
		{"the same point", &geometry.Shape{Points: points(t, 5, 5)}, &geometry.Shape{Points: points(t, 5, 5)}, true},
		{"points a few millimetres apart", &geometry.Shape{Points: points(t, 5, 5)}, &geometry.Shape{Points: points(t, 5.00000001, 5)}, true},
		{"points a metre apart", &geometry.Shape{Points: points(t, 5, 5)}, &geometry.Shape{Points: points(t, 5.00001, 5)}, false},
		{"a point on a line", &geometry.Shape{Points: points(t, 5, 0)}, line(t, 0, 0, 10, 0), true},
		{"a point beside a line", &geometry.Shape{Points: points(t, 5, 0.01)}, line(t, 0, 0, 10, 0), false},
		{"a point on a polygon's border", &geometry.Shape{Points: points(t, 10, 5)}, region, true},
		{"a point in a hole", &geometry.Shape{Points: points(t, 0, 0)}, region, false},
		{"lines that cross", line(t, -1, 1, 1, -1), line(t, -1, -1, 1, 1), true},
		{"lines with a common end", line(t, 0, 0, 1, 1), line(t, 0, 0, 1, -1), true},
		{"lines beside each other", line(t, 0, 0, 1, 0), line(t, 0, 1, 1, 1), false},
		{"a line into a polygon", line(t, 5, 5, 50, 5), region, true},
		{"a line through a polygon", line(t, -20, 5, 20, 5), region, true},
		{"a line in a hole", line(t, -1, 0, 1, 0), region, false},
		{"a line along a border", line(t, 10, -10, 10, 10), region, true},
		{"a line that touches a corner", line(t, 10, 10, 20, 20), region, false},
		{"polygons that overlap", region, polygon(t, square(10, 10, 2)), true},
		{"polygons that share a side", region, polygon(t, []float64{10, -10, 20, -10, 20, 10, 10, 10}), false},
		{"a polygon in a hole", region, polygon(t, square(0, 0, 1)), false},
		{"a polygon in another", region, polygon(t, square(5, 5, 1)), true},
		{"parts of which one does", region, &geometry.Shape{Points: points(t, 0, 0, 50, 50), Lines: line(t, 5, 5, 6, 6).Lines}, true},
	} {
		require.Equal(t, test.intersects, test.a.Intersects(test.b), test.name)
		require.Equal(t, test.intersects, test.b.Intersects(test.a), "%s, the other way round", test.name)
	}
}

func TestShapes_RandomRelationsAgree(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	intersecting, containing, apart := 0, 0, 0
	for range 3_000 {
		a, _ := r.shape()
		b, vertices := r.shape()
		var outline geometry.Outline
		for _, p := range vertices {
			outline.Add(p)
		}
		hull := a.Hull()
		intersects := a.Intersects(b)
		require.Equal(t, intersects, b.Intersects(a))
		if a.Contains(b) {
			containing++
			require.True(t, intersects)
			require.False(t, slices.ContainsFunc(vertices, hull.Excludes))
		}
		if outline.IsApart(hull) {
			apart++
		}
		if intersects {
			intersecting++
			require.False(t, outline.IsApart(hull))
			cells, others := a.Cover(), b.Cells()
			require.True(t, cells.Intersects(others), "%v %v", cells, others)
		}
	}
	require.Greater(t, intersecting, 300)
	require.Greater(t, containing, 10)
	require.Greater(t, apart, 300)
}

func TestRegion_Bounds(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	inside := 0
	for range 3_000 {
		x, y := r.near()*36, r.near()*18
		region := geometry.Sphere(geometry.NewCap(point(t, x, y), r.Float64()/2))
		if r.IntN(2) == 0 && math.Abs(y) < 80 && math.Abs(x) < 170 {
			region = polygon(t, circle(x, y, 5, 3+r.IntN(9)))
		}
		p := geometry.Pair{X: math.Remainder(x+r.near()*4, 360), Y: max(-90, min(90, y+r.near()*2))}
		if region.ContainsPoint(point(t, p.X, p.Y)) {
			inside++
			require.True(t, slices.ContainsFunc(region.Bounds(), func(box geometry.Box) bool { return box.Contains(p) }), "%v", p)
		}
	}
	require.Greater(t, inside, 500)
}

func TestPolygon_ManySides(t *testing.T) {
	t.Parallel()
	r := newRandom(t)
	few, many := polygon(t, circle(1, 1, 3, 60)), polygon(t, circle(1, 1, 3, 600))
	many.Prepare()
	unprepared, prepared := line(t, circle(1, 1, 3, 600)...), line(t, circle(1, 1, 3, 600)...)
	prepared.Prepare()
	for range 1_000 {
		x, y := r.near(), r.near()
		if distance := math.Hypot(x-1, y-1); distance > 2.98 && distance < 3.02 {
			continue // Between the two.
		}
		p := &geometry.Shape{Points: points(t, x, y)}
		require.Equal(t, few.Intersects(p), many.Intersects(p))
		require.InDelta(t, few.Distance(p.Points[0]), many.Distance(p.Points[0]), 1e-4)
		l := line(t, x, y, x+0.001, y+0.001)
		require.Equal(t, few.Intersects(l), many.Intersects(l))
		require.Equal(t, few.Contains(l), many.Contains(l))
		through := line(t, x, y, x+3, y)
		require.Equal(t, unprepared.Intersects(through), prepared.Intersects(through))
		require.Equal(t, unprepared.Intersects(through), through.Intersects(prepared))
	}
}

func TestStrictPolygon_LeftOfItsRing(t *testing.T) {
	t.Parallel()
	ring := square(0, 0, 10)
	inside, outside := strict(t, ring), strict(t, reversed(ring))
	r := newRandom(t)
	for range 1_000 {
		s, _ := r.shape()
		require.Equal(t, inside.Contains(s), !outside.Intersects(s), "%v", s)
		require.Equal(t, inside.Intersects(s), polygon(t, ring).Intersects(s))
		if inside.Contains(s) {
			require.True(t, inside.Intersects(s))
		}
	}
	for name, far := range map[string]*geometry.Shape{
		"a point": {Points: points(t, 50, 50)}, "a line": line(t, 50, 50, 60, 60), "a polygon": polygon(t, square(100, 0, 20)),
	} {
		require.True(t, outside.Contains(far), name)
		require.True(t, outside.Intersects(far), name)
		require.False(t, inside.Intersects(far), name)
		cover := outside.Cover()
		require.True(t, cover.Intersects(far.Cells()), name)
	}
	across := line(t, 0, 0, 50, 0)
	require.True(t, outside.Intersects(across))
	require.False(t, outside.Contains(across))
}

func TestRing_SmallerSideInside(t *testing.T) {
	t.Parallel()
	for _, ring := range [][]float64{square(0, 0, 10), reversed(square(0, 0, 10))} {
		region := polygon(t, ring)
		require.True(t, region.ContainsPoint(point(t, 1, 1)))
		require.False(t, region.ContainsPoint(point(t, 50, 50)))
	}
	across := polygon(t, []float64{179, -1, -179, -1, -179, 1, 179, 1})
	require.True(t, across.ContainsPoint(point(t, -179.5, 0)))
	require.False(t, across.ContainsPoint(point(t, 0, 0)))
	require.Len(t, across.Bounds(), 2)
}

func TestCap_Contains(t *testing.T) {
	t.Parallel()
	const degree = math.Pi / 180
	region := geometry.NewCap(point(t, 0, 0), 10*degree)
	for _, test := range []struct {
		name  string
		shape *geometry.Shape
		lies  bool
	}{
		{"the center", &geometry.Shape{Points: points(t, 0, 0)}, true},
		{"a point on the rim", &geometry.Shape{Points: points(t, 10, 0)}, true},
		{"a point outside", &geometry.Shape{Points: points(t, 10.001, 0)}, false},
		{"a line inside", line(t, 0, 0, 5, 5), true},
		{"a line to the rim", line(t, 0, 0, 10, 0), false},
		{"a line that leaves", line(t, 0, 0, 20, 0), false},
		{"a polygon inside", polygon(t, square(0, 0, 5)), true},
		{"a polygon that leaves", polygon(t, square(0, 0, 9)), false},
	} {
		require.Equal(t, test.lies, region.Contains(test.shape), test.name)
	}
	hull := region.Hull()
	require.False(t, hull.Excludes(geometry.Pair{X: 10}))
	require.True(t, hull.Excludes(geometry.Pair{X: 10.1}))
	everything := geometry.NewCap(point(t, 0, 0), 4)
	require.True(t, everything.ContainsPoint(point(t, 180, 0)))
	require.True(t, everything.Contains(polygon(t, square(179, 0, 0.5))))
	nothing := geometry.NewCap(point(t, 0, 0), 0)
	require.True(t, nothing.ContainsPoint(point(t, 0, 0)))
	require.False(t, nothing.ContainsPoint(point(t, 0.001, 0)))
}

func TestDistance_FromThePoleOfASide(t *testing.T) {
	t.Parallel()
	for _, longitude := range []float64{0, 7.5, 5.09, -102.7} {
		for _, latitude := range []float64{90, -90} {
			from := point(t, longitude, latitude)
			for name, shape := range map[string]*geometry.Shape{
				"a line":    line(t, 0, 0, 10, 0),
				"a polygon": polygon(t, []float64{0, 0, 10, 0, 10, -latitude / 9, 0, -latitude / 9}),
			} {
				require.InDelta(t, math.Pi/2, shape.Distance(from), 1e-7, "%s from %v, %v", name, longitude, latitude)
			}
		}
	}
}

func TestDistance_NearestPart(t *testing.T) {
	t.Parallel()
	const degree = math.Pi / 180
	from := point(t, 0, 0)
	for name, test := range map[string]struct {
		shape   *geometry.Shape
		degrees float64
	}{
		"points":            {&geometry.Shape{Points: points(t, 0, 90, 2, 0)}, 2},
		"a line":            {line(t, -5, 3, 0, 3, 5, 3), 3},
		"around a polygon":  {polygon(t, square(0, 0, 1)), 0},
		"a polygon":         {polygon(t, square(10, 0, 4)), 6},
		"a polygon's hole":  {polygon(t, square(0, 0, 9), square(0, 0, 3)), 3},
		"many sides":        {polygon(t, circle(10, 0, 4, 1_000)), 6},
		"the opposite side": {&geometry.Shape{Points: points(t, 180, 0)}, 180},
		"nothing":           {&geometry.Shape{}, math.Inf(1)},
	} {
		if math.IsInf(test.degrees, 1) {
			require.True(t, math.IsInf(test.shape.Distance(from), 1), name)
			continue
		}
		require.InDelta(t, test.degrees*degree, test.shape.Distance(from), 0.002*degree, name)
	}
}

func TestPolygon_ManySidesTime(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{0, 45, 90} {
		polygon(t, circle(x, 0, 3, 20_000))
	}
	// A comb of long teeth: the box of each overlaps that of all others.
	var comb []float64
	for i := range 30_000 {
		x := float64(i) * 1e-4
		comb = append(comb, x, 60, x+3e-5, -60)
	}
	comb = append(comb, 4, 70, -1, 70)
	_, err := geometry.NewPolygon(closed(t, comb))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}
