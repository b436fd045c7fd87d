package fakes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// failedTest is the panic with which a TB of these tests ends a test.
type failedTest struct{}

// recordedTB is a TB that records how the test ended.
type recordedTB struct {
	failures []string
	logged   []string
	atEnd    []func()
}

func (r *recordedTB) Helper() {}

func (r *recordedTB) Name() string { return "TestRecorded" }

func (r *recordedTB) Fatalf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	panic(failedTest{})
}

func (r *recordedTB) Logf(format string, args ...any) {
	r.logged = append(r.logged, fmt.Sprintf(format, args...))
}

func (r *recordedTB) Failed() bool { return len(r.failures) > 0 }

func (r *recordedTB) Cleanup(f func()) { r.atEnd = append(r.atEnd, f) }

// run runs a test function to its end.
func (r *recordedTB) run(test func(p *fakes.Platform), options ...fakes.Option) {
	r.end(func() { test(fakes.New(append(options, fakes.For(r))...)) })
}

// end runs a test to its end.
func (r *recordedTB) end(test func()) {
	r.runOn(test)
	for _, f := range slices.Backward(r.atEnd) {
		r.runOn(f)
	}
}

// runOn runs a function that may end the test.
func (r *recordedTB) runOn(test func()) {
	defer func() {
		if cause := recover(); cause != nil && cause != (failedTest{}) {
			panic(cause)
		}
	}()
	test()
}

// requireFailure requires that a test fails once, with a text that contains want.
func requireFailure(t *testing.T, want string, test func(p *fakes.Platform), options ...fakes.Option) {
	t.Helper()
	var tb recordedTB
	tb.run(test, options...)
	require.Len(t, tb.failures, 1, want)
	require.Contains(t, tb.failures[0], want)
}

// must makes a call that must succeed.
func must[P, R any](t *testing.T, call func(context.Context, P) (R, error), params P) R {
	t.Helper()
	result, err := call(t.Context(), params)
	require.NoError(t, err)
	return result
}

func TestTranscript_OfFailedRun(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) {
		p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			return errors.Join(bot.Reply(ctx, send.Text("first")), errors.New("no more"))
		})
		p.AddMember(member.Member{FirstName: "Ada"}).Says("hi")
	})
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "Ada sent TEXT: HandleFunc (fakes_test.TestTranscript_OfFailedRun.func1.1): no more")
	require.Len(t, tb.logged, 1)
	for _, line := range []string{`Ada -> "hi"`, `Ada <- "first"`, "the run failed: HandleFunc (fakes_test.TestTranscript_OfFailedRun.func1.1): no more"} {
		require.Contains(t, tb.logged[0], line)
	}
}

func TestTranscript_NotWherePassed(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.run(func(p *fakes.Platform) { p.AddMember(member.Member{}) })
	require.Empty(t, tb.failures)
	require.Empty(t, tb.logged)
}

func TestPlatform_Misuse(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform){
		"no operation":        func(p *fakes.Platform) { p.Inject(fakes.Fails(botctx.Op("getMembr"), boterr.Conflict)) },
		"counted from 1":      func(p *fakes.Platform) { p.Inject(fakes.Fails(botctx.OpGetMember, boterr.Conflict).At(-1)) },
		"does not go back":    func(p *fakes.Platform) { p.Advance(-time.Second) },
		"nothing was sent to": func(p *fakes.Platform) { p.AddMember(member.Member{}).Last() },
		"no bot logic":        func(p *fakes.Platform) { p.AddMember(member.Member{}).Says("hi") },
		"AddData":             func(p *fakes.Platform) { p.AddData("", document.O("a", 1)) },
		"Data":                func(p *fakes.Platform) { p.Data("") },
		"AddMember":           func(p *fakes.Platform) { p.AddMember(member.Member{Channel: "nowhere"}) },
		"AddChannel":          func(p *fakes.Platform) { p.AddChannel(channel.Channel{Type: channel.Echo, Info: channel.AlphaInfo{}}) },
		"be delayed by":       func(p *fakes.Platform) { p.Inject(fakes.Delays(botctx.OpGetMember, -1)) },
		"AdvanceTo(2025":      func(p *fakes.Platform) { p.AdvanceTo(fakes.Start().Add(-1)) },
	} {
		requireFailure(t, name, misuse)
	}
}

func TestPlatform_MisuseWithoutATest(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, `fakes: there is no operation "nothing": give a constant of package botctx, such as botctx.OpGetMember`,
		func() { fakes.New().Inject(fakes.Fails(botctx.Op("nothing"), boterr.Conflict)) })
}

func TestTranscript_ShowsNoCredential(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	added := p.AddChannel(channel.Channel{Type: channel.Alpha, Info: channel.AlphaInfo{AccessToken: channel.NewSecret("S3CRET")}})
	ada := p.AddMember(member.Member{Channel: added.ID})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendResponse(ctx, send.SendResponseParams{Channel: bot.Channel, Response: send.Text("hi")})
		_, _ = bot.PatchMembers(ctx, member.PatchParams{Channel: bot.Channel, MemberID: bot.Member.ID})
		return err
	})
	ada.Says("hi")
	require.Equal(t, "S3CRET", ada.Context().Channel.Info.(channel.AlphaInfo).AccessToken.Reveal())
	require.NotContains(t, p.Transcript()+fmt.Sprintf("%v %+v %#v", p.Calls(), p.Calls(), p.Calls()), "S3CRET")
}

func TestFork_IsItsOwnPlatform(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	p.AddData("coupons", document.O("code", "A", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	p.HTTP.Add("GET", "https://api.example.com/", web.Text(200, "one"))
	p.Inject(fakes.Fails(botctx.OpGetMember, boterr.Conflict))
	fork := p.Fork()

	fork.Advance(time.Hour)
	ada.In(fork).Says("coupon")
	fork.AddMember(member.Member{FirstName: "Bob"})

	require.Equal(t, fakes.Start(), p.Now())
	require.Empty(t, ada.Messages())
	require.Empty(t, p.Calls())
	require.False(t, document.Get(p.Data("coupons")[0], "taken", true))
	for _, platform := range []*fakes.Platform{p, fork} {
		bot := platform.Operations(ada.Scope())
		_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: ada.ID()})
		require.ErrorIs(t, err, boterr.Conflict, "the fault is to come on both")
		answer := must(t, bot.Fetch, outbound.Request{URL: "https://api.example.com/"})
		require.Equal(t, "one", answer.Text())
	}
}

func TestRestore(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(claim)
	p.AddData("coupons", document.O("code", "A", "taken", false))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	before := p.Snapshot()
	story := func() string {
		ada.Says("coupon")
		p.Advance(time.Minute)
		p.AddMember(member.Member{FirstName: "Bob"}).Says("coupon")
		return p.Transcript() + fmt.Sprint(p.Calls(), p.Data("coupons"), p.Sent())
	}
	first := story()
	p.Restore(before)
	require.Equal(t, first, story())

	tb := &recordedTB{}
	tb.run(func(p *fakes.Platform) { p.Restore(nil) })
	require.Equal(t, []string{"fakes: Restore: the snapshot is nil; take one with Snapshot"}, tb.failures)
}

func TestHTTP_UnknownURL(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HTTP.Add("GET", "https://api.example.com/known", web.Text(200, "x"))
	_, err := p.AddMember(member.Member{}).Context().Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/other"})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "https://api.example.com/known")
	require.Contains(t, p.Transcript(), "GET https://api.example.com/other")
}

func TestSent_ShapeOfEachPlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type]string{
		channel.Alpha: `{"result":{"recipient_id":"1000000000000001","message_id":"m_000001"},"messageEvent":{"from":"",` +
			`"to":"1000000000000001","data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"m_000001"}}`,
		channel.Bravo: `{"result":{"contacts":[{"input":"15550000001","wa_id":"15550000001"}],"messages":[{"id":"wamid.000001"}]},` +
			`"messageEvent":{"from":"","to":"15550000001","data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"wamid.000001"}}`,
		channel.Charlie: `{"ok":true,"channel":"D000001","ts":"1767225600.000100",` +
			`"message":{"type":"message","text":"hi","ts":"1767225600.000100"}}`,
		channel.Echo: `{"msgType":"text","text":"hi"}`,
		channel.Delta: `{"result":{"id":"req-000001","STATUS":"OK"},"messageEvent":{"from":"","to":"external-member-1",` +
			`"data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"dm-000001"}}`,
		channel.Foxtrot: `{"result":{"id":"msg_000001"},"messageEvent":{"from":"","to":"external-member-1",` +
			`"data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"msg_000001"}}`,
		channel.Hotel: `{"result":{"id":"post-000001"},"messageEvent":{"from":"","to":"external-member-1",` +
			`"data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"post-000001"}}`,
		channel.Webchat: `{"result":{"id":"message-1"},"messageEvent":{"from":"","to":"external-member-1",` +
			`"data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"message-1"}}`,
		channel.Custom: `{"result":{"id":"message-1"},"messageEvent":{"from":"","to":"external-member-1",` +
			`"data":{"text":"hi"},"type":"TEXT","timestamp":1767225600000,"messageId":"message-1"}}`,
	} {
		p := fakes.New(fakes.For(t))
		to := p.AddMember(member.Member{Channel: p.AddChannel(channel.Channel{Type: platform}).ID})
		text, err := to.Context().Call(t.Context(), "sendResponse", []byte(`{"response":{"type":"TEXT","text":"hi"}}`))
		require.NoError(t, err)
		require.Equal(t, want, string(text), string(platform))
		require.Equal(t, "hi", to.Last())
	}
}

func TestDomains_StandAlone(t *testing.T) {
	t.Parallel()
	members := fakes.NewMembers(fakes.For(t))
	found := must(t, members.GetMember, member.GetParams{MemberID: members.Member.ID()})
	require.Equal(t, members.Member.ID(), found.ID)

	sends := fakes.NewSends(fakes.For(t))
	must(t, sends.SendResponse, send.SendResponseParams{Response: send.Text("hi")})
	require.Equal(t, "hi", sends.Member.Last())

	channels := fakes.NewChannels(fakes.For(t))
	reference := must(t, channels.GetChannel, channel.GetParams{ChannelID: channels.Member.Scope().Channel})
	require.Equal(t, fakes.DefaultApp, reference.AppID)

	agendas := fakes.NewAgendas(fakes.For(t))
	made := must(t, agendas.NewAgenda, agenda.NewParams{
		MemberID: agendas.Member.ID(), NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(agendas.Platform.Now()),
	})
	require.Equal(t, agendas.Member.ID(), made.Member)

	require.Equal(t, made, &agendas.Member.Agendas()[0].Agenda)

	nodes := fakes.NewNodes(fakes.For(t))
	nodes.Platform.Handle(&botctx.Node{ID: "hello", Responses: []send.Response{send.Text("hello")}})
	ran := must(t, nodes.RedirectMemberToNode, botctx.RedirectMemberToNodeParams{
		MemberID: nodes.Member.ID(), NodeCompositeID: "hello",
	})
	require.Equal(t, nodes.Member.ID(), ran.Member)
	require.Equal(t, "hello", nodes.Member.Last())

	data := fakes.NewDataSources(fakes.For(t), fakes.StartAt(time.UnixMilli(5)))
	data.Platform.AddData("d", document.O("a", 1))
	entries := must(t, data.FetchDataFromDataSource, datasource.FetchParams{DataSourceID: "d"})
	require.Equal(t, 5, document.Get(entries.Entries[0], "createdAt", 0))
}

func TestCalls_OfEveryContext(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	_, err := p.Operations(ada.Scope()).GetMember(t.Context(), member.GetParams{MemberID: "nobody"})
	require.Error(t, err)
	calls := p.Calls()
	require.Len(t, calls, 1)
	require.Equal(t, ada.Scope(), calls[0].Scope)
	require.Equal(t, member.GetParams{MemberID: "nobody"}, calls[0].Params)
	require.ErrorIs(t, calls[0].Err, boterr.NotFound)
	require.True(t, strings.HasPrefix(calls[0].String(), `getMember {"memberId":"nobody"} ! `), calls[0].String())
}

func TestCalls_StayAsTheyWere(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("places", document.O("_id", "e1"))
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	found := must(t, bot.GetMember, member.GetParams{MemberID: bot.Member.ID})
	data := []document.Object{document.O("_id", "e2")}
	must(t, bot.UpsertDataToDataSource, datasource.UpsertParams{DataSourceID: "places", Data: data})
	before := fmt.Sprint(p.Calls())

	found.FirstName = "Eve"
	data[0] = document.O("_id", "forged")

	require.Equal(t, before, fmt.Sprint(p.Calls()))
}

func TestTranscript_CredentialOfError(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(context.Context, *botctx.Context) error {
		return errors.New("GET https://api.example.com/?token=S3CRET: 500")
	})
	require.Error(t, p.AddMember(member.Member{}).TrySays("hi"))
	require.NotContains(t, p.Transcript(), "S3CRET")
}

// page is a channel with two members.
type page struct {
	*fakes.Platform
	ada, lise *fakes.Actor
}

func pageOn(t *testing.T, platform channel.Type) *page {
	t.Helper()
	p := fakes.New(fakes.For(t))
	in := p.AddChannel(channel.Channel{ID: "page", Type: platform})
	return &page{
		Platform: p,
		ada:      p.AddMember(member.Member{Channel: in.ID, FirstName: "Ada"}),
		lise:     p.AddMember(member.Member{Channel: in.ID, FirstName: "Lise"}),
	}
}

func TestPostComments(t *testing.T) {
	t.Parallel()
	p := pageOn(t, channel.Alpha)
	require.Empty(t, p.PostComments())
	for _, text := range []string{"kettle", "tea"} {
		must(t, p.ada.Context().SavePostCommentAnalytics,
			send.SavePostCommentAnalyticsParams{Comment: text, FbID: "7", Name: "Ada", PostID: "42", IsMatched: true})
	}
	require.Len(t, p.PostComments(), 2)
	require.Equal(t, "kettle", p.PostComments()[0].Comment)
	require.True(t, p.PostComments()[1].IsMatched)
}
