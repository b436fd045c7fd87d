package main

import (
	"fmt"
	"slices"
)

// site is the address of the shop's pages.
const site = "https://fern-and-fig.example"

// bouquet is what the shop sells.
type bouquet struct {
	ID, Name string
	Cents    int64
}

var bouquets = []bouquet{
	{ID: "tulips", Name: "Tulips", Cents: 19_00},
	{ID: "peonies", Name: "Peonies", Cents: 32_50},
}

var ofTheWeek = bouquet{ID: "mimosa", Name: "Mimosa and figs", Cents: 27_00}

// page and picture are where the bouquet is shown.
func (b bouquet) page() string    { return site + "/" + b.ID }
func (b bouquet) picture() string { return site + "/" + b.ID + ".jpg" }

// bouquetWith returns the bouquet with an id.
func bouquetWith(id any) (bouquet, bool) {
	at := slices.IndexFunc(bouquets, func(b bouquet) bool { return b.ID == id })
	if at < 0 {
		return bouquet{}, false
	}
	return bouquets[at], true
}

// priceOf returns a number of cents as customers read it.
func priceOf(cents int64) string { return fmt.Sprintf("%d.%02d EUR", cents/100, cents%100) }
