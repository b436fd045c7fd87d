package otel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

func TestConfig_GlobalProviders(t *testing.T) {
	t.Parallel()
	o, err := otel.New(otel.Config{})
	require.NoError(t, err)
	receive := o.Receive("webchat", func(context.Context, botctx.Inbound) error { return boterr.Conflict })
	require.ErrorIs(t, receive(t.Context(), botctx.Inbound{}), boterr.Conflict)
}

func TestTrace_RunBelongsToRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return nil })
	handler := w.o.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := w.says(r.Context(), "hi"); err != nil {
			t.Error(err)
		}
	}))
	for header, want := range map[string][2]string{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": {"0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"},
		"nonsense": {"", "0000000000000000"},
		"":         {"", "0000000000000000"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/inbound", http.NoBody)
		r.Header.Set("Traceparent", header)
		handler.ServeHTTP(httptest.NewRecorder(), r)
		spans := w.spans.GetSpans()
		w.spans.Reset()
		run := spans[len(spans)-1]
		require.Equal(t, "process webchat", run.Name)
		require.Equal(t, want[1], run.Parent.SpanID().String())
		if want[0] != "" {
			require.Equal(t, want[0], run.SpanContext.TraceID().String())
		}
	}
}

// letters accepts mails and files, or returns err.
type letters struct{ err error }

func (l letters) SendMail(context.Context, utility.Mail) error  { return l.err }
func (l letters) Put(context.Context, utility.StoredFile) error { return l.err }

func TestUtilities_AreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failure := errors.New("no answer")
	for _, want := range []error{nil, failure} {
		require.Equal(t, want, w.o.Mailer(letters{want}).SendMail(t.Context(), utility.Mail{
			ID: "m1", App: "shop", To: make([]mail.Address, 2), CC: make([]mail.Address, 1),
		}))
		require.Equal(t, want, w.o.ObjectStore(letters{want}).Put(t.Context(), utility.StoredFile{
			Key: "shop/c1/private", App: "shop", Channel: "c1", Content: &bytes.Buffer{},
		}))
	}
	require.Equal(t, `send email (producer) botctx.app.id=shop botctx.send.recipients=3 messaging.message.id=m1 messaging.operation.name=send messaging.operation.type=send messaging.system=email
put object (client) botctx.app.id=shop botctx.channel.id=c1 botctx.object_store.operation=put
send email (producer) Error Unavailable botctx.app.id=shop botctx.send.recipients=3 error.type=Unavailable messaging.message.id=m1 messaging.operation.name=send messaging.operation.type=send messaging.system=email
put object (client) Error Unavailable botctx.app.id=shop botctx.channel.id=c1 botctx.object_store.operation=put error.type=Unavailable
`, w.tree())
	require.Equal(t, []string{
		"botctx.object_store.operation.duration botctx.object_store.operation=put error.type=Unavailable: 1, 0s",
		"botctx.object_store.operation.duration botctx.object_store.operation=put: 1, 0s",
	}, named(w.points(), "botctx.object"))
	require.Contains(t, w.points(),
		"messaging.client.sent.messages messaging.operation.name=send messaging.operation.type=send messaging.system=email: 1")
}

func TestMetrics_DurationsInSeconds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bounds := map[string][]float64{}
	require.NoError(t, second(w.runtime.Operations(w.scope).GetMember(t.Context(), member.GetParams{MemberID: "ada"})))
	for _, m := range w.collect() {
		if data, ok := m.Data.(metricdata.Histogram[float64]); ok {
			require.Equal(t, "s", m.Unit)
			bounds[m.Name] = data.DataPoints[0].Bounds
		}
	}
	require.Equal(t, map[string][]float64{
		"botctx.operation.duration":    {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10},
		"db.client.operation.duration": {0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10},
	}, bounds)
}

// Operations and sends belong to their own run, even if several runs overlap.
func TestTrace_RunsAtOnce(t *testing.T) {
	t.Parallel()
	const members, turns = 8, 20
	w := newWorld(t)
	w.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
		if err != nil {
			return err
		}
		return bot.Reply(ctx, send.Text("hi"))
	})
	var at sync.WaitGroup
	for i := range members {
		at.Go(func() {
			for range turns {
				err := w.receive(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
					From: string(rune('a' + i)), Type: send.TypeText, Data: document.O("text", "hi"),
				}})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	at.Wait()
	inTrace := map[string]map[string]int{}
	memberOf := map[string]map[string]bool{}
	for _, span := range w.spans.GetSpans() {
		id := span.SpanContext.TraceID().String()
		if inTrace[id] == nil {
			inTrace[id], memberOf[id] = map[string]int{}, map[string]bool{}
		}
		inTrace[id][span.Name]++
		for _, a := range span.Attributes {
			if a.Key == "enduser.pseudo.id" {
				memberOf[id][a.Value.AsString()] = true
			}
		}
	}
	require.Len(t, inTrace, members*turns)
	for id, spans := range inTrace {
		for _, name := range []string{"process webchat", "getMember", "sendResponse", "send webchat"} {
			require.Equal(t, 1, spans[name], name)
		}
		require.Len(t, memberOf[id], 1)
	}
	require.Contains(t, w.points(), "botctx.operation.duration botctx.channel.type=webchat botctx.operation=getMember: 160, 0s")
}

func TestOperation_WithoutChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, second(w.runtime.Operations(botctx.Scope{App: "shop"}).GetMember(t.Context(), member.GetParams{MemberID: "ada"})))
	require.Contains(t, w.points(), "botctx.operation.duration botctx.operation=getMember: 1, 0s")
}

func TestConfig_MissingPartsStayMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Mailer, config.ObjectStore = w.o.Mailer(nil), w.o.ObjectStore(nil)
	})
	bot := w.runtime.Operations(w.scope)
	text := utility.EmailText{Data: "Hello"}
	_, err := bot.SendEmail(t.Context(), utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@orchard.example"}},
		Message:     utility.EmailMessage{Subject: text, Body: utility.EmailBody{Text: &text}},
	})
	require.ErrorIs(t, err, boterr.Unsupported)
	_, err = bot.UploadFileToObjectStore(t.Context(), utility.UploadFileToObjectStoreParams{
		Filename: "a.txt", ContentType: "text/plain", URL: "https://orchard.example/a.txt",
	})
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestConfig_WithoutStore(t *testing.T) {
	t.Parallel()
	store := newWorld(t).o.Store(nil, "memstore")
	require.Nil(t, store)
	_, err := botctx.New(botctx.Config{Store: store})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// Nil pointers and a nil handler stay unwrapped, so that botctx.New and the scheduler refuse them.
func TestConfig_NilPointersStayNil(t *testing.T) {
	t.Parallel()
	o := newWorld(t).o
	store := memstore.New()
	connectortest.RequireRefused(t, botctx.New, map[string]botctx.Config{
		"Store":             {Store: o.Store((*memstore.Store)(nil), "memstore")},
		"Mailer":            {Store: store, Mailer: o.Mailer((*mails)(nil))},
		"ObjectStore":       {Store: store, ObjectStore: o.ObjectStore((*mails)(nil))},
		"Connectors[alpha]": {Store: store, Connectors: o.Connectors(send.Connectors{channel.Alpha: (*platform)(nil)})},
	})
	around := o.Scheduler(botctx.SchedulerOptions{Around: func(agenda.Handler) agenda.Handler { return nil }}).Around
	require.Nil(t, around(func(context.Context, agenda.Run) error { return nil }))
}

type mails struct{}

func (*mails) SendMail(context.Context, utility.Mail) error { return nil }

func (*mails) Put(context.Context, utility.StoredFile) error { return nil }

func claim(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true),
	})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set("coupon", "SPRING")
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
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
    send webchat (producer) botctx.app.id=shop botctx.message.type=TEXT messaging.destination.name=web messaging.message.id=out-1 messaging.operation.name=send messaging.operation.type=send messaging.system=webchat
  findAndModify members (client) db.collection.name=members db.operation.name=findAndModify db.system.name=memstore
`, w.tree())

	w.advance(time.Hour + 2*time.Minute)
	result, err := w.runtime.RunNextAgenda(t.Context())
	require.NoError(t, err)
	require.True(t, result.Ran)
	require.NoError(t, result.Err)
	require.Equal(t, `agenda reminder (internal) botctx.agenda.attempt=1 botctx.agenda.id=id-3 botctx.agenda.missed=0 botctx.agenda.outcome=finished botctx.app.id=shop botctx.channel.id=web botctx.node.id=reminder enduser.pseudo.id=ada
  find channels (client) db.collection.name=channels db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find members (client) db.collection.name=members db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  find agendas (client) db.collection.name=agendas db.operation.name=find db.response.returned_rows=1 db.system.name=memstore
  sendResponse (internal) botctx.app.id=shop botctx.channel.id=web botctx.channel.type=webchat botctx.operation=sendResponse botctx.send.recipients=1 enduser.pseudo.id=ada
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
		"db.client.operation.duration db.collection.name=members db.operation.name=find db.system.name=memstore: 4, 0s",
		"db.client.operation.duration db.collection.name=members db.operation.name=findAndModify db.system.name=memstore: 1, 0s",
		"db.client.operation.duration db.collection.name=members db.operation.name=insert db.system.name=memstore: 2, 0s",
		"messaging.client.operation.duration messaging.operation.name=send messaging.operation.type=send messaging.system=webchat: 2, 0s",
		"messaging.client.sent.messages messaging.operation.name=send messaging.operation.type=send messaging.system=webchat: 2",
		"messaging.process.duration messaging.operation.name=process messaging.operation.type=process messaging.system=webchat: 1, 0s",
	}, w.points())
}

// Texts that must not appear in spans and metrics.
const (
	plantedText      = "plum-pudding"
	plantedParameter = "quince-jelly"
	plantedError     = "rhubarb-pie"
	plantedPerson    = "e-ada"
	plantedName      = "Augusta"
	plantedMail      = "ada@orchard.example"
)

// spill calls operations with all of these texts, and panics at the end.
func spill(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertParams{
		DataSourceID: "diary", Data: document.OneOrMany[document.Object]{document.O("text", plantedText)},
	})
	if err != nil {
		return err
	}
	_, err = bot.CountDataSource(ctx, datasource.CountParams{
		DataSourceID: "diary", Filter: document.O("text", document.O("$"+plantedParameter, plantedParameter)),
	})
	if boterr.CodeOf(err) != boterr.InvalidArgument {
		return fmt.Errorf("the filter is refused: %w", err)
	}
	_, err = bot.PatchMembers(ctx, member.PatchParams{
		MemberID: "ada", Patch: document.Set("meta.answer", plantedParameter), WithModifier: true,
	})
	if err != nil {
		return err
	}
	_, err = bot.NewAgenda(ctx, agenda.NewParams{
		MemberID: "ada", NodeCompositeID: "spill", Tag: plantedParameter, Meta: document.O("note", plantedText),
		NextRunAt: document.TimestampOf(bot.Now()),
	})
	if err != nil {
		return err
	}
	_, err = bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{plantedMail}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: plantedText}, Body: utility.EmailBody{Text: &utility.EmailText{Data: plantedText}},
		},
	})
	if boterr.CodeOf(err) != boterr.Unavailable {
		return fmt.Errorf("the mail is not sent: %w", err)
	}
	if err := bot.Reply(ctx, send.Template("Dear {{firstName}}: "+plantedText)); err == nil {
		return errors.New("the reply is sent")
	}
	panic(plantedError + plantedText)
}

type mute struct{}

func (mute) SendMail(_ context.Context, mail utility.Mail) error {
	return fmt.Errorf("no answer for %s of %v with %s", plantedError, addresses(mail.To), credential)
}

func addresses(of []mail.Address) []string {
	texts := make([]string, len(of))
	for i, address := range of {
		texts[i] = address.String()
	}
	return texts
}

func TestSecrets_InNoSpanOrMetric(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) { config.Mailer = w.o.Mailer(mute{}) })
	require.NoError(t, w.runtime.Handle(&botctx.Node{
		ID: "spill", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs(plantedText), Pre: []botctx.Action{spill},
	}))
	w.platform.answers(boterr.New(boterr.NotFound, plantedParameter, "%s of %s: %s", plantedError, plantedPerson, credential))
	err := w.says(t.Context(), plantedText)
	require.ErrorIs(t, err, boterr.Internal)
	require.ErrorContains(t, err, plantedError, "the run comes to its end")
	w.advance(time.Hour)
	result, err := w.runtime.RunNextAgenda(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, result.Err, plantedError)
	_, err = w.runtime.Operations(botctx.Scope{App: "shop"}).GetMember(t.Context(), member.GetParams{MemberID: plantedParameter})
	require.ErrorIs(t, err, boterr.NotFound)

	var all strings.Builder
	for _, span := range w.spans.GetSpans() {
		fmt.Fprintf(&all, "%+v %s\n", span, listed(span.Attributes))
	}
	fmt.Fprintf(&all, "%+v\n%v", w.collect(), w.points())
	told := all.String()
	for _, known := range []string{"process webchat", "agenda spill", "sendEmail", "send email", "send webchat", "Unavailable", "sent.messages"} {
		require.Contains(t, told, known, "the search finds what is there")
	}
	for _, planted := range []string{
		credential, plantedText, plantedParameter, plantedError, plantedPerson, plantedName, plantedMail, "orchard",
	} {
		require.NotContains(t, told, planted)
	}
}
