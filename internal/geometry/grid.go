package geometry

import (
	"math"

	"github.com/golang/geo/s2"
)

// The plane is divided as the sphere is: its cells are squares, of which the largest
// has sides of 360. What is beyond lies in the cells at its border.
const (
	planeLow   = -180.0
	planeSide  = 360.0
	gridLevels = s2.MaxLevel
)

// PlaneCell returns the smallest cell around a pair.
func PlaneCell(p Pair) s2.CellID { return gridCell(column(p.X), column(p.Y), gridLevels) }

// column returns the number of the column, or row, of a coordinate.
func column(coordinate float64) uint64 {
	const columns = 1 << gridLevels
	at := math.Floor((coordinate - planeLow) / planeSide * columns)
	return uint64(min(max(at, 0), columns-1))
}

// gridCell returns the cell of a level in which a column and a row meet.
func gridCell(x, y uint64, level int) s2.CellID {
	leaf := s2.CellID(spread(x)<<2 | spread(y)<<1 | 1)
	return leaf.Parent(level)
}

// spread puts a zero bit in front of each bit of a number of 30 bits.
func spread(n uint64) uint64 {
	n = (n | n<<16) & 0x0000ffff0000ffff
	n = (n | n<<8) & 0x00ff00ff00ff00ff
	n = (n | n<<4) & 0x0f0f0f0f0f0f0f0f
	n = (n | n<<2) & 0x3333333333333333
	return (n | n<<1) & 0x5555555555555555
}

// PlaneCellSize returns the side of a cell of a level.
func PlaneCellSize(level int) float64 { return math.Ldexp(planeSide, -level) }

// Cover returns the cells of a box, at most 25.
func (b Box) Cover() Cells { return b.coverWithout(func(Box) bool { return false }) }

// coverWithout is Cover without the cells that excluded reports.
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

// PlaneRing returns the cells of what is at least inner and at most outer away from a
// pair.
func PlaneRing(center Pair, inner, outer float64) Cells {
	bounds := Circle{Center: center, Radius: outer}.Bounds()
	return bounds.coverWithout(func(cell Box) bool {
		return !cell.isAtBorder() && cell.farthest(center) < inner*(1-slack)-slack
	})
}

// isAtBorder reports whether a cell is one at the border, which holds what is beyond.
func (b Box) isAtBorder() bool {
	const high = planeLow + planeSide
	return b.Low.X <= planeLow || b.Low.Y <= planeLow || b.High.X >= high || b.High.Y >= high
}

// farthest returns the distance to the corner of b that is farthest from a pair.
func (b Box) farthest(p Pair) float64 {
	return math.Hypot(max(p.X-b.Low.X, b.High.X-p.X), max(p.Y-b.Low.Y, b.High.Y-p.Y))
}
