package datasource_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func Example() {
	ctx := context.Background()
	p := fakes.New()
	p.AddData("places", document.O("name", "Museum", "stars", 3), document.O("name", "Harbour", "stars", 5))
	bot := p.AddMember(member.Member{}).Context()

	best, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{
		DataSourceID: "places",
		Filter:       document.O("stars", document.O("$gte", 4)),
		SortBy:       document.O("stars", -1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, place := range best.Entries {
		fmt.Println(document.Get(place, "name", ""))
	}
	// Output:
	// Harbour
}
