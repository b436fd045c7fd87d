package main

import (
	"cmp"
	"math"
	"slices"
)

// typedIndexOf makes an empty index.
func typedIndexOf(name indexName) typedIndex {
	switch name {
	case onName:
		return byName{}
	case onArea:
		return byArea{}
	case onPrice:
		return &byPrice{}
	case onAreaPrice:
		return byAreaAndPrice{}
	case onLocation:
		return grid{}
	default:
		return unindexed{}
	}
}

// unindexed serves nothing.
type unindexed struct{}

func (unindexed) add(*place) {}

func (unindexed) candidates(question) ([]*place, bool) { return nil, false }

// byName holds places by their names.
type byName map[string][]*place

func (x byName) add(p *place) { x[p.Name] = append(x[p.Name], p) }

func (x byName) candidates(q question) ([]*place, bool) { return x[askedNameText], q == nameIs }

// byArea holds places by their areas.
type byArea map[string][]*place

func (x byArea) add(p *place) { x[p.Area] = append(x[p.Area], p) }

func (x byArea) candidates(q question) ([]*place, bool) {
	return x[askedArea], q == areaIs || q == areaAndPrice
}

// byPrice holds places in the order of their prices.
type byPrice []*place

func (x *byPrice) add(p *place) { *x = withPlace(*x, p) }

func (x *byPrice) candidates(q question) ([]*place, bool) {
	from := sortPosition(*x, leastPrice)
	to := from + sortPosition((*x)[from:], mostPrice)
	return (*x)[from:to], q == priceBetween
}

// byAreaAndPrice holds the places of each area in the order of their prices.
type byAreaAndPrice map[string][]*place

func (x byAreaAndPrice) add(p *place) { x[p.Area] = withPlace(x[p.Area], p) }

func (x byAreaAndPrice) candidates(q question) ([]*place, bool) { return x[askedArea], q == areaIs }

// withPlace adds a place to a list in the order of prices, behind its equals.
func withPlace(list []*place, p *place) []*place {
	return slices.Insert(list, sortPosition(list, math.Nextafter(p.Price, math.Inf(1))), p)
}

// sortPosition returns where the first place of at least a price stands.
func sortPosition(list []*place, price float64) int {
	at, _ := slices.BinarySearchFunc(list, price, func(p *place, price float64) int { return cmp.Compare(p.Price, price) })
	return at
}

// grid holds places by squares of the globe.
type grid map[cell][]*place

// cell is a square of a grid: whole steps of longitude and latitude.
type cell struct{ x, y int }

// cellSize is the side of a square in degrees.
const cellSize = 0.02

func cellOf(p point) cell {
	return cell{x: int(math.Floor(p.Longitude / cellSize)), y: int(math.Floor(p.Latitude / cellSize))}
}

func (x grid) add(p *place) { x[cellOf(p.Location)] = append(x[cellOf(p.Location)], p) }

func (x grid) candidates(question) ([]*place, bool) { return nil, false }

// around returns the places of the squares around a point, so many rings of them
// that no place outside can be among the nearest. Nearer than one ring less is
// certain, since longitudes are at least half as wide as latitudes below 60
// degrees, where these places are.
func (x grid) around(center point, limit int) []*place {
	for rings := 1; ; rings *= 2 {
		found := x.rings(cellOf(center), rings)
		inside := 0
		safe := distanceBetween(center, point{Longitude: center.Longitude + float64(rings)*cellSize, Latitude: center.Latitude})
		for _, p := range found {
			if distanceBetween(center, p.Location) < safe {
				inside++
			}
		}
		if inside >= limit || rings > 360/cellSize {
			return found
		}
	}
}

func (x grid) rings(center cell, rings int) []*place {
	var found []*place
	for dx := -rings; dx <= rings; dx++ {
		for dy := -rings; dy <= rings; dy++ {
			found = append(found, x[cell{x: center.x + dx, y: center.y + dy}]...)
		}
	}
	return found
}

// distanceBetween returns the distance of two points in radians, by the haversine
// formula.
func distanceBetween(a, b point) float64 {
	const radians = math.Pi / 180
	byLatitude := math.Sin((b.Latitude - a.Latitude) * radians / 2)
	byLongitude := math.Sin((b.Longitude - a.Longitude) * radians / 2)
	return 2 * math.Asin(math.Sqrt(byLatitude*byLatitude+
		math.Cos(a.Latitude*radians)*math.Cos(b.Latitude*radians)*byLongitude*byLongitude))
}
