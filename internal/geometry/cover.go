package geometry

import (
	"math"

	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

// Cells are parts of the sphere, or of the plane, by which an index finds shapes. A cell is
// numbered as S2 does it: each is divided into four of the next level, and the numbers of all that
// are in one lie in a range. Two shapes that have a point in common have cells that are the same,
// or one of which lies in the other.
type Cells = s2.CellUnion

const (
	// cellsOfShape is the number of cells that a line or polygon is put under.
	cellsOfShape = 8
	// cellsOfRegion is the number of cells in which a query looks, cellsOfRing that of
	// each step of a search for what is near: finding more takes longer than looking.
	cellsOfRegion = 16
	cellsOfRing   = 8
	// slack is the angle by which regions are enlarged for what lies on their border.
	slack = 1e-8
)

// Cell returns the smallest cell around a point.
func (p Point) Cell() s2.CellID { return p.cell().ID() }

// Cells returns the cells of a shape that is stored.
func (s *Shape) Cells() Cells { return s.cells(cellsOfShape) }

// Cover implements Sphere.
func (s *Shape) Cover() Cells { return s.cells(cellsOfRegion) }

// cells covers each part with up to most cells.
func (s *Shape) cells(most int) Cells {
	var cells Cells
	for _, p := range s.Points {
		cells = append(cells, p.Cell())
	}
	coverer := &s2.RegionCoverer{MaxLevel: s2.MaxLevel, MaxCells: most}
	for _, l := range s.Lines {
		cells = append(cells, coverer.Covering(&l.line)...)
	}
	for _, g := range s.Polygons {
		cells = append(cells, coverer.Covering(g.region())...)
	}
	if len(cells) > 1 {
		cells.Normalize()
	}
	return cells
}

// region returns the polygon as S2 knows it.
func (g *Polygon) region() s2.Region {
	if g.big != nil {
		return g.big
	}
	return g.border
}

// Cover implements Sphere.
func (c *Cap) Cover() Cells { return Ring(c.center, 0, c.radius) }

// Ring returns the cells of what is at least inner and at most outer radians away
// from a point.
func Ring(center Point, inner, outer float64) Cells {
	coverer := &s2.RegionCoverer{MaxLevel: s2.MaxLevel, MaxCells: cellsOfRing}
	r := ring{
		Cap:  s2.CapFromCenterAngle(center.at, s1.Angle(min(outer*(1+slack)+slack, math.Pi))),
		hole: s2.CapFromCenterAngle(center.at, s1.Angle(inner*(1-slack)-slack)),
	}
	return coverer.Covering(r)
}

// ring is a cap with a hole in its middle.
type ring struct {
	s2.Cap

	hole s2.Cap
}

// IntersectsCell reports whether a cell may have a point in the ring.
func (r ring) IntersectsCell(cell s2.Cell) bool {
	return r.Cap.IntersectsCell(cell) && !r.hole.ContainsCell(cell)
}

// ContainsCell reports whether a cell lies in the ring.
func (r ring) ContainsCell(cell s2.Cell) bool {
	return r.Cap.ContainsCell(cell) && !r.hole.IntersectsCell(cell)
}

// CellSize returns the angle, in radians, that a cell of a level spans.
func CellSize(level int) float64 { return s2.AvgEdgeMetric.Value(level) }

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

// boxesOf returns a rectangle of the sphere in degrees, enlarged by more than the size
// of the smallest cells, which near a pole go around it.
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
