package chaostest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// Counted is the id of the member for whom events, agendas and redirects count up.
const Counted = "counted"

// Where it is counted: in the member, and in an entry of a data source.
const (
	pathCount  = "count"
	counters   = "counters"
	nodeCount  = "count"
	fieldCount = "count"
)

// nodes are those that redirects and agendas run.
func (*worker) nodes() []*botctx.Node {
	return []*botctx.Node{{ID: nodeCount, Entry: true, Pre: []botctx.Action{countUp}}}
}

// countUp reads how far it was counted, and writes one more.
func countUp(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: counters})
	if err != nil {
		return err
	}
	soFar := document.Get(found.Entries[0], fieldCount, 0)
	_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: counters, Filter: document.O(fieldCount, document.O("$exists", true)), Patch: document.Set(fieldCount, soFar+1),
	})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set(pathCount, document.Get(bot.Member.Meta, pathCount, 0)+1)
	return nil
}

// Prepare makes the channel of the events, and with it the member Counted with a number of agendas that
// count up and are due.
func Prepare(t *testing.T, database store.Store, agendas int) {
	t.Helper()
	require.NoError(t, botctx.EnsureIndexes(t.Context(), database))
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	own := record.Scope{App: app, Channel: channelID, Member: Counted}
	channels := channels.New(runtime.Env(), own)
	_, err = channels.Save(t.Context(), &channel.Channel{ID: channelID, App: app, Type: channel.Webchat, On: true})
	require.NoError(t, err)
	_, err = members.New(runtime.Env(), own, channels).Insert(t.Context(),
		member.Member{ID: Counted, App: app, Channel: channelID, ExternalID: Counted})
	require.NoError(t, err)
	bot := runtime.Operations(own)
	_, err = bot.UpsertDataToDataSource(t.Context(), datasource.UpsertDataToDataSourceParams{
		DataSourceID: counters, Data: document.One(document.O(fieldCount, 0)),
	})
	require.NoError(t, err)
	now, err := database.Now(t.Context())
	require.NoError(t, err)
	for range agendas {
		_, err = bot.NewAgenda(t.Context(), agenda.NewAgendaParams{
			MemberID: Counted, NodeCompositeID: nodeCount, NextRunAt: document.TimestampOf(now.Add(time.Millisecond)),
		})
		require.NoError(t, err)
	}
}

// RequireCount checks how far was counted.
func RequireCount(t *testing.T, database store.Store, want int) {
	t.Helper()
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	bot, err := runtime.Context(t.Context(), record.Scope{App: app, Channel: channelID, Member: Counted})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(bot.Member.Meta, pathCount, 0), "in the member")
	found, err := bot.FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{DataSourceID: counters})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(found.Entries[0], fieldCount, 0), "in the data source")
}
