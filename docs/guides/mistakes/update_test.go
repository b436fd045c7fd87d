package mistakes_test

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/member"
)

// addPoint adds a point in one operation.
func addPoint(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: "teams", Filter: document.O("_id", "red"), Patch: document.Inc("points", 1), WithModifier: true,
	})
	return err
}

// readAndAddPoint adds a point in two operations: points that others add in between are lost.
func readAndAddPoint(ctx context.Context, bot *botctx.Context) error {
	read, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: "teams", Filter: document.O("_id", "red"),
	})
	if err != nil {
		return err
	}
	_, err = bot.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: "teams", Filter: document.O("_id", "red"),
		Patch: document.O("points", document.Get(read.Entries[0], "points", 0)+1),
	})
	return err
}

func teams(add botctx.Action) []*botctx.Node {
	return []*botctx.Node{{ID: "point", Trigger: botctx.TextIs("point"), Pre: botctx.Do(add), Responses: botctx.Say("Counted.")}}
}

// lostUpdate is a mistake that shows if members add to the same counter at the same time.
func lostUpdate() mistake {
	return mistake{
		right: teams(addPoint), wrong: teams(readAndAddPoint),
		test: func(t tester, nodes []*botctx.Node) {
			explore.Orders(t, 20, func(t *explore.T, p *fakes.Platform) {
				p.Handle(nodes...)
				p.AddData("teams", document.O("_id", "red", "points", 0))
				ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
				t.Go("Ada", func() { ada.Says("point") })
				t.Go("Bob", func() { bob.Says("point") })
				t.Wait()
				require.Equal(t, 2, document.Get(p.Data("teams")[0], "points", 0), "both have counted")
			})
		},
		tells: "both have counted",
	}
}
