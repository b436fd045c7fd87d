package otel_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// claim takes a coupon and schedules a reminder.
func claim(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true),
	})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set("coupon", "SPRING")
	_, err = bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.At(bot.Now().Add(time.Hour)),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Your code: SPRING"))
}

func TestTheSpansOfAConversationMakeATree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.runtime.Handle(
		&botctx.Node{ID: "coupon", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("coupon"), Pre: []botctx.Action{claim}},
		&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Still yours")}},
	))
	require.NoError(t, w.says(t.Context(), "coupon"))
	require.Equal(t, ``, w.tree())

	w.advance(time.Hour + 2*time.Minute)
	result, err := w.runtime.Scheduler().RunNext(t.Context())
	require.NoError(t, err)
	require.True(t, result.Ran)
	require.NoError(t, result.Err)
	require.Equal(t, ``, w.tree())
	require.Equal(t, []string{}, w.points())
}
