package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
)

// listed is the number of places in a list.
const listed = 5

// maxNameLength bounds the characters of a place's name in a message.
const maxNameLength = 200

// columnMetres is the column of the distance in the entries of a geo query.
const columnMetres = "metres"

type place struct {
	ID   any    `json:"id"`
	Name string `json:"name"`
}

func namesPlace(ctx context.Context, bot *botctx.Context) (bool, error) {
	named, err := namedPlace(ctx, bot)
	return !named.IsZero(), err
}

// looksForPlaces matches messages with values of columns, or that ask for any place.
func looksForPlaces(ctx context.Context, bot *botctx.Context) (bool, error) {
	values, err := values(ctx, bot)
	return values.Len() > 0 || heard(bot).has("all", "any", "anything", "everything", "places"), err
}

func find(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: placesID,
		Filter:       wanted(bot),
		SortBy:       document.O("name", 1),
	})
	if err != nil {
		return err
	}
	return list(ctx, bot, found.Entries)
}

// goOnNearby asks for the guest's location, if it is not known yet.
func goOnNearby(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	if !bot.Member.Meta.Has("location") {
		return botctx.GoTo("where?")
	}
	return botctx.GoTo("nearby")
}

// findNearby lists the places that the guest looks for, the nearest first.
func findNearby(ctx context.Context, bot *botctx.Context) error {
	query := document.O("near", document.Get(bot.Member.Meta, "location", document.Object{}), "key", "location",
		"query", wanted(bot), "limit", listed, "distanceField", columnMetres)
	if within := heard(bot).within; within > 0 {
		query = query.With("maxDistance", within)
	}
	found, err := bot.FetchGeoNearFromDataSource(ctx, datasource.FetchGeoNearParams{
		DataSourceID: placesID,
		Data:         query,
	})
	if err != nil {
		return err
	}
	return list(ctx, bot, found.Entries)
}

// askWhere asks for the guest's location, in the words of the redirect, if it has any.
func askWhere(ctx context.Context, bot *botctx.Context) error {
	const usual = "Where are you? Name a place (I am at ...), or give latitude and longitude."
	return reply(ctx, bot, "%s", document.Get(bot.AgendaMeta, "question", usual))
}

// toLocated continues once the guest has told the location.
func toLocated() botctx.Redirector { return botctx.ToOneOf(locate, "where?", "nearby", "located") }

// locate saves the guest's location: at a place of the city, or at a latitude and longitude. If the bot asked
// for it, the conversation continues with nearby places.
func locate(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
	here, problem, err := location(ctx, bot)
	if err != nil {
		return nil, err
	}
	if problem != "" {
		return &botctx.Redirect{NodeCompositeID: "where?", Meta: document.O("question", problem)}, nil
	}
	bot.Member.Meta.Set("location", here)
	if bot.Member.BotMeta.NodeCompositeID() == "where?" {
		return botctx.GoTo("nearby")
	}
	return botctx.GoTo("located")
}

// location returns the guest's location in a message. If it is unclear, problem is the question to ask.
func location(ctx context.Context, bot *botctx.Context) (here document.Object, problem string, err error) {
	if said := heard(bot); said.located {
		if !isOnGlobe(said.longitude, said.latitude) {
			return here, "Latitudes go from -90 to 90 and longitudes from -180 to 180. Where are you?", nil
		}
		return point(said.longitude, said.latitude), "", nil
	}
	at, err := namedPlace(ctx, bot)
	if err != nil {
		return here, "", err
	}
	here = document.Get(at, "location", document.Object{})
	if here.IsZero() {
		return here, "I do not know where that is. Name another place, or give latitude and longitude.", nil
	}
	return here, "", nil
}

// wanted returns the values that the guest looks for, by column, which are also the filter of the query.
func wanted(bot *botctx.Context) document.Object {
	return document.Get(bot.Member.Meta, "wanted", document.O())
}

// saveWanted adds the values of a message to the guest's search. Another type of place begins a new search.
func saveWanted(ctx context.Context, bot *botctx.Context) error {
	values, err := values(ctx, bot)
	if err != nil || values.Len() == 0 {
		return err
	}
	wanted := wanted(bot)
	if values.Has("type") {
		wanted = document.O()
	}
	for column, value := range values.All() {
		wanted = wanted.With(column, value)
	}
	bot.Member.Meta.Set("wanted", wanted)
	return nil
}

// values returns the values of columns that the guest's message holds.
func values(ctx context.Context, bot *botctx.Context) (document.Object, error) {
	return once(bot, "values", func() (document.Object, error) { return valuesIn(ctx, bot, heard(bot)) })
}

// valuesIn returns the column values in a message: for each column the longest one. A text counts for only one column.
func valuesIn(ctx context.Context, bot *botctx.Context, said said) (document.Object, error) {
	values, taken := document.O(), map[string]bool{}
	for _, column := range columns {
		longest, err := longestIn(ctx, bot, column, said.hasValue)
		if err != nil {
			return values, err
		}
		if longest != "" && !taken[longest] {
			values, taken[longest] = values.With(column, longest), true
		}
	}
	return values, nil
}

// longestIn returns the longest text of a column for which isMeant is true, or "" if there is none.
func longestIn(ctx context.Context, bot *botctx.Context, column string, isMeant func(string) bool) (string, error) {
	values, err := bot.FetchDistinctDataFromDataSource(ctx, datasource.FetchDistinctParams{
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

// namedPlace returns the place that the guest's message names, by its name or by its number in the last list,
// and the zero Object if it names none.
func namedPlace(ctx context.Context, bot *botctx.Context) (document.Object, error) {
	return once(bot, "place", func() (document.Object, error) { return placeNamed(ctx, bot, heard(bot)) })
}

func placeNamed(ctx context.Context, bot *botctx.Context, said said) (document.Object, error) {
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
	places, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: placesID,
		Filter:       filter,
	})
	if err != nil || len(places.Entries) == 0 {
		return document.Object{}, err
	}
	return places.Entries[0], nil
}

// list shows the first places of a list, and remembers them by their numbers.
func list(ctx context.Context, bot *botctx.Context, found []document.Object) error {
	shown := found[:min(len(found), listed)]
	ids, lines := document.A(), []string{fmt.Sprintf("I found %s:", places(len(found), len(shown)))}
	for i, entry := range shown {
		id, _ := entry.Field("_id")
		ids = ids.Append(id)
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, line(entry)))
	}
	bot.Member.Meta.Set("found", ids)
	var spokenOf place
	if len(shown) == 1 {
		spokenOf = placeIn(shown[0])
	}
	turnTo(bot, spokenOf)
	if len(shown) == 0 {
		return reply(ctx, bot, "I know no such place. Say less, or \"start over\".")
	}
	return reply(ctx, bot, "%s", strings.Join(lines, "\n"))
}

// places describes the number of places, and of the shown ones.
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

func line(entry document.Object) string {
	var values []string
	for _, column := range columns {
		if value := document.Get(entry, column, ""); value != "" {
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

// describe describes the named place.
func describe(ctx context.Context, bot *botctx.Context) error {
	entry, err := namedPlace(ctx, bot)
	if err != nil {
		return err
	}
	turnTo(bot, placeIn(entry))
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

// placeIn returns the remembered fields of an entry.
func placeIn(entry document.Object) place {
	id, _ := entry.Field("_id")
	return place{ID: id, Name: cut(document.Get(entry, "name", ""), maxNameLength)}
}
