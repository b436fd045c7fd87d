package recording_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
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

// shop is a platform with a member and some orders.
type shop struct {
	*fakes.Platform

	ada *fakes.Actor
}

// newShop returns a shop whose clock begins at a time, and whose ids are others than those of one with
// another number of members before.
func newShop(t *testing.T, start time.Time, before int) shop {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.StartAt(start))
	for range before {
		p.AddMember(member.Member{})
		p.AddData("others", document.O("n", 1))
	}
	p.AddData("orders", document.O("_id", "o-1", "left", 3), document.O("_id", "o-2", "left", 0))
	p.Handle(&botctx.Node{ID: "reminder", Responses: botctx.Say("Still yours."), Entry: true})
	return shop{p, p.AddMember(member.Member{FirstName: "Ada"})}
}

// work calls operations of several kinds.
func work(t *testing.T, bot botctx.Operations, now func() time.Time, memberID string) {
	t.Helper()
	ctx := t.Context()
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
		DataSourceID: "orders", Filter: document.O("left", document.O("$gt", 0)), Patch: document.Inc("left", -1),
	})
	require.NoError(t, err)
	_, err = bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
		DataSourceID: "bills", Data: []document.Object{document.O("of", memberID, "cents", 2500)},
	})
	require.NoError(t, err)
	made, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: memberID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(now().Add(time.Hour)), Tag: "order",
	})
	require.NoError(t, err)
	_, err = bot.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: memberID, Tag: "order"})
	require.NoError(t, err)
	require.NotEmpty(t, made.ID)
	_, err = bot.GetMember(ctx, member.GetMemberParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Thank you.")})
	require.NoError(t, err)
	_, err = bot.CountDataSource(ctx, datasource.CountDataSourceParams{DataSourceID: "bills"})
	require.NoError(t, err)
}

// recordedWork records work on a shop.
func recordedWork(t *testing.T, s shop) string {
	t.Helper()
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	work(t, recorder.Operations(s.ada.Context(), s.ada.Scope()), s.Now, s.ada.ID())
	require.NoError(t, recorder.Err())
	return out.String()
}

// read reads a recording.
func read(t *testing.T, text string) *recording.Recording {
	t.Helper()
	r, err := recording.Read("calls.jsonl", strings.NewReader(text))
	require.NoError(t, err)
	return r
}

func TestRecorder_Lines(t *testing.T) {
	t.Parallel()
	text := recordedWork(t, newShop(t, fakes.Start(), 0))
	lines := strings.Split(text, "\n")
	require.Equal(t, `{"recording":1}`, lines[0])
	require.True(t, strings.HasPrefix(lines[1], `{"n":1,"at":1767225600000,"scope":{"app":"app-1","channel":"channel-1","member":"member-1"},`+
		`"op":"findAndModifyDataFromDataSource","params":{"dataSourceId":"orders",`), lines[1])
	require.Contains(t, text, `,"error":{"op":"getMember","code":"NotFound","field":`)
	r := read(t, text)
	require.Len(t, r.Calls, 7)
	require.Equal(t, 8, r.Calls[6].Line)
	require.Equal(t, int64(1), r.Calls[6].Result)
}

// bare are operations without a door of JSON.
type bare struct{ botctx.Operations }

func TestRecorder_OfAnyOperations(t *testing.T) {
	t.Parallel()
	ofDoor := recordedWork(t, newShop(t, fakes.Start(), 0))
	s := newShop(t, fakes.Start(), 0)
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	work(t, recorder.Operations(bare{botctx.FromCaller(s.ada.Context())}, s.ada.Scope()), s.Now, s.ada.ID())
	require.Equal(t, ofDoor, out.String())
}

func TestRecorder_Intercept(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Interceptors = append(c.Interceptors, recording.New(&out, c.Now).Intercept)
	}))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: "nobody"})
		return errors.Join(bot.Reply(ctx, send.Text("Hi {{firstName}}")), err)
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	require.Error(t, ada.TrySays("hi"))
	r := read(t, out.String())
	require.Len(t, r.Calls, 2)
	require.Equal(t, botctx.OpGetMember, r.Calls[0].Op)
	require.Equal(t, boterr.NotFound, r.Calls[0].Err.Code)
	require.Equal(t, botctx.OpSendResponse, r.Calls[1].Op)
	require.Equal(t, ada.Scope(), r.Calls[1].Scope.Record())
}

// Calls at once have lines of their own.
func TestRecorder_AtOnce(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	var out bytes.Buffer
	recorder := recording.New(&out, s.Now)
	bot := recorder.Operations(s.ada.Context(), s.ada.Scope())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, err := bot.CountDataSource(t.Context(), datasource.CountDataSourceParams{DataSourceID: "orders"})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Len(t, read(t, out.String()).Calls, 20)
}

// broken is a file that takes no more.
type broken struct{ left int }

func (b *broken) Write(text []byte) (int, error) {
	b.left -= len(text)
	if b.left < 0 {
		return 0, errors.New("the disk is full")
	}
	return len(text), nil
}

func TestRecorder_ThatCannotWrite(t *testing.T) {
	t.Parallel()
	s := newShop(t, fakes.Start(), 0)
	recorder := recording.New(&broken{left: 500}, s.Now)
	work(t, recorder.Operations(s.ada.Context(), s.ada.Scope()), s.Now, s.ada.ID())
	require.ErrorContains(t, recorder.Err(), "the disk is full")
}

// secrets is a door whose answers hold credentials of each kind.
type secrets struct{}

// Call implements botctx.Caller.
func (secrets) Call(context.Context, string, []byte) (result []byte, err error) {
	return []byte(`{"accessToken":"hush-1","deep":[{"api_key":{"value":"hush-2"}}],"url":"https://me:hush-3@example.com/?token=hush-4",` +
		`"header":"Authorization: Bearer hush-5","odd":"x hush-6 y","name":"Ada","token":null}`), nil
}

func TestRecorder_HidesCredentials(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush-6", "")
	door := recorder.Caller(door(secrets{}.Call), record.Scope{})
	result, err := door.Call(t.Context(), "getMember", []byte(`{"memberId":"https://a:hush-7@b","password":"hush-8","headers":{"Cookie":"hush-9"}}`))
	require.NoError(t, err)
	require.Contains(t, string(result), "hush-1", "who calls gets what there is")
	require.NotContains(t, out.String(), "hush")
	call := read(t, out.String()).Calls[0]
	require.Equal(t, "Ada", document.Get(call.Result.(document.Object), "name", ""))
	require.Equal(t, "[redacted]", document.Get(call.Result.(document.Object), "accessToken", ""))
	require.True(t, call.Result.(document.Object).Has("token"))

	replayed, err := read(t, out.String()).Replay().Caller(record.Scope{}).Call(t.Context(), "getMember",
		[]byte(`{"headers":{"Cookie":"hush-10"},"memberId":"https://a:other@b","password":"another"}`))
	require.NoError(t, err, "what is hidden is not compared")
	require.Contains(t, string(replayed), `"name":"Ada"`)
}

func TestRecorder_HidesWhatIsPartOfAnother(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush")
	recorder.Hide("hush-whole", "hush-whole-tail")
	_, err := recorder.Caller(door(secrets{}.Call), record.Scope{}).Call(t.Context(), "getMember", []byte(`{"memberId":"hush-whole-tail"}`))
	require.NoError(t, err)
	require.NotContains(t, out.String(), "-tail")
	require.NotContains(t, out.String(), "-whole")
}

func TestRecorder_HidesInNames(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush")
	_, err := recorder.Caller(door(secrets{}.Call), record.Scope{}).Call(t.Context(), "getMember", []byte(`{"by":{"hush":1}}`))
	require.NoError(t, err)
	require.NotContains(t, out.String(), `{"hush":1}`)
}

func TestRecorder_HidesCredentialsOfErrors(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	recorder := recording.New(&out, fakes.Start)
	recorder.Hide("hush-2")
	failing := door(func(context.Context, string, []byte) ([]byte, error) {
		return nil, boterr.New(boterr.Unavailable, "", "https://me:hush-1@example.com says hush-2")
	})
	_, err := recorder.Caller(failing, record.Scope{}).Call(t.Context(), "getMember", nil)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.NotContains(t, out.String(), "hush")
	require.Contains(t, out.String(), `"code":"Unavailable"`)
}
