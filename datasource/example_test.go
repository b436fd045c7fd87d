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

	best, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
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

func ExampleFetch() {
	type place struct {
		Name  string `json:"name"`
		Stars int    `json:"stars"`
	}
	ctx := context.Background()
	p := fakes.New()
	p.AddData("places", document.O("name", "Museum", "stars", 3), document.O("name", "Harbour", "stars", 5))
	bot := p.AddMember(member.Member{}).Context()

	best, err := datasource.Fetch[place](ctx, bot, datasource.FetchParams{
		DataSourceID: "places", SortBy: document.O("stars", -1),
	})
	fmt.Println(best, err)
	// Output:
	// [{Harbour 5} {Museum 3}] <nil>
}

func ExampleFindAndModify() {
	type coupon struct {
		Code string `json:"code"`
	}
	ctx := context.Background()
	p := fakes.New()
	p.AddData("coupons", document.O("code", "SPRING", "taken", false))
	bot := p.AddMember(member.Member{}).Context()

	for range 2 {
		taken, err := datasource.FindAndModify[coupon](ctx, bot, datasource.FindAndModifyParams{
			DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true),
		})
		switch {
		case err != nil:
			fmt.Println(err)
		case taken == nil:
			fmt.Println("all gone")
		default:
			fmt.Println(taken.Code)
		}
	}
	// Output:
	// SPRING
	// all gone
}
