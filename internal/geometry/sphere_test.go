package geometry_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golang/geo/s2"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/geometry"
)

// free is a meter that allows any work.
func free(int) bool { return true }

// contains reports whether a cell lies in one of a list of cells.
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
		"no ring":                       {nil, "", "ring"},
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
		_, err := geometry.NewPolygon(closed(t, test.rings...), free)
		require.ErrorIs(t, err, boterr.InvalidArgument, name)
		cause, _ := boterr.AsError(err)
		require.Equal(t, test.field, cause.Field, name)
		require.Contains(t, cause.Message(), test.text, name)
	}
	_, err := geometry.NewPolygon([][]geometry.Point{points(t, 0, 0, 1, 0, 1, 1, 0, 1)}, free)
	require.ErrorContains(t, err, "closed")
	_, err = geometry.NewStrictPolygon(points(t, 0, 0, 2, 2, 2, 0, 0, 2, 0, 0), free)
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
		require.Equal(t, test.lies, region.Contains(test.shape, free), test.name)
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
		test.a.Prepare()
		test.b.Prepare()
		require.Equal(t, test.intersects, test.a.Intersects(test.b, free), test.name)
		require.Equal(t, test.intersects, test.b.Intersects(test.a, free), "%s, the other way round", test.name)
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
		a.Prepare()
		b.Prepare()
		intersects := a.Intersects(b, free)
		require.Equal(t, intersects, b.Intersects(a, free))
		if a.Contains(b, free) {
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
		if region.ContainsPoint(point(t, p.X, p.Y), free) {
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
			continue // The point may lie between the borders of the two polygons.
		}
		p := &geometry.Shape{Points: points(t, x, y)}
		require.Equal(t, few.Intersects(p, free), many.Intersects(p, free))
		require.InDelta(t, few.Distance(p.Points[0]), many.Distance(p.Points[0]), 1e-4)
		l := line(t, x, y, x+0.001, y+0.001)
		require.Equal(t, few.Intersects(l, free), many.Intersects(l, free))
		require.Equal(t, few.Contains(l, free), many.Contains(l, free))
		through := line(t, x, y, x+3, y)
		require.Equal(t, unprepared.Intersects(through, free), prepared.Intersects(through, free))
		require.Equal(t, unprepared.Intersects(through, free), through.Intersects(prepared, free))
	}
}

func TestStrictPolygon_LeftOfItsRing(t *testing.T) {
	t.Parallel()
	ring := square(0, 0, 10)
	inside, outside := strict(t, ring), strict(t, reversed(ring))
	r := newRandom(t)
	for range 1_000 {
		s, _ := r.shape()
		require.Equal(t, inside.Contains(s, free), !outside.Intersects(s, free), "%v", s)
		require.Equal(t, inside.Intersects(s, free), polygon(t, ring).Intersects(s, free))
		if inside.Contains(s, free) {
			require.True(t, inside.Intersects(s, free))
		}
	}
	for name, far := range map[string]*geometry.Shape{
		"a point": {Points: points(t, 50, 50)}, "a line": line(t, 50, 50, 60, 60), "a polygon": polygon(t, square(100, 0, 20)),
	} {
		require.True(t, outside.Contains(far, free), name)
		require.True(t, outside.Intersects(far, free), name)
		require.False(t, inside.Intersects(far, free), name)
		cover := outside.Cover()
		require.True(t, cover.Intersects(far.Cells()), name)
	}
	across := line(t, 0, 0, 50, 0)
	require.True(t, outside.Intersects(across, free))
	require.False(t, outside.Contains(across, free))
}

func TestRing_SmallerSideInside(t *testing.T) {
	t.Parallel()
	for _, ring := range [][]float64{square(0, 0, 10), reversed(square(0, 0, 10))} {
		region := polygon(t, ring)
		require.True(t, region.ContainsPoint(point(t, 1, 1), free))
		require.False(t, region.ContainsPoint(point(t, 50, 50), free))
	}
	across := polygon(t, []float64{179, -1, -179, -1, -179, 1, 179, 1})
	require.True(t, across.ContainsPoint(point(t, -179.5, 0), free))
	require.False(t, across.ContainsPoint(point(t, 0, 0), free))
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
		require.Equal(t, test.lies, region.Contains(test.shape, free), test.name)
	}
	hull := region.Hull()
	require.False(t, hull.Excludes(geometry.Pair{X: 10}))
	require.True(t, hull.Excludes(geometry.Pair{X: 10.1}))
	everything := geometry.NewCap(point(t, 0, 0), 4)
	require.True(t, everything.ContainsPoint(point(t, 180, 0), free))
	require.True(t, everything.Contains(polygon(t, square(179, 0, 0.5)), free))
	nothing := geometry.NewCap(point(t, 0, 0), 0)
	require.True(t, nothing.ContainsPoint(point(t, 0, 0), free))
	require.False(t, nothing.ContainsPoint(point(t, 0.001, 0), free))
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

// upTo returns a meter that allows an amount of work, and a function that returns the work so far.
func upTo(limit int) (meter geometry.Meter, spent func() int) {
	work := 0
	return func(more int) bool {
		work += more
		return work <= limit
	}, func() int { return work }
}

func TestPolygon_UsualSidesAreCheap(t *testing.T) {
	t.Parallel()
	const sides = 20_000
	for _, x := range []float64{0, 45, 90} {
		meter, _ := upTo(sides * 500)
		_, err := geometry.NewPolygon(closed(t, circle(x, 0, 3, sides)), meter)
		require.NoError(t, err)
	}
}

func TestPolygon_IsBounded(t *testing.T) {
	t.Parallel()
	// A comb with long teeth: the box of each tooth overlaps the boxes of all others.
	var comb []float64
	for i := range 30_000 {
		x := float64(i) * 1e-4
		comb = append(comb, x, 60, x+3e-5, -60)
	}
	comb = append(comb, 4, 70, -1, 70)
	holes, fan := [][]float64{square(0, 0, 20)}, [][]float64{square(0, 0, 20)}
	for i := range 5_000 {
		holes = append(holes, square(float64(i%100)*0.2-10, float64(i/100)*0.2-5, 0.05))
		angle := float64(i) * 1e-3
		fan = append(fan, []float64{0, 0, math.Cos(angle), math.Sin(angle), math.Cos(angle + 5e-4), math.Sin(angle + 5e-4)})
	}
	for name, rings := range map[string][][]float64{"long teeth": {comb}, "many holes": holes, "holes with a common corner": fan} {
		meter, _ := upTo(50_000_000)
		_, err := geometry.NewPolygon(closed(t, rings...), meter)
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
	}
}

func TestShape_ComparingIsBounded(t *testing.T) {
	t.Parallel()
	const many, limit = 1_000, 1_000_000
	var all [3]*geometry.Shape
	for i := range all {
		all[i] = &geometry.Shape{}
	}
	for range many {
		all[0].Points = append(all[0].Points, points(t, 0, 5)...)
		all[1].Lines = append(all[1].Lines, line(t, 0, 0, 0, 1, 1, 1).Lines...)
		all[2].Polygons = append(all[2].Polygons, polygon(t, []float64{0, 2, 1, 2, 1, 3}).Polygons...)
	}
	for i, s := range all {
		s.Prepare()
		for j, other := range all {
			if i == j {
				continue // Equal parts meet at once.
			}
			meter, spent := upTo(limit)
			s.Intersects(other, meter)
			require.Greater(t, spent(), limit, "%d %d", i, j)
			require.Less(t, spent(), 2*limit, "%d %d", i, j)
		}
	}
}

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

// pairs returns pairs of alternating x and y.
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

func polygon(t *testing.T, rings ...[]float64) *geometry.Shape {
	t.Helper()
	g, err := geometry.NewPolygon(closed(t, rings...), free)
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
	g, err := geometry.NewStrictPolygon(closed(t, ring)[0], free)
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

// circle returns the corners of a polygon that approximates a circle.
func circle(x, y, radius float64, corners int) []float64 {
	all := make([]float64, 0, 2*corners)
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / float64(corners)
		all = append(all, x+radius*math.Cos(angle), y+radius*math.Sin(angle))
	}
	return all
}

// random generates random shapes near the origin.
type random struct {
	*testing.T

	*rand.Rand
}

func newRandom(t *testing.T) random {
	t.Helper()
	return random{T: t, Rand: rand.New(rand.NewPCG(3, 5))}
}

// near returns a coordinate near 0. Every third one is a small integer, so that coordinates repeat.
func (r random) near() float64 {
	if r.IntN(3) == 0 {
		return float64(r.IntN(9) - 4)
	}
	return r.Float64()*10 - 5
}

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
