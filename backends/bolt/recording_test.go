package bolt_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// callSome calls operations that write, read, find nothing and fail.
func callSome(t *testing.T, bot botctx.Operations, now time.Time, memberID string) {
	t.Helper()
	ctx := t.Context()
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{DataSourceID: "orders", Data: []document.Object{
		document.O("of", memberID, "cents", 2500), document.O("of", memberID, "cents", 900),
	}})
	require.NoError(t, err)
	for range 3 {
		_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: "orders", Filter: document.O("paid", document.O("$exists", false)), SortBy: document.O("cents", 1),
			Patch: document.Set("paid", true),
		})
		require.NoError(t, err)
	}
	_, err = bot.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: "orders", SortBy: document.O("cents", -1)})
	require.NoError(t, err)
	_, err = bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: memberID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(now.Add(time.Hour)), Tag: "order",
	})
	require.NoError(t, err)
	_, err = bot.PatchMembers(ctx, member.PatchMembersParams{Filter: document.O("_id", memberID), Patch: document.O("meta", document.O("seen", true))})
	require.NoError(t, err)
	_, err = bot.GetMember(ctx, member.GetMemberParams{MemberID: memberID})
	require.NoError(t, err)
	_, err = bot.GetMember(ctx, member.GetMemberParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Thank you.")})
	require.NoError(t, err)
}

// What a host over a file answered, the platform in memory answers, and a replay.
func TestRecording_OfAHost(t *testing.T) {
	t.Parallel()
	host := fakes.New(fakes.For(t), fakes.StartAt(fakes.Start().Add(1000*time.Hour)), fakes.Config(func(c *botctx.Config) {
		c.Store, c.NewID, c.DeriveID = open(t, newPath(t), bolt.WithNow(c.Now)), nil, nil // Its ids are those of production.
	}))
	eve := host.AddMember(member.Member{FirstName: "Ada", ExternalID: "x-1"})
	var file bytes.Buffer
	recorder := recording.New(&file, host.Now)
	callSome(t, recorder.Operations(eve.Context(), eve.Scope()), host.Now(), eve.ID())
	require.NoError(t, recorder.Err())
	recorded, err := recording.Read("host.jsonl", &file)
	require.NoError(t, err)
	require.Len(t, recorded.Calls, 10)

	memory := fakes.New(fakes.For(t))
	memory.Handle(&botctx.Node{ID: "reminder", Entry: true, Responses: botctx.Say("Still yours.")})
	ada := memory.AddMember(member.Member{FirstName: "Ada", ExternalID: "x-1"})
	differences, err := recorded.Check(t.Context(), recording.Check{
		Door: func(scope record.Scope) botctx.Caller { return memory.Operations(scope) },
		IDs:  map[string]string{eve.ID(): ada.ID(), eve.Scope().Channel: ada.Scope().Channel},
		Now:  memory.Now, Advance: memory.Advance,
	})
	require.NoError(t, err)
	require.Empty(t, differences.String())
	require.Equal(t, "Thank you.", ada.Last())

	replay := recorded.Replay()
	callSome(t, replay.Operations(eve.Scope()), host.Now(), eve.ID())
	require.Empty(t, replay.Left())
}
