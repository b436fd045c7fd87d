package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// placesID is the data source of the places.
const placesID = "places"

// columnSeatsFree is how many seats a place has left tonight. Bookings count it down.
const columnSeatsFree = "seatsFree"

// seatsOfOthers is how many seats a place gets that does not say how many it has.
const seatsOfOthers = 12

// ownPlaces are the places of a small invented city.
//
//go:embed places.json
var ownPlaces []byte

// PairOrder says how the two numbers of a location that is a bare pair are meant.
// GeoJSON points and objects with lat and lng say it themselves.
type PairOrder string

// The orders of a pair.
const (
	LatitudeFirst  PairOrder = "latitude, longitude"
	LongitudeFirst PairOrder = "longitude, latitude"
)

// Places are what a concierge knows of its city.
type Places struct {
	// Entries are the places as the data source holds them: each with a name, with its
	// location as a GeoJSON point where it has one, and with the seats that are free.
	Entries []document.Object
	// Columns are the columns whose values a guest may say, such as area.
	Columns []string
	// Pairs is how bare pairs were read, "" where there were none.
	Pairs PairOrder
}

// ReadPlaces reads a JSON array of objects. Pairs are read in the given order; with
// LatitudeFirst, a first number beyond 90 in any of them shows that all have the
// longitude first.
func ReadPlaces(text []byte, order PairOrder) (Places, error) {
	var rows []document.Object
	if err := document.DecodeJSON(text, &rows); err != nil {
		return Places{}, fmt.Errorf("it must be a JSON array of objects: %w", err)
	}
	if len(rows) == 0 {
		return Places{}, errors.New("there is no place in it")
	}
	order = pairOrder(rows, order)
	var places Places
	for i, row := range rows {
		if row.IsZero() {
			return Places{}, fmt.Errorf("element %d is null, and must be an object", i)
		}
		if _, isPair := pairOf(row); isPair {
			places.Pairs = order
		}
		places.Entries = append(places.Entries, placeOf(row, i, order))
	}
	places.Columns = sayableColumns(places.Entries)
	return places, nil
}

// Save puts the places into the data source.
func (p Places) Save(ctx context.Context, data datasource.Operations) error {
	_, err := data.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
		DataSourceID: placesID,
		Data:         p.Entries,
	})
	return err
}

// placeOf returns the entry for a row. What is not known is left out, "?" as well as
// null, and so is when the row was stored elsewhere.
func placeOf(row document.Object, index int, order PairOrder) document.Object {
	entry := document.O()
	for column, value := range row.All() {
		if value != "?" && value != nil && column != "createdAt" && column != "updatedAt" {
			entry = entry.With(columnName(column), value)
		}
	}
	if document.Get(entry, "name", "") == "" {
		entry = entry.With("name", fmt.Sprintf("Place %d", index+1))
	}
	if at, ok := pointOf(row, order); ok {
		entry = entry.With("location", at)
	}
	return entry.With(columnSeatsFree, document.Get(row, "seats", seatsOfOthers))
}

// columnName returns a name that a column may have: not empty, and without dots, which
// separate the parts of a path, and dollar signs, which begin operators.
func columnName(name string) string {
	if name == "" {
		return "_"
	}
	return strings.NewReplacer(".", "_", "$", "_", "\x00", "_").Replace(name)
}

// point returns a GeoJSON point.
func point(longitude, latitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, latitude))
}

// pointOf returns the location of a row as a GeoJSON point.
func pointOf(row document.Object, order PairOrder) (document.Object, bool) {
	longitude, latitude, ok := coordinatesOf(row, order)
	if !ok || !isOnGlobe(longitude, latitude) {
		return document.Object{}, false
	}
	return point(longitude, latitude), true
}

// coordinatesOf returns the longitude and latitude of a row.
func coordinatesOf(row document.Object, order PairOrder) (longitude, latitude float64, ok bool) {
	if pair, isPair := pairOf(row); isPair {
		if order == LongitudeFirst {
			return pair[0], pair[1], true
		}
		return pair[1], pair[0], true
	}
	if document.Get(row, "location.type", "") == "Point" {
		return bothOf(row, "location.coordinates.0", "location.coordinates.1")
	}
	return bothOf(row, "location.lng", "location.lat")
}

// bothOf returns the numbers at two paths, if both are there.
func bothOf(row document.Object, first, second string) (x, y float64, ok bool) {
	if !row.Has(first) || !row.Has(second) {
		return 0, 0, false
	}
	const none = 1000 // no longitude and no latitude
	return document.Get(row, first, float64(none)), document.Get(row, second, float64(none)), true
}

// pairOf returns the location of a row that is two numbers.
func pairOf(row document.Object) ([]float64, bool) {
	pair := document.Get(row, "location", []float64(nil))
	return pair, len(pair) == 2
}

// pairOrder returns how the pairs of all rows are meant.
func pairOrder(rows []document.Object, order PairOrder) PairOrder {
	for _, row := range rows {
		if pair, ok := pairOf(row); ok && (pair[0] < -90 || pair[0] > 90) {
			return LongitudeFirst
		}
	}
	return order
}

func isOnGlobe(longitude, latitude float64) bool {
	return -180 <= longitude && longitude <= 180 && -90 <= latitude && latitude <= 90
}

// sayableColumns returns the columns, except the name, that hold a few different short texts, such
// as kinds, areas and prices, and no prose.
func sayableColumns(entries []document.Object) []string {
	const few, short = 40, 30 // values, bytes
	var columns []string
	texts := map[string]map[string]bool{}
	prose := map[string]bool{}
	for _, entry := range entries {
		for column, value := range entry.All() {
			text, ok := value.(string)
			if !ok || column == "name" {
				continue
			}
			if texts[column] == nil {
				texts[column] = map[string]bool{}
				columns = append(columns, column)
			}
			texts[column][text] = isSayable(text)
			prose[column] = prose[column] || len(text) > short
		}
	}
	return slices.DeleteFunc(columns, func(column string) bool {
		return prose[column] || len(texts[column]) > few || !slices.Contains(slices.Collect(maps.Values(texts[column])), true)
	})
}

// isSayable reports whether a value in a message of a guest can mean the column: not where it is a
// number, a yes or a no.
func isSayable(value string) bool {
	hasLetter := strings.ContainsFunc(value, unicode.IsLetter)
	hasDigit := strings.ContainsFunc(value, unicode.IsDigit)
	return hasLetter && !hasDigit && value != "yes" && value != "no"
}
