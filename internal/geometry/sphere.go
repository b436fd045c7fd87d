// Package geometry implements the shapes of geo queries and the relations between them: on the plane, as for
// MongoDB's 2d index, and on the sphere with S2. On the sphere, the sides of shapes are geodesics.
package geometry

import (
	"fmt"
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"

	"github.com/botctx/go-sdk/boterr"
)

// Point is a point on the sphere. It represents the smallest S2 cell around it, which is about a centimetre wide:
// shapes that touch the cell touch the point.
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

func (p Point) cell() s2.Cell { return s2.CellFromPoint(p.at) }

// Distance returns the angle between two points in radians.
func (p Point) Distance(q Point) float64 { return p.at.Distance(q.at).Radians() }

// vertices returns points as S2 points. It drops points equal to the previous one.
func vertices(points []Point) []s2.Point {
	kept := make([]s2.Point, 0, len(points))
	for i, p := range points {
		if i == 0 || p.at != points[i-1].at {
			kept = append(kept, p.at)
		}
	}
	return kept
}

// Line is a chain of geodesics.
type Line struct {
	line s2.Polyline
	// sides is an index of the line's sides, or nil if the line has few.
	sides *s2.ShapeIndex
	// around is a cap that contains the line.
	around s2.Cap
}

// NewLine returns the line through points. Repeated points count once. There must be at least two points, and none
// may be antipodal to the next.
func NewLine(points []Point) (*Line, error) {
	line := s2.Polyline(vertices(points))
	if len(line) < 2 {
		return nil, boterr.Invalid("", "a line needs at least 2 different points, got %d", len(line))
	}
	for i := 1; i < len(line); i++ {
		if areAntipodal(line[i-1], line[i]) {
			return nil, boterr.Invalid("", "a side of a line cannot join opposite points of the globe, as side %d does", i-1)
		}
	}
	return &Line{line: line, around: line.CapBound().Expanded(slack)}, nil
}

// areAntipodal reports whether two points are antipodal, so that no unique shortest line joins them.
func areAntipodal(a, b s2.Point) bool { return a.Vector == b.Mul(-1) }

// meetsPoint reports whether the line meets the cell of a point.
func (l *Line) meetsPoint(p Point, meter Meter) bool {
	return !meter(boundWork) || l.around.ContainsPoint(p.at) && (!meter(len(l.line)*vertexWork) || l.line.IntersectsCell(p.cell()))
}

// lineWork is the work of comparing two lines. Any number of sides may meet at one place, so an index does not limit
// the work.
func (l *Line) lineWork(m *Line) int {
	return len(l.line)*len(m.line)*sideWork + (len(l.line)+len(m.line))*vertexWork
}

// intersects reports whether two lines cross or have a corner in common.
func (l *Line) intersects(m *Line) bool {
	if l.sides == nil {
		l, m = m, l
	}
	if l.sides == nil {
		return l.line.Intersects(&m.line)
	}
	query := s2.NewCrossingEdgeQuery(l.sides)
	for i := 1; i < len(m.line); i++ {
		if len(query.Crossings(m.line[i-1], m.line[i], &l.line, s2.CrossingTypeAll)) > 0 {
			return true
		}
	}
	return false
}

// distance returns the smallest angle between a point and the line in radians.
func (l *Line) distance(p Point) float64 {
	least := p.at.Distance(l.line[0])
	for i := 1; i < len(l.line); i++ {
		least = min(least, distanceToEdge(p.at, s2.Edge{V0: l.line[i-1], V1: l.line[i]}))
	}
	return least.Radians()
}

// EarthRadius is the radius of the earth in metres that MongoDB uses.
const EarthRadius = 6378100.0

// Cap is the region within a distance of a point.
type Cap struct {
	center Point
	radius float64
	cap    s2.Cap
}

// NewCap returns the cap with a radius in radians, which must not be negative.
func NewCap(center Point, radius float64) *Cap {
	radius = min(radius, math.Pi)
	return &Cap{center: center, radius: radius, cap: s2.CapFromCenterAngle(center.at, s1.Angle(radius))}
}

// ContainsPoint reports whether the cell of a point meets the cap.
func (c *Cap) ContainsPoint(p Point, _ Meter) bool {
	return c.radius >= math.Pi || c.cap.ContainsPoint(p.at) || c.cap.IntersectsCell(p.cell())
}

// Contains reports whether the cap contains all points, and all corners of lines and polygons.
func (c *Cap) Contains(s *Shape, meter Meter) bool {
	for _, p := range s.Points {
		if !c.ContainsPoint(p, meter) {
			return false
		}
	}
	for _, l := range s.Lines {
		if !c.containsVertices(l.line) {
			return false
		}
	}
	for _, g := range s.Polygons {
		for _, loop := range g.border.Loops() {
			if !c.containsVertices(loop.Vertices()) {
				return false
			}
		}
	}
	return true
}

// containsVertices reports whether the cap contains corners. As in MongoDB, these must be about three metres inside
// the rim, unless the cap is nearly the whole sphere.
func (c *Cap) containsVertices(vertices []s2.Point) bool {
	margin := min(math.Pi/EarthRadius, math.Pi-c.radius)
	for _, v := range vertices {
		if c.radius-v.Distance(c.center.at).Radians() < margin {
			return false
		}
	}
	return true
}

// The plane is divided into cells like the sphere. Its cells are squares, and the largest has a side of 360. Points
// outside it belong to the cells at its border.
const (
	planeLow   = -180.0
	planeSide  = 360.0
	gridLevels = s2.MaxLevel
)

// PlaneCell returns the smallest cell around a pair.
func PlaneCell(p Pair) s2.CellID { return gridCell(column(p.X), column(p.Y), gridLevels) }

// column returns the number of the column or row of a coordinate.
func column(coordinate float64) uint64 {
	const columns = 1 << gridLevels
	at := math.Floor((coordinate - planeLow) / planeSide * columns)
	return uint64(min(max(at, 0), columns-1))
}

// gridCell returns the cell at a level with a column and row.
func gridCell(x, y uint64, level int) s2.CellID {
	leaf := s2.CellID(spread(x)<<2 | spread(y)<<1 | 1)
	return leaf.Parent(level)
}

// spread inserts a zero bit before each bit of a 30-bit number.
func spread(n uint64) uint64 {
	n = (n | n<<16) & 0x0000ffff0000ffff
	n = (n | n<<8) & 0x00ff00ff00ff00ff
	n = (n | n<<4) & 0x0f0f0f0f0f0f0f0f
	n = (n | n<<2) & 0x3333333333333333
	return (n | n<<1) & 0x5555555555555555
}

// PlaneCellSize returns the length of a cell's side at a level.
func PlaneCellSize(level int) float64 { return math.Ldexp(planeSide, -level) }

// Cover returns at most 25 cells that cover the box.
func (b Box) Cover() Cells { return b.coverWithout(func(Box) bool { return false }) }

// coverWithout returns the cells of Cover, but none for which excluded returns true.
func (b Box) coverWithout(excluded func(Box) bool) Cells {
	const divisions = 4
	side := max(b.High.X-b.Low.X, b.High.Y-b.Low.Y) / divisions
	level := gridLevels
	for level > 0 && PlaneCellSize(level) < side {
		level--
	}
	shift := gridLevels - level
	var cells Cells
	for x := column(b.Low.X) >> shift; x <= column(b.High.X)>>shift; x++ {
		for y := column(b.Low.Y) >> shift; y <= column(b.High.Y)>>shift; y++ {
			if !excluded(gridBox(x, y, level)) {
				cells = append(cells, gridCell(x<<shift, y<<shift, level))
			}
		}
	}
	return cells
}

// gridBox returns the square of a cell by its column and row.
func gridBox(x, y uint64, level int) Box {
	side := PlaneCellSize(level)
	low := Pair{X: planeLow + float64(x)*side, Y: planeLow + float64(y)*side}
	return Box{Low: low, High: Pair{X: low.X + side, Y: low.Y + side}}
}

// PlaneRing returns the cells of points whose distance from a pair is from inner to outer.
func PlaneRing(center Pair, inner, outer float64) Cells {
	bounds := Circle{Center: center, Radius: outer}.Bounds()
	return bounds.coverWithout(func(cell Box) bool {
		return !cell.isAtBorder() && cell.farthest(center) < inner*(1-slack)-slack
	})
}

// isAtBorder reports whether a cell is at the border of the plane. Such a cell contains the points beyond it.
func (b Box) isAtBorder() bool {
	const high = planeLow + planeSide
	return b.Low.X <= planeLow || b.Low.Y <= planeLow || b.High.X >= high || b.High.Y >= high
}

// farthest returns the distance from a pair to the farthest corner of b.
func (b Box) farthest(p Pair) float64 {
	return math.Hypot(max(p.X-b.Low.X, b.High.X-p.X), max(p.Y-b.Low.Y, b.High.Y-p.Y))
}

// Cells are parts of the sphere or of the plane in which an index finds shapes. They are numbered as in S2: each cell
// is divided into four cells of the next level, and the numbers of all cells within a cell form a range. If two
// shapes have a point in common, they have a cell in common, or a cell of one is within a cell of the other.
type Cells = s2.CellUnion

const (
	// cellsOfShape is the maximum number of cells for an indexed line or polygon.
	cellsOfShape = 8
	// A query searches at most cellsOfRegion cells, and each step of a search for near shapes cellsOfRing. Computing
	// more cells takes longer than it saves in the search.
	cellsOfRegion = 16
	cellsOfRing   = 8
	// slack is the angle by which regions are enlarged to include points on their border.
	slack = 1e-8
)

// Cell returns the smallest cell around a point.
func (p Point) Cell() s2.CellID { return p.cell().ID() }

// Cells returns the cells under which an index stores the shape.
func (s *Shape) Cells() Cells { return s.cells(cellsOfShape) }

// Cover implements Sphere.
func (s *Shape) Cover() Cells { return s.cells(cellsOfRegion) }

// manyParts is the least number of lines and polygons for which the caps around them are covered instead. The cells of
// a cap are larger, but finding them takes a hundredth of the time.
const manyParts = 64

// cells covers each part of the shape with no more than most cells.
func (s *Shape) cells(most int) Cells {
	var cells Cells
	for _, p := range s.Points {
		cells = append(cells, p.Cell())
	}
	coverer := &s2.RegionCoverer{MaxLevel: s2.MaxLevel, MaxCells: most}
	isRough := len(s.Lines)+len(s.Polygons) >= manyParts
	cover := func(region s2.Region, around s2.Cap) {
		if isRough {
			cells = append(cells, around.CellUnionBound()...)
		} else {
			cells = append(cells, coverer.Covering(region)...)
		}
	}
	for _, l := range s.Lines {
		cover(&l.line, l.around)
	}
	for _, g := range s.Polygons {
		cover(g.region(), g.around)
	}
	if len(cells) > 1 {
		cells.Normalize()
	}
	return cells
}

// region returns the polygon as an S2 region.
func (g *Polygon) region() s2.Region {
	if g.big != nil {
		return g.big
	}
	return g.border
}

// Cover implements Sphere.
func (c *Cap) Cover() Cells { return Ring(c.center, 0, c.radius) }

// Ring returns the cells of points whose distance from center is from inner to outer, in radians.
func Ring(center Point, inner, outer float64) Cells {
	coverer := &s2.RegionCoverer{MaxLevel: s2.MaxLevel, MaxCells: cellsOfRing}
	r := ring{
		Cap:  s2.CapFromCenterAngle(center.at, s1.Angle(min(outer*(1+slack)+slack, math.Pi))),
		hole: s2.CapFromCenterAngle(center.at, s1.Angle(inner*(1-slack)-slack)),
	}
	return coverer.Covering(r)
}

type ring struct {
	s2.Cap

	hole s2.Cap
}

// IntersectsCell reports whether a cell may contain a point of the ring.
func (r ring) IntersectsCell(cell s2.Cell) bool {
	return r.Cap.IntersectsCell(cell) && !r.hole.ContainsCell(cell)
}

func (r ring) ContainsCell(cell s2.Cell) bool {
	return r.Cap.ContainsCell(cell) && !r.hole.IntersectsCell(cell)
}

// Bounds implements Sphere.
func (s *Shape) Bounds() []Box {
	bound := s2.EmptyRect()
	for _, g := range s.Polygons {
		bound = bound.Union(g.region().RectBound())
	}
	return boxesOf(bound)
}

// Bounds implements Sphere.
func (c *Cap) Bounds() []Box {
	return boxesOf(s2.CapFromCenterAngle(c.center.at, s1.Angle(c.radius+slack)).RectBound())
}

// boxesOf returns a rectangle of the sphere as boxes in degrees, enlarged by more than the size of the smallest
// cells. Near a pole it spans all longitudes.
func boxesOf(bound s2.Rect) []Box {
	const degrees, margin, half, polar = 180 / math.Pi, 1e-5, 180, 89
	low := Pair{X: bound.Lng.Lo*degrees - margin, Y: bound.Lat.Lo*degrees - margin}
	high := Pair{X: bound.Lng.Hi*degrees + margin, Y: bound.Lat.Hi*degrees + margin}
	if bound.Lng.IsFull() || low.X < -half || high.X > half || low.Y < -polar || high.Y > polar {
		return []Box{{Low: Pair{X: -half, Y: low.Y}, High: Pair{X: half, Y: high.Y}}}
	}
	if bound.Lng.IsInverted() {
		return []Box{
			{Low: low, High: Pair{X: half, Y: high.Y}},
			{Low: Pair{X: -half, Y: low.Y}, High: high},
		}
	}
	return []Box{{Low: low, High: high}}
}

// newRing returns the loop for a ring whose last point repeats the first. Its interior is on the left of its sides.
// It does not check whether sides cross.
func newRing(points []Point) (*s2.Loop, error) {
	if len(points) == 0 || points[0] != points[len(points)-1] {
		return nil, boterr.Invalid("", "a ring is closed: its last point equals the first")
	}
	corners := vertices(points)
	corners = corners[:len(corners)-1]
	const triangle = 3
	if len(corners) < triangle {
		return nil, boterr.Invalid("", "a ring needs at least 3 different points, got %d", len(corners))
	}
	seen := make(map[s2.Point]struct{}, len(corners))
	for i, corner := range corners {
		if _, again := seen[corner]; again {
			return nil, boterr.Invalid("", "a ring must pass each point once, but passes %s twice", shown(corner))
		}
		seen[corner] = struct{}{}
		if areAntipodal(corner, corners[(i+1)%len(corners)]) {
			return nil, boterr.Invalid("", "a side of a ring cannot join opposite points of the globe, as side %d does", i)
		}
	}
	return s2.LoopFromPoints(corners), nil
}

// shown formats a point in degrees, for errors.
func shown(p s2.Point) string {
	at := s2.LatLngFromPoint(p)
	return fmt.Sprintf("[%.7g, %.7g]", at.Lng.Degrees(), at.Lat.Degrees())
}

// Pair is a pair of coordinates: x and y on the plane, longitude and latitude in
// degrees on the sphere.
type Pair struct{ X, Y float64 }

// IsFinite reports whether both coordinates are finite numbers.
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

// isWithin reports whether the distance to q is at most radius. Parallel to an axis, it compares the sum of
// coordinate and radius, which is exact even if the difference of the coordinates is not.
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
