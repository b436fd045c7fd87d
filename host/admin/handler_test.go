package admin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// host has a bot that fails until isMended is set.
type host struct {
	t        *testing.T
	runtime  *botctx.Runtime
	isMended bool
	handled  []string
	log      strings.Builder
}

func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t}
	var err error
	h.runtime, err = botctx.New(botctx.Config{Store: memstore.New()})
	require.NoError(t, err)
	h.runtime.HandleFunc(h.answer)
	for _, app := range []string{"bistro", "florist"} {
		_, err := channels.New(h.runtime.Env(), record.Scope{App: app}).
			Save(t.Context(), &channel.Channel{ID: app + "-web", Type: channel.Webchat, On: true})
		require.NoError(t, err)
	}
	return h
}

func (h *host) answer(_ context.Context, bot *botctx.Context) error {
	if !h.isMended {
		return boterr.New(boterr.InvalidArgument, "", "the kitchen refused token=%s", secret)
	}
	h.handled = append(h.handled, bot.MessageEvent.Text())
	return nil
}

const secret = "s3cr3t-of-the-kitchen"

func (h *host) accept(app, from, text string) {
	h.t.Helper()
	require.NoError(h.t, h.runtime.Accept(h.t.Context(), botctx.Inbound{App: app, Channel: app + "-web", Event: send.MessageEvent{
		Type: send.TypeText, From: from, Data: document.O("text", text),
	}}))
}

// arrive accepts a message and runs the bot for it.
func (h *host) arrive(app, from, text string) {
	h.t.Helper()
	h.accept(app, from, text)
	_, err := h.runtime.RunNextEvent(h.t.Context())
	require.NoError(h.t, err)
}

func (h *host) view(mayWrite bool, apps ...string) *view {
	h.t.Helper()
	handler, err := admin.Handler(admin.Config{
		Runtime: h.runtime, Apps: append([]string{"bistro"}, apps...), MayWrite: mayWrite, Logger: slog.New(slog.NewTextHandler(&h.log, nil)),
	})
	require.NoError(h.t, err)
	return &view{h.t, handler}
}

// view makes requests to the page.
type view struct {
	t       *testing.T
	handler http.Handler
}

func (v *view) ask(method, path string, headers ...string) *httptest.ResponseRecorder {
	v.t.Helper()
	request := httptest.NewRequestWithContext(v.t.Context(), method, path, http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	v.handler.ServeHTTP(answer, request)
	return answer
}

// page is the decoded response of a list.
type page struct {
	Records []map[string]any `json:"records"`
	HasMore bool             `json:"hasMore"`
	First   string           `json:"first"`
	Last    string           `json:"last"`
}

func (v *view) list(path string) page {
	v.t.Helper()
	answer := v.ask(http.MethodGet, path)
	require.Equal(v.t, http.StatusOK, answer.Code, answer.Body.String())
	var told page
	require.NoError(v.t, json.Unmarshal(answer.Body.Bytes(), &told))
	return told
}

// column returns a field of each record.
func (p page) column(name string) []any {
	column := make([]any, len(p.Records))
	for i, one := range p.Records {
		column[i] = one[name]
	}
	return column
}

func TestMembers_NewestFirstInPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for i := range 5 {
		h.arrive("bistro", fmt.Sprintf("guest-%d", i), "hi")
	}
	h.arrive("florist", "theirs", "hi")
	v := h.view(false)
	first := v.list("/members?limit=2")
	require.Equal(t, []any{"guest-4", "guest-3"}, first.column("externalId"))
	require.True(t, first.HasMore)
	second := v.list("/members?limit=2&after=" + first.Last)
	require.Equal(t, []any{"guest-2", "guest-1"}, second.column("externalId"))
	require.True(t, second.HasMore)
	last := v.list("/members?limit=2&after=" + second.Last)
	require.Equal(t, []any{"guest-0"}, last.column("externalId"))
	require.False(t, last.HasMore)
	require.Equal(t, second, v.list("/members?limit=2&before="+last.First))
	back := v.list("/members?limit=2&before=" + second.First)
	require.Equal(t, first.Records, back.Records)
	require.False(t, back.HasMore)
	require.Equal(t, page{Records: []map[string]any{}}, v.list("/members?after="+last.Last))
	require.Equal(t, []any{"guest-3"}, v.list("/members?id=guest-3").column("externalId"))
	require.Len(t, v.list("/members?id="+first.Records[0]["_id"].(string)).Records, 1)
	require.Empty(t, v.list("/members?id=theirs").Records)
}

func TestDeadLetters_OldestFirstInPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for i := range 5 {
		h.arrive("bistro", fmt.Sprintf("guest-%d", i), "hi")
	}
	h.arrive("florist", "theirs", "hi")
	v := h.view(true)
	all := v.list("/dead-letters")
	require.Len(t, all.Records, 5)
	first := v.list("/dead-letters?limit=2")
	require.Equal(t, all.Records[:2], first.Records)
	require.True(t, first.HasMore)
	second := v.list("/dead-letters?limit=2&after=" + first.Last)
	require.Equal(t, all.Records[2:4], second.Records)
	require.Equal(t, first.Records, v.list("/dead-letters?limit=2&before="+second.First).Records)
	nearest := v.list("/dead-letters?limit=1&before=" + second.First)
	require.Equal(t, all.Records[1:2], nearest.Records)
	require.True(t, nearest.HasMore)
	gone := first.Records[1]["id"].(string)
	require.Equal(t, http.StatusOK, v.ask(http.MethodPost, "/dead-letters/"+gone+"/discard").Code)
	require.Empty(t, v.list("/dead-letters?id="+gone).Records)
	require.Equal(t, second.Records, v.list("/dead-letters?limit=2&after="+first.Last).Records, "a place outlives its record")
}

func TestRecords_OfAnIDThatAlsoNamesAnother(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "hi")
	v := h.view(false)
	ada := v.list("/members").Records[0]["_id"].(string)
	h.arrive("bistro", ada, "hi") // The host does not choose external ids.
	both := v.list("/members?id=" + ada)
	require.Equal(t, []any{ada, "ada"}, both.column("externalId"))
	first := v.list("/members?limit=1&id=" + ada)
	require.Equal(t, both.Records[:1], first.Records)
	require.True(t, first.HasMore)
	second := v.list("/members?limit=1&id=" + ada + "&after=" + first.Last)
	require.Equal(t, both.Records[1:], second.Records)
	require.False(t, second.HasMore)
	require.Equal(t, first.Records, v.list("/members?limit=1&id="+ada+"&before="+second.First).Records)
}

func TestRecords_OfAMember(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "hi")
	h.arrive("bistro", "bob", "hi")
	v := h.view(false)
	ada := v.list("/members?id=ada").Records[0]["_id"].(string)
	bot := h.runtime.Operations(botctx.Scope{App: "bistro", Channel: "bistro-web", Member: ada})
	_, err := bot.NewAgenda(t.Context(), agenda.NewParams{
		MemberID: ada, NodeCompositeID: "remind", NextRunAt: document.TimestampOf(h.runtime.Env().Now().Add(time.Hour)), Meta: document.O("apiKey", secret, "table", 4),
	})
	require.NoError(t, err)
	agendas := v.list("/agendas?id=" + ada)
	require.Equal(t, []any{"remind"}, agendas.column("nodeCompositeId"))
	require.Equal(t, []any{map[string]any{"apiKey": "[redacted]", "table": 4.0}}, agendas.column("meta"))
	require.Empty(t, v.list("/agendas?id=bob").Records)
}

func TestAssignments_SayTheirState(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
	}})
	p.Pair("shop", "desk")
	grace := p.AddAgent("desk", "Grace")
	for _, name := range []string{"Ada", "Bob"} {
		_, err := p.AddMember(member.Member{Channel: "shop", FirstName: name}).Context().
			CreateAssignment(t.Context(), livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{Summary: name + " waits."}})
		require.NoError(t, err)
	}
	grace.Takes(grace.Tickets()[0])
	handler, err := admin.Handler(admin.Config{Runtime: p.Runtime(), Apps: []string{fakes.DefaultApp}})
	require.NoError(t, err)
	told := (&view{t, handler}).list("/assignments")
	require.Equal(t, []any{"Bob waits.", "Ada waits."}, told.column("summary"))
	require.Equal(t, []any{"pending", "taken"}, told.column("state"))
}

// Other programs may have written records that are no members, agendas or assignments.
func TestRecords_Unreadable(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	bad := document.O("app", "bistro", "meta", 7)
	for collection, path := range map[string]string{"members": "/members", "agendas": "/agendas", "assignments": "/assignments"} {
		records := h.runtime.Env().Store.Collection(collection)
		require.NoError(t, records.Insert(t.Context(), bad.With("_id", "1").With("slot", "1").With("externalId", "1")))
		require.NoError(t, records.Insert(t.Context(), document.O("_id", "2", "app", "bistro", "slot", "2", "externalId", "2")))
		v := h.view(false)
		for range 2 {
			require.Equal(t, []any{"2", "1"}, v.list(path).column("_id"))
		}
	}
	require.Equal(t, 3, strings.Count(h.log.String(), "a record is not shown"), h.log.String())
}

func TestDeadLetters_AreTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "a table for four")
	v := h.view(true)
	listed := v.list("/dead-letters")
	require.Equal(t, []any{"ada"}, listed.column("from"))
	require.NotContains(t, listed.Records[0]["error"], secret)
	require.NotContains(t, listed.Records[0], "event", "what was written is for who opens it")
	id := listed.Records[0]["id"].(string)
	require.Contains(t, v.ask(http.MethodGet, "/dead-letters/"+id).Body.String(), "a table for four")

	h.isMended = true
	require.Equal(t, http.StatusOK, v.ask(http.MethodPost, "/dead-letters/"+id+"/retry").Code)
	_, err := h.runtime.RunNextEvent(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a table for four"}, h.handled)
	require.Empty(t, v.list("/dead-letters").Records)
	require.Contains(t, h.log.String(), "dead letter retried")
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodPost, "/dead-letters/"+id+"/retry").Code)
}

func TestHandler_OnlyReadsUnlessItMayWrite(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "a table for four")
	v := h.view(false)
	require.JSONEq(t, `{"apps": ["bistro"], "mayWrite": false}`, v.ask(http.MethodGet, "/about").Body.String())
	id := v.list("/dead-letters").Records[0]["id"].(string)
	for _, what := range []string{"retry", "discard"} {
		refused := v.ask(http.MethodPost, "/dead-letters/"+id+"/"+what)
		require.Equal(t, http.StatusConflict, refused.Code, refused.Body.String())
		require.Contains(t, refused.Body.String(), "MayWrite")
	}
	require.Len(t, v.list("/dead-letters").Records, 1)
}

func TestHandler_ShowsNoOtherApp(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("florist", "eve", "roses")
	id := h.view(true, "florist").list("/dead-letters?app=florist").Records[0]["id"].(string)
	v := h.view(true)
	for method, paths := range map[string][]string{
		http.MethodGet:  {"/members?app=florist", "/agendas?app=florist", "/assignments?app=florist", "/dead-letters?app=florist", "/dead-letters/" + id},
		http.MethodPost: {"/dead-letters/" + id + "/retry", "/dead-letters/" + id + "/discard"},
	} {
		for _, path := range paths {
			require.Equal(t, http.StatusNotFound, v.ask(method, path).Code, path)
		}
	}
	require.Empty(t, v.list("/dead-letters?id="+id).Records)
	theirs, none := v.ask(http.MethodGet, "/dead-letters/"+id), v.ask(http.MethodGet, "/dead-letters/none")
	require.Equal(t, strings.ReplaceAll(none.Body.String(), "none", id), theirs.Body.String(), "as if it did not exist")
}

func TestRecords_Values(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	scope := record.Scope{App: "bistro"}
	_, err := members.New(h.runtime.Env(), scope, channels.New(h.runtime.Env(), scope)).Insert(t.Context(), member.Member{
		Channel: "bistro-web", ExternalID: "ada", Meta: document.O(
			"password", 987654, "token", document.O("value", "hush"), "secrets", document.A(document.O("of", "hush")), "cookie", "", "table", 4,
			"most", int64(math.MaxInt64), "least", int64(math.MinInt64), "none", math.NaN(), "endless", math.Inf(1),
		),
	})
	require.NoError(t, err)
	shown := h.view(false).ask(http.MethodGet, "/members").Body.String()
	require.NotContains(t, shown, "hush")
	require.NotContains(t, shown, "987654")
	require.Contains(t, shown, `"cookie":"","table":4,"most":9223372036854775807,"least":-9223372036854775808,"none":null,"endless":null`)
}

func TestDeadLetters_ByIDAsOtherListsAre(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "hi")
	v := h.view(false, "florist")
	letters := v.list("/dead-letters")
	path := "/dead-letters?id=" + letters.Records[0]["id"].(string)
	require.Equal(t, letters.Records, v.list(path).Records)
	for _, excluding := range []string{"&app=florist", "&after=" + letters.Last, "&before=" + letters.First} {
		require.Empty(t, v.list(path+excluding).Records, excluding)
	}
}

func TestHandler_RefusesOddPages(t *testing.T) {
	t.Parallel()
	v := newHost(t).view(false)
	for _, list := range []string{"/members", "/agendas", "/assignments", "/dead-letters"} {
		for _, query := range []string{
			"skip=1", "skip=-1", "skip=x", "limit=201", "limit=0", "limit=-1", "limit=1e3", "after=1.a&before=1.a",
			"after=%ff", "before=1.%ff", "after=%00", "before=1.a%0a", "after=1." + strings.Repeat("a", 5000),
		} {
			refused := v.ask(http.MethodGet, list+"?"+query)
			require.Equal(t, http.StatusBadRequest, refused.Code, list+query)
			require.Contains(t, refused.Body.String(), "give", list+query)
		}
	}
	for _, odd := range []string{"x", "1", ".", "1.", ".a", "1e3.a", "99999999999999999999.a", "$gt", "{}", "-"} {
		require.Equal(t, http.StatusBadRequest, v.ask(http.MethodGet, "/dead-letters?after="+odd).Code, odd)
		require.Equal(t, http.StatusBadRequest, v.ask(http.MethodGet, "/dead-letters?before="+odd).Code, odd)
		require.Equal(t, http.StatusOK, v.ask(http.MethodGet, "/members?after="+odd).Code, odd)
	}
}

func TestHandler_KeepsOtherSitesOut(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.arrive("bistro", "ada", "a table for four")
	v := h.view(true)
	id := v.list("/dead-letters").Records[0]["id"].(string)
	for name, value := range map[string]string{"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"} {
		require.Equal(t, http.StatusForbidden, v.ask(http.MethodPost, "/dead-letters/"+id+"/discard", name, value).Code)
	}
	require.Len(t, v.list("/dead-letters").Records, 1)
}

func TestHandler_ServesItsPage(t *testing.T) {
	t.Parallel()
	v := newHost(t).view(false)
	for path, says := range map[string]string{
		"/": "Host records", "/admin.js": "Dead letters", "/admin.css": "header", "/parts/base.css": ":root", "/parts/elements.js": "export",
	} {
		answer := v.ask(http.MethodGet, path)
		require.Equal(t, http.StatusOK, answer.Code, path)
		require.Contains(t, answer.Body.String(), says)
		require.Contains(t, answer.Header().Get("Content-Security-Policy"), "default-src 'none'")
	}
	require.Equal(t, http.StatusNotFound, v.ask(http.MethodGet, "/doc.go").Code)
}

func TestHandler_NeedsARuntimeAndApps(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]admin.Config{
		"Runtime": {Apps: []string{"bistro"}},
		"Apps":    {Runtime: newHost(t).runtime, Apps: []string{""}},
	} {
		_, err := admin.Handler(config)
		var failure *boterr.Error
		require.ErrorAs(t, err, &failure)
		require.Equal(t, field, failure.Field)
	}
}
