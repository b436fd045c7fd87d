package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// listed is how many places a list shows.
const listed = 5

// columnMetres is where entries of a geo query have their distance.
const columnMetres = "metres"

// place is a place that was spoken of.
type place struct {
	ID   any    `json:"id"`
	Name string `json:"name"`
}

// find answers a message that looks for places, or names one.
func (c Concierge) find(ctx context.Context, bot *botctx.Context, said said) error {
	named, err := namedPlace(ctx, bot, said)
	if err != nil {
		return err
	}
	if !named.IsZero() {
		return c.describe(ctx, bot, named)
	}
	wanted, changed, err := c.wanted(ctx, bot, said)
	if err != nil {
		return err
	}
	if !changed && !said.has("all", "any", "anything", "everything", "places") {
		return reply(ctx, bot, helpText)
	}
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		DataSourceID: placesID,
		Filter:       wanted,
		SortBy:       document.O("name", 1),
	})
	if err != nil {
		return err
	}
	return c.list(ctx, bot, found.Entries)
}

// near answers a message that looks for places near the guest.
func (c Concierge) near(ctx context.Context, bot *botctx.Context, said said) error {
	wanted, _, err := c.wanted(ctx, bot, said)
	if err != nil {
		return err
	}
	here := document.Get(bot.Member.Meta, "location", document.Object{})
	if here.IsZero() {
		return ask(ctx, bot, "location", "Where are you? Name a place (I am at ...), or give latitude and longitude.")
	}
	query := document.O("near", here, "key", "location", "query", wanted,
		"limit", listed, "distanceField", columnMetres)
	if said.within > 0 {
		query = query.With("maxDistance", said.within)
	}
	found, err := bot.FetchGeoNearFromDataSource(ctx, datasource.FetchGeoNearFromDataSourceParams{
		DataSourceID: placesID,
		Data:         query,
	})
	if err != nil {
		return err
	}
	return c.list(ctx, bot, found.Entries)
}

// locate saves where the guest is: at a place of the city, or at a latitude and
// longitude.
func (c Concierge) locate(ctx context.Context, bot *botctx.Context, said said) error {
	here, problem, err := location(ctx, bot, said)
	if err != nil {
		return err
	}
	if problem != "" {
		return ask(ctx, bot, "location", problem)
	}
	wasAsked := document.Get(bot.Member.Meta, "asked", "") == "location"
	if err := remember(ctx, bot, document.Set("meta.location", here, "meta.asked", nil)); err != nil {
		return err
	}
	if wasAsked {
		return c.near(ctx, bot, understand("near me"))
	}
	return reply(ctx, bot, "Good, I know where you are. Ask me what is near you.")
}

// location returns where a message says that the guest is, or what to ask instead.
func location(ctx context.Context, bot *botctx.Context, said said) (here document.Object, problem string, err error) {
	if said.located {
		if !isOnGlobe(said.longitude, said.latitude) {
			return here, "Latitudes go from -90 to 90 and longitudes from -180 to 180. Where are you?", nil
		}
		return point(said.longitude, said.latitude), "", nil
	}
	at, err := namedPlace(ctx, bot, said)
	if err != nil {
		return here, "", err
	}
	here = document.Get(at, "location", document.Object{})
	if here.IsZero() {
		return here, "I do not know where that is. Name another place, or give latitude and longitude.", nil
	}
	return here, "", nil
}

// wanted returns the values that the guest looks for, by column, which is the filter
// of the query as well. Those of this message are added; to name another type of place
// begins anew. They are saved on the member.
func (c Concierge) wanted(ctx context.Context, bot *botctx.Context, said said) (wanted document.Object, changed bool, err error) {
	values, err := c.valuesIn(ctx, bot, said)
	if err != nil {
		return wanted, false, err
	}
	wanted = document.Get(bot.Member.Meta, "wanted", document.O())
	if values.Has("type") {
		wanted = document.O()
	}
	for column, value := range values.All() {
		wanted = wanted.With(column, value)
	}
	if values.Len() == 0 {
		return wanted, false, nil
	}
	return wanted, true, remember(ctx, bot, document.Set("meta.wanted", wanted))
}

// valuesIn returns the values of columns that a message holds: for each column the
// longest, and none for two columns.
func (c Concierge) valuesIn(ctx context.Context, bot *botctx.Context, said said) (document.Object, error) {
	values, taken := document.O(), map[string]bool{}
	for _, column := range c.Columns {
		longest, err := longestIn(ctx, bot, column, func(value string) bool {
			return isSayable(value) && said.hasValue(value)
		})
		if err != nil {
			return values, err
		}
		if longest != "" && !taken[longest] {
			values, taken[longest] = values.With(column, longest), true
		}
	}
	return values, nil
}

// longestIn returns the longest text in a column that is meant, "" where none is.
func longestIn(ctx context.Context, bot *botctx.Context, column string, isMeant func(string) bool) (string, error) {
	values, err := bot.FetchDistinctDataFromDataSource(ctx, datasource.FetchDistinctDataFromDataSourceParams{
		DataSourceID: placesID,
		Key:          column,
	})
	if err != nil {
		return "", err
	}
	longest := ""
	for _, value := range values.Entries {
		if text, ok := value.(string); ok && len(text) > len(longest) && isMeant(text) {
			longest = text
		}
	}
	return longest, nil
}

// namedPlace returns the place that a message names, by its name or by its number in
// the last list, and the zero Object where it names none.
func namedPlace(ctx context.Context, bot *botctx.Context, said said) (document.Object, error) {
	name, err := longestIn(ctx, bot, "name", said.hasName)
	if err != nil {
		return document.Object{}, err
	}
	filter := document.O("name", name)
	if name == "" {
		found := document.Get(bot.Member.Meta, "found", []any(nil))
		if said.number < 1 || said.number > len(found) {
			return document.Object{}, nil
		}
		filter = document.O("_id", found[said.number-1])
	}
	places, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		DataSourceID: placesID,
		Filter:       filter,
	})
	if err != nil || len(places.Entries) == 0 {
		return document.Object{}, err
	}
	return places.Entries[0], nil
}

// list shows the first places of a list, and remembers them by their numbers.
func (c Concierge) list(ctx context.Context, bot *botctx.Context, found []document.Object) error {
	shown := found[:min(len(found), listed)]
	ids, lines := document.A(), []string{fmt.Sprintf("I found %s:", places(len(found), len(shown)))}
	for i, entry := range shown {
		id, _ := entry.Field("_id")
		ids = ids.Append(id)
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, c.line(entry)))
	}
	spokenOf := any(nil)
	if len(shown) == 1 {
		spokenOf = placeIn(shown[0])
	}
	if err := remember(ctx, bot, turnTo(document.O("meta.found", ids, "meta.place", spokenOf))); err != nil {
		return err
	}
	if len(shown) == 0 {
		return reply(ctx, bot, "I know no such place. Say less, or \"start over\".")
	}
	return reply(ctx, bot, "%s", strings.Join(lines, "\n"))
}

// places says how many places there are and how many are shown.
func places(found, shown int) string {
	switch found {
	case 1:
		return "1 place"
	case shown:
		return fmt.Sprintf("%d places", found)
	default:
		return fmt.Sprintf("%d places, the first %d are", found, shown)
	}
}

// line describes a place in a list.
func (c Concierge) line(entry document.Object) string {
	var values []string
	for _, column := range c.Columns {
		if value := document.Get(entry, column, ""); isSayable(value) {
			values = append(values, value)
		}
	}
	if metres, ok := entry.Field(columnMetres); ok {
		values = append(values, fmt.Sprintf("%.0f m", metres))
	}
	line := document.Get(entry, "name", "")
	if len(values) > 0 {
		line += " (" + strings.Join(values, ", ") + ")"
	}
	return line
}

// describe tells what is known of a place.
func (c Concierge) describe(ctx context.Context, bot *botctx.Context, entry document.Object) error {
	if err := remember(ctx, bot, turnTo(document.O("meta.place", placeIn(entry)))); err != nil {
		return err
	}
	lines := []string{document.Get(entry, "name", "")}
	for column, value := range entry.All() {
		switch column {
		case "_id", "createdAt", "updatedAt", "name", "location", "seats", columnSeatsFree, columnBookings:
		default:
			lines = append(lines, fmt.Sprintf("  %s: %v", column, value))
		}
	}
	free := document.Get(entry, columnSeatsFree, 0)
	return reply(ctx, bot, "%s\n  %d seats are free tonight.", strings.Join(lines, "\n"), free)
}

// turnTo returns the change of a member who turns to something else: a booking that was
// being made is dropped.
func turnTo(values document.Object) document.Object {
	return document.O("$set", values, "$unset", document.O("meta.booking", "", "meta.asked", ""))
}

// placeIn returns what is remembered of an entry.
func placeIn(entry document.Object) place {
	id, _ := entry.Field("_id")
	return place{ID: id, Name: document.Get(entry, "name", "")}
}
