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
		MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)),
	})
	if err != nil {
		return err
	}
	return bot.Reply(ctx, send.Text("Your code: SPRING"))
}

func TestTrace_TreeOfAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, w.runtime.Handle(
		&botctx.Node{ID: "coupon", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("coupon"), Pre: []botctx.Action{claim}},
		&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("Still yours")}},
	))
	require.NoError(t, w.says(t.Context(), "coupon"))
	require.Equal(t, `process webchat (consumer) botctx.app.id=shop botctx.message.type=TEXT messaging.destination.name=web messaging.message.id=in-1 messaging.operation.name=process messaging.operation.type=process messaging.system=webchat
  find channels (client) db.collection.name=channels db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find groups (client) db.collection.name=groups db.operation.name=find db.response.returned_rows=0 db.system.name=memstore
  findAndModifyDataFromDataSource (internal) botctx.app.id=shop botctx.channel.id=web botctx.channel.type=webchat botctx.operation=findAndModifyDataFromDataSource enduser.pseudo.id=ada
    findAndModify data (client) db.collection.name=data/shop/coupons db.operation.name=findAndModify db.system.name=memstore
  newAgenda (internal) botctx.app.id=shop botctx.channel.id=web botctx.channel.type=webchat botctx.operation=newAgenda enduser.pseudo.id=ada
    find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
    insert agendas (client) db.collection.name=agendas db.operation.name=insert db.system.name=memstore
  sendResponse (internal) botctx.app.id=shop botctx.channel.id=web botctx.channel.type=webchat botctx.operation=sendResponse botctx.send.recipients=1 enduser.pseudo.id=ada
    find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
    send webchat (producer) botctx.app.id=shop botctx.message.type=TEXT messaging.destination.name=web messaging.message.id=out-1 messaging.operation.name=send messaging.operation.type=send messaging.system=webchat
  findAndModify members (client) db.collection.name=members db.operation.name=findAndModify db.system.name=memstore
`, w.tree())

	w.advance(time.Hour + 2*time.Minute)
	result, err := w.runtime.Scheduler().RunNext(t.Context())
	require.NoError(t, err)
	require.True(t, result.Ran)
	require.NoError(t, result.Err)
	require.Equal(t, `agenda reminder (internal) botctx.agenda.attempt=1 botctx.agenda.id=id-3 botctx.agenda.missed=0 botctx.agenda.outcome=finished botctx.app.id=shop botctx.channel.id=web botctx.node.id=reminder enduser.pseudo.id=ada
  find channels (client) db.collection.name=channels db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find agendas (client) db.collection.name=agendas db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  sendResponse (internal) botctx.app.id=shop botctx.channel.id=web botctx.channel.type=webchat botctx.operation=sendResponse botctx.send.recipients=1 enduser.pseudo.id=ada
    find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
    send webchat (producer) botctx.app.id=shop botctx.message.type=TEXT messaging.destination.name=web messaging.message.id=out-2 messaging.operation.name=send messaging.operation.type=send messaging.system=webchat
`, w.tree())
	require.Equal(t, []string{
		"botctx.agenda.lag: 1, 120s",
		"botctx.agenda.late: 1",
		"botctx.agenda.run.duration botctx.agenda.outcome=finished: 1, 0s",
		"botctx.operation.duration botctx.channel.type=webchat botctx.operation=findAndModifyDataFromDataSource: 1, 0s",
		"botctx.operation.duration botctx.channel.type=webchat botctx.operation=newAgenda: 1, 0s",
		"botctx.operation.duration botctx.channel.type=webchat botctx.operation=sendResponse: 2, 0s",
		"db.client.operation.duration db.collection.name=agendas db.operation.name=find db.system.name=memstore: 2, 0s",
		"db.client.operation.duration db.collection.name=agendas db.operation.name=findAndModify db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=agendas db.operation.name=insert db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=agendas db.operation.name=update db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=channels db.operation.name=find db.system.name=memstore: 6, 0s",
		"db.client.operation.duration db.collection.name=channels db.operation.name=insert db.system.name=memstore: 2, 0s",
		"db.client.operation.duration db.collection.name=data db.operation.name=findAndModify db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=groups db.operation.name=find db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=members db.operation.name=find db.system.name=memstore: 6, 0s",
		"db.client.operation.duration db.collection.name=members db.operation.name=findAndModify db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=members db.operation.name=insert db.system.name=memstore: 2, 0s",
		"messaging.client.operation.duration messaging.operation.name=send messaging.operation.type=send messaging.system=webchat: 2, 0s",
		"messaging.client.sent.messages messaging.operation.name=send messaging.operation.type=send messaging.system=webchat: 2",
		"messaging.process.duration messaging.operation.name=process messaging.operation.type=process messaging.system=webchat: 1, 0s",
	}, w.points())
}
