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

const placesID = "places"

// columnSeatsFree is the column of the seats that a place has left tonight. Bookings decrease it.
const columnSeatsFree = "seatsFree"

// seatsOfOthers is the number of seats of a place whose entry does not contain it.
const seatsOfOthers = 12

// ownPlaces are the places of a small invented city.
//
//go:embed places.json
var ownPlaces []byte

// Places are the places of a concierge's city.
type Places struct {
	// Entries are the places as stored in the data source: each with a name, with its location as a GeoJSON
	// point if it has one, and with its free seats.
	Entries []document.Object
	// Columns are the columns whose values a guest may say, such as area.
	Columns []string
}

// ReadPlaces reads a JSON array of objects. A location is a GeoJSON point, or a latitude and
// a longitude.
func ReadPlaces(text []byte) (Places, error) {
	var rows []document.Object
	if err := document.DecodeJSON(text, &rows); err != nil {
		return Places{}, fmt.Errorf("it must be a JSON array of objects: %w", err)
	}
	if len(rows) == 0 {
		return Places{}, errors.New("it contains no places")
	}
	var places Places
	for i, row := range rows {
		if row.IsZero() {
			return Places{}, fmt.Errorf("element %d is null; make it an object", i)
		}
		places.Entries = append(places.Entries, placeOf(row, i))
	}
	places.Columns = sayableColumns(places.Entries)
	return places, nil
}

// Save puts the places into the data source.
func (p Places) Save(ctx context.Context, data datasource.Operations) error {
	_, err := data.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: placesID,
		Data:         p.Entries,
	})
	return err
}

// placeOf returns the entry for a row. Unknown values, "?" and null, are omitted.
func placeOf(row document.Object, index int) document.Object {
	entry := document.O()
	for column, value := range row.All() {
		if value != "?" && value != nil {
			entry = entry.With(column, value)
		}
	}
	if document.Get(entry, "name", "") == "" {
		entry = entry.With("name", fmt.Sprintf("Place %d", index+1))
	}
	pair := document.Get(row, "location", []float64(nil))
	if len(pair) == 2 && isOnGlobe(pair[1], pair[0]) {
		entry = entry.With("location", point(pair[1], pair[0]))
	}
	return entry.With(columnSeatsFree, document.Get(row, "seats", seatsOfOthers))
}

func point(longitude, latitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, latitude))
}

func isOnGlobe(longitude, latitude float64) bool {
	return -180 <= longitude && longitude <= 180 && -90 <= latitude && latitude <= 90
}

// sayableColumns returns the columns, except the name, with a few different short texts, such as kinds, areas
// and prices, but not with prose.
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

// isSayable reports whether guests may say a value to mean the column. Numbers, yes and no are excluded.
func isSayable(value string) bool {
	hasLetter := strings.ContainsFunc(value, unicode.IsLetter)
	hasDigit := strings.ContainsFunc(value, unicode.IsDigit)
	return hasLetter && !hasDigit && value != "yes" && value != "no"
}
