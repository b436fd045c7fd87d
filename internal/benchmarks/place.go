package main

import (
	"fmt"
	"math"
)

// place is the document that every engine keeps: eight fields, of which one is an
// array and one an object.
type place struct {
	ID       string
	Name     string
	Area     string
	Stars    int64
	Price    float64
	Visits   int64
	Tags     []string
	Location point
}

// point is a place on the globe, in degrees.
type point struct{ Longitude, Latitude float64 }

// writtenPlace is a place in a document.
type writtenPlace struct {
	ID       string   `json:"_id" bson:"_id"`
	Name     string   `json:"name" bson:"name"`
	Area     string   `json:"area" bson:"area"`
	Stars    int64    `json:"stars" bson:"stars"`
	Price    float64  `json:"price" bson:"price"`
	Visits   int64    `json:"visits" bson:"visits"`
	Tags     []string `json:"tags" bson:"tags"`
	Location struct {
		Coordinates []float64 `json:"coordinates" bson:"coordinates"`
	} `json:"location" bson:"location"`
}

func (w writtenPlace) place() place {
	p := place{
		ID: w.ID, Name: w.Name, Area: w.Area, Stars: w.Stars, Price: w.Price, Visits: w.Visits, Tags: w.Tags,
	}
	if at := w.Location.Coordinates; len(at) == 2 {
		p.Location = point{Longitude: at[0], Latitude: at[1]}
	}
	return p
}

// The sizes of what the queries find: one area in 21 gives 477 of 10,000 places.
const (
	areas      = 21
	priceSteps = 10_007 // prime, so that up to as many places all differ in price
)

// placeAt returns the i-th place. The same number always gives the same place.
func placeAt(i int) place {
	return place{
		ID:    idAt(i),
		Name:  nameAt(i),
		Area:  fmt.Sprintf("area-%d", i%areas),
		Stars: int64(i % 5),
		Price: float64(i*7919%priceSteps) / 100,
		Tags:  []string{"all", fmt.Sprintf("tag-%d", i%19)},
		Location: point{
			Longitude: 13 + fraction(float64(i)*0.6180339887),
			Latitude:  52 + fraction(float64(i)*0.7548776662),
		},
	}
}

func idAt(i int) string { return fmt.Sprintf("place-%07d", i) }

func nameAt(i int) string { return fmt.Sprintf("Place %d", i) }

// fraction spreads its argument over [0, 1).
func fraction(x float64) float64 { return x - math.Floor(x) }

// question is one of those that are put to the engines.
type question int

// The questions. Each engine has its own form of them.
const (
	everything   question = iota
	nameIs                // one place
	areaIs                // 1 in 21
	tagIs                 // 1 in 19, in an array
	priceBetween          // 471 of 10,007
	areaAndPrice          // 1 in 85
	queries
)

// What the queries ask for.
const (
	askedName  = 777
	askedArea  = "area-7"
	askedTag   = "tag-3"
	leastPrice = 20.0
	mostPrice  = 24.72
	nearLimit  = 10
)

// askedPoint is where the search for the nearest places starts.
var askedPoint = point{Longitude: 13.4, Latitude: 52.5}

// indexName names an index that an engine keeps.
type indexName string

// The indexes.
const (
	noIndex     indexName = ""
	onName      indexName = "name"
	onArea      indexName = "area"
	onPrice     indexName = "price"
	onAreaPrice indexName = "area, price"
	onLocation  indexName = "location"
)
