package geometry

import "github.com/golang/geo/s2"

// manySides is the number of sides from which an index of them pays, and manyTests that
// of pairs of sides.
const (
	manySides = 64
	manyTests = 100_000
)

// Prepare makes a shape that is compared with many others fast, and safe for
// concurrent use. S2 builds what it needs when it is first asked, which two at once
// must not do.
func (s *Shape) Prepare() {
	anywhere := s2.CellFromCellID(s2.CellIDFromFace(0))
	for _, l := range s.Lines {
		if len(l.line) > manySides {
			l.sides = indexOf(&l.line)
		}
	}
	for _, g := range s.Polygons {
		g.expect(manyTests)
		g.border.IntersectsCell(anywhere)
		for _, loop := range g.border.Loops() {
			loop.IntersectsCell(anywhere)
		}
		if g.big != nil {
			g.big.IntersectsCell(anywhere)
		}
	}
}

// expect makes an index of the polygon's sides, unless there is one, where comparing
// them one by one with a number of other sides would take longer.
func (g *Polygon) expect(others int) {
	if count := g.border.NumEdges(); g.sides == nil && count >= manySides && count*others >= manyTests {
		g.sides = indexOf(g.border)
	}
}

func indexOf(shape s2.Shape) *s2.ShapeIndex {
	index := s2.NewShapeIndex()
	index.Add(shape)
	index.Build()
	return index
}
