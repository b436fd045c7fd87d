package main

import (
	_ "embed"

	"github.com/botctx/go-sdk/document"
)

// placesID is the data source of the city's places.
const placesID = "places"

// columnSeatsFree is the column of the seats that a place has left tonight. Bookings decrease it.
const columnSeatsFree = "seatsFree"

// columns are the columns of the places whose values guests may say.
var columns = []string{"type", "food", "area", "pricerange"}

// cityPlaces are the places of a small invented city, as a JSON array of objects. A location is a GeoJSON point.
//
//go:embed places.json
var cityPlaces []byte

// readPlaces returns the places of the city, with their free seats.
func readPlaces() ([]document.Object, error) {
	var places []document.Object
	if err := document.DecodeJSON(cityPlaces, &places); err != nil {
		return nil, err
	}
	for i, place := range places {
		places[i] = place.With(columnSeatsFree, document.Get(place, "seats", 0))
	}
	return places, nil
}

func point(longitude, latitude float64) document.Object {
	return document.O("type", "Point", "coordinates", document.A(longitude, latitude))
}

func isOnGlobe(longitude, latitude float64) bool {
	return -180 <= longitude && longitude <= 180 && -90 <= latitude && latitude <= 90
}
