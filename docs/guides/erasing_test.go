package guides_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

const app = fakes.DefaultApp

// forget removes everything about a member of the shop: first the bot's records, then the SDK's.
func forget(ctx context.Context, rt *botctx.Runtime, memberID string) (orders int64, rest botctx.Erased, err error) {
	orders, err = rt.EraseEntries(ctx, app, datasource.EraseEntriesParams{
		DataSourceID: "orders", Filter: document.O("member", memberID),
	})
	if err != nil {
		return orders, rest, err
	}
	rest, err = rt.EraseMember(ctx, app, memberID)
	return orders, rest, err
}

// forgetOldOrders removes the orders that have not changed for two years.
func forgetOldOrders(ctx context.Context, rt *botctx.Runtime) (int64, error) {
	return rt.EraseEntries(ctx, app, datasource.EraseEntriesParams{
		DataSourceID: "orders", OlderThan: 2 * 365 * 24 * time.Hour,
	})
}

// thoseWith returns the ids of the members of the shop that have a tag.
func thoseWith(ctx context.Context, rt *botctx.Runtime, tag string) ([]string, error) {
	var ids []string
	for m, err := range rt.Members(ctx, app, member.Selection{Tag: tag}) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, m.ID)
	}
	return ids, nil
}

func TestForget(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(helpdesk()...)
	p.AddChannel(inlet())
	p.AddChannel(outlet())
	p.Pair("web", "desk")
	ada := p.AddMember(member.Member{Channel: "web", FirstName: "Ada", Tags: document.A("asked to be forgotten")})
	bob := p.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	p.AddData("orders",
		document.O("member", ada.ID()), document.O("member", ada.ID()), document.O("member", bob.ID()))
	ada.Says("a person, please")
	bob.Says("a person, please")

	asked, err := thoseWith(t.Context(), p.Runtime(), "asked to be forgotten")
	require.NoError(t, err)
	require.Equal(t, []string{ada.ID()}, asked)
	orders, rest, err := forget(t.Context(), p.Runtime(), ada.ID())
	require.NoError(t, err)
	require.Equal(t, int64(2), orders)
	require.True(t, rest.Member)
	require.Equal(t, int64(1), rest.Assignments)

	orders, rest, err = forget(t.Context(), p.Runtime(), ada.ID())
	require.NoError(t, err)
	require.Zero(t, orders)
	require.Zero(t, rest, "a second call finds nothing")
	_, rest, err = forget(t.Context(), p.Runtime(), bob.ID())
	require.NoError(t, err)
	require.Equal(t, int64(1), rest.Assignments, "what is Bob's was still there")
	old, err := forgetOldOrders(t.Context(), p.Runtime())
	require.NoError(t, err)
	require.Zero(t, old)
}
