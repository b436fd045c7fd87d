package desk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

func TestHandler_NeedsItsParts(t *testing.T) {
	t.Parallel()
	for _, config := range []desk.Config{{}, {Store: (*memstore.Store)(nil)}, {Store: memstore.New(), Poll: -1}} {
		_, err := desk.New(config)
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
	require.ErrorIs(t, desk.EnsureIndexes(t.Context(), nil), boterr.InvalidArgument)
	h := newHost(t)
	for _, config := range []desk.PageConfig{{}, {Runtime: h.runtime}} {
		_, err := h.desk.Handler(config)
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

// paths returns the addresses that answer with JSON, for one chat.
func paths(chat string) (gets, posts []string) {
	gets = []string{"/about", "/closed/shop", "/answers/shop", chat, chat + "/log", chat + "/transcript", chat + "/earlier"}
	for _, what := range []string{"take", "messages", "notes", "files?name=a.txt", "typing", "read", "fill", "handover", "giveback", "end"} {
		posts = append(posts, chat+"/"+what)
	}
	return gets, append(posts, "/answers/shop", "/answers/shop/delete")
}

func TestAccess_NobodyIsSignedIn(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	gets, posts := paths(h.taken("ada", "grace"))
	for _, path := range append(gets, "/events") {
		h.refused(http.StatusUnauthorized, "", path, nil)
	}
	for _, path := range append(posts, "/me") {
		h.refused(http.StatusUnauthorized, "", path, nothing)
	}
}

func TestAccess_OtherAppsDoNotExist(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	chat := h.taken("ada", "grace")
	before := h.log("grace", chat)
	gets, posts := paths(chat)
	for _, path := range gets[1:] {
		h.refused(http.StatusNotFound, "mal", path, nil)
		h.refused(http.StatusNotFound, "mal", strings.Replace(path, "/chats/shop/", "/chats/bank/", 1)+"x", nil)
	}
	body := fields{"key": "1", "text": "Mine now", "seq": 1, "isNote": true, "team": "support", "short": "x", "id": "x"}
	for _, path := range posts {
		status, answer := h.asks("mal", path, body)
		require.Contains(t, []int{http.StatusNotFound, http.StatusBadRequest, http.StatusConflict}, status, "%s %s", path, answer)
	}
	require.Equal(t, before, h.log("grace", chat))
	about := h.does("mal", "/about", nil)
	require.NotContains(t, about.String(), "shop")
	require.Equal(t, "grace", h.open("shop")[0].Assignee)
}

func TestAccess_OtherSites(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	chat := h.taken("ada", "grace")
	for name, headers := range map[string]map[string]string{
		"an origin":         {"Origin": "https://evil.example"},
		"no origin":         {"Origin": "null"},
		"what browsers say": {"Sec-Fetch-Site": "cross-site"},
		"a sister":          {"Sec-Fetch-Site": "same-site"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, chat+"/end", strings.NewReader("{}"))
		r.Header.Set("X-Agent", "grace")
		r.Header.Set("Content-Type", "application/json")
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		h.handler.ServeHTTP(w, r)
		require.Equal(t, http.StatusForbidden, w.Code, name)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, chat+"/end", strings.NewReader("{}"))
	r.Header.Set("X-Agent", "grace")
	r.Header.Set("Content-Type", "text/plain") // A form of another site can send this.
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusBadRequest, w.Code)
	require.Len(t, h.open("shop"), 1)
}

// Each answer of every test is searched for the credentials of channels and members, see asks. This test makes sure
// that the channels have them, and that every address was asked.
func TestCredentials_NeverReachThePage(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *desk.PageConfig) {
		c.Transcript = func(_ context.Context, _ *member.Member, _ document.Timestamp, _ int) ([]desk.Line, error) {
			return []desk.Line{{Response: send.Text("token=" + secretToken + "&x=1")}}, nil
		}
	})
	in, err := h.runtime.LoadChannel(t.Context(), "shop", "shop-desk")
	require.NoError(t, err)
	stored, err := document.Encode(in)
	require.NoError(t, err)
	require.Equal(t, secretToken, document.Get(stored, "info.accessToken", ""))
	chat := h.waiting("shop", "ada")
	gets, posts := paths(chat)
	for range 2 {
		for _, path := range gets {
			h.does("grace", path, nil)
		}
		h.does("grace", chat+"/take", nothing)
	}
	filled := h.does("grace", chat+"/fill", fields{"text": "{{meta.password}} {{meta.plan}} {{firstName}}"})
	require.Equal(t, "[redacted] gold Ada", document.Get(filled, "text", ""))
	for _, path := range posts {
		_, _ = h.asks("grace", path, fields{"key": "k", "text": "hi"})
	}
	require.NotContains(t, strings.Join(h.listens("grace", 1), "\n"), secretToken)
}

// listens opens a stream of an agent, and returns the data of its first events.
func (h *host) listens(agent string, count int) []string {
	h.t.Helper()
	return newsOf(h.t, h.stream(agent), count)
}

func (h *host) stream(agent string) *bufio.Reader {
	h.t.Helper()
	server := httptest.NewServer(h.handler)
	h.t.Cleanup(server.Close)
	h.t.Cleanup(server.CloseClientConnections)
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodGet, server.URL+"/events", http.NoBody)
	require.NoError(h.t, err)
	r.Header.Set("X-Agent", agent)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = answer.Body.Close() })
	require.Equal(h.t, http.StatusOK, answer.StatusCode)
	return bufio.NewReader(answer.Body)
}

// newsOf returns the data of the next events of a stream.
func newsOf(t *testing.T, from *bufio.Reader, count int) []string {
	t.Helper()
	var all []string
	isNews := false
	for len(all) < count {
		line, err := from.ReadString('\n')
		require.NoError(t, err)
		if data, isData := strings.CutPrefix(line, "data: "); isData && isNews {
			all = append(all, data)
		}
		isNews = line == "event: news\n"
	}
	return all
}

// until reads news until some contain a text, and returns them.
func until(t *testing.T, stream *bufio.Reader, text string) string {
	t.Helper()
	for {
		if told := newsOf(t, stream, 1)[0]; strings.Contains(told, text) {
			return told
		}
	}
}

func TestStream_TellsChanges(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.waiting("bank", "zoe")
	path := h.waiting("shop", "ada")
	h.does("eve", "/about", nil)
	stream := h.stream("grace")
	next := func(text string) string { return until(t, stream, text) }
	first := next(`"isAll":true`)
	require.Contains(t, first, `"name":"Ada"`)
	require.Contains(t, first, `"name":"Eve","isAvailable":true,"isHere":true,"apps":["shop"]`)
	require.NotContains(t, first, "bank", "each list is limited to the agent's apps")
	require.NotContains(t, first, "Zoe")
	h.does("eve", path+"/take", nothing)
	next(`"agentName":"Eve"`)
	h.says("shop", "ada", "The lid!")
	next(`"text":"The lid!"`)
	h.does("eve", path+"/typing", fields{"isNote": true})
	next(`"typing":[{`)
	h.clock.advance(chatlog.TypingTime)
	next(`"typing":[]`)
	h.does("eve", "/me", fields{"isAvailable": false})
	next(`"agents":`)
	h.does("eve", path+"/end", nothing)
	next(`"gone":["`)
}

// A second desk over the same store acts like another process.
func TestStream_HearsOtherProcesses(t *testing.T) {
	t.Parallel()
	c := newClock()
	shared := unwatched{memstore.New(memstore.WithNow(c.now))}
	h := newHostOver(t, c, shared)
	other := newHostOver(t, c, shared)
	stream := h.stream("grace")
	path := other.waiting("shop", "ada")
	until(t, stream, `"name":"Ada"`)
	other.does("eve", path+"/take", nothing)
	until(t, stream, `"agent":"eve"`)
	other.does("eve", path+"/messages", fields{"key": "1", "text": "From afar"})
	until(t, stream, "From afar")
}

func TestStream_EndsWhenTheDeskCloses(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	stream := h.stream("grace")
	newsOf(t, stream, 1)
	h.desk.Close()
	h.desk.Close()
	_, err := io.ReadAll(stream)
	require.NoError(t, err)
}

func TestStream_TooMany(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for range 8 {
		h.stream("grace")
	}
	h.refused(http.StatusTooManyRequests, "grace", "/events", nil)
	h.stream("eve")
}

func TestBounds_Refused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	for name, c := range map[string]struct {
		path string
		body any
	}{
		"no text":             {"/messages", fields{"key": "1", "text": " \n"}},
		"a long text":         {"/messages", fields{"key": "1", "text": strings.Repeat("x", send.MaxText+1)}},
		"no key":              {"/messages", fields{"text": "x"}},
		"a long key":          {"/messages", fields{"key": strings.Repeat("k", 101), "text": "x"}},
		"11 quick replies":    {"/messages", fields{"key": "1", "text": "x", "quickReplies": strings.Split("abcdefghijk", "")}},
		"a long quick reply":  {"/messages", fields{"key": "1", "text": "x", "quickReplies": []string{strings.Repeat("t", 81)}}},
		"an unknown field":    {"/messages", fields{"key": "1", "text": "x", "from": "eve"}},
		"a file of elsewhere": {"/messages", fields{"key": "1", "file": fields{"kind": "IMAGE", "url": "https://evil.example/a.png", "name": "a.png"}}},
		"a long note":         {"/notes", fields{"key": "1", "text": strings.Repeat("x", 4001)}},
		"an empty note":       {"/notes", fields{"key": "1", "text": ""}},
		"a long template":     {"/fill", fields{"text": strings.Repeat("x", send.MaxText+1)}},
		"no number":           {"/log?after=x", nil},
		"a negative number":   {"/log?before=-1", nil},
	} {
		told := h.refused(http.StatusBadRequest, "grace", path+c.path, c.body)
		require.Regexp(t, `^\w+ ?\w*(\[\d\])? (is|are|was|has|body) `, told, "%s: the sentence has a subject", name)
	}
	h.refused(http.StatusRequestEntityTooLarge, "grace", path+"/messages", fields{"key": "1", "text": strings.Repeat("x", 40<<10)})
	require.Equal(t, []string{"bot: The kettle leaks."}, h.log("grace", path))
}

func TestFlood_IsRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	allowed := 0
	for i := range 200 {
		status, _ := h.asks("grace", path+"/notes", fields{"key": strconv.Itoa(i), "text": "x"})
		if status == http.StatusOK {
			allowed++
			continue
		}
		require.Equal(t, http.StatusTooManyRequests, status)
	}
	require.Less(t, allowed, 100)
	h.does("eve", path+"/notes", fields{"key": "1", "text": "x"})
	h.clock.advance(time.Second)
	h.does("grace", path+"/notes", fields{"key": "later", "text": "x"})
}

func TestList_Has500(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var many []document.Object
	for i := range desk.MaxListed + 20 {
		many = append(many, document.O(
			"_id", fmt.Sprintf("a%04d", i), "app", "shop", "slot", strconv.Itoa(i), "member", "m", "inlet", "shop-web", "sentAt", 1, "history", false,
			"isZendesk", false, "targets", document.A(), "liveChatAgenda", false, "createdAt", 1,
			"tickets", document.A(document.O("id", "1", "channel", "shop-desk", "type", "desk", "group", document.O("id", "support", "type", "team"), "sentAt", 1)),
		))
	}
	require.NoError(t, h.store.Collection("assignments").Insert(t.Context(), many...))
	var told struct {
		Set []struct {
			ID string `json:"id"`
		} `json:"set"`
	}
	require.NoError(t, json.Unmarshal([]byte(h.listens("grace", 1)[0]), &told))
	require.Len(t, told.Set, desk.MaxListed)
}

func TestLog_Pages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path := h.taken("ada", "grace")
	chat := document.Get(h.does("grace", path, nil), "chat.chat", "")
	log, err := chatlog.New(chatlog.Config{Env: h.runtime.Env(), Collection: "desk_chats"})
	require.NoError(t, err)
	for i := range 120 {
		_, _, err := log.Append(t.Context(), chatlog.Conversation{App: "shop", Channel: "shop-desk", ID: chat},
			chatlog.Entry{Key: strconv.Itoa(i), From: "note", Body: document.O("text", strconv.Itoa(i))})
		require.NoError(t, err)
	}
	page := func(query string) (texts []string, hasMore bool) {
		told := h.does("grace", path+"/log"+query, nil)
		for _, e := range objects(told, "entries") {
			texts = append(texts, document.Get(e, "text", ""))
		}
		return texts, document.Get(told, "hasMore", false)
	}
	newest, hasMore := page("")
	require.Len(t, newest, 100)
	require.Equal(t, []any{"20", "119", true}, []any{newest[0], newest[99], hasMore})
	seq := document.Get(h.does("grace", path+"/log", nil), "entries[0].seq", int64(0))
	before, hasMore := page(fmt.Sprint("?before=", seq))
	require.Len(t, before, 21, "the first one is the summary")
	require.Equal(t, []any{"19", false}, []any{before[20], hasMore})
	after, hasMore := page(fmt.Sprint("?after=", seq-1))
	require.Equal(t, newest, after)
	require.False(t, hasMore)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	saved := h.does("grace", "/answers/shop", fields{"short": "hello", "text": "Hello {{firstName}}!"})
	id := document.Get(saved, "id", "")
	h.does("eve", "/answers/shop", fields{"id": id, "short": "hi", "text": "Hi {{firstName}}!"})
	all := objects(h.does("grace", "/answers/shop", nil), "answers")
	require.Len(t, all, 1)
	require.Equal(t, "hi", document.Get(all[0], "short", ""))
	h.refused(http.StatusBadRequest, "grace", "/answers/shop", fields{"short": "two words", "text": "x"})
	h.refused(http.StatusBadRequest, "grace", "/answers/shop", fields{"short": "x", "text": ""})
	h.refused(http.StatusNotFound, "grace", "/answers/shop", fields{"id": "none", "short": "x", "text": "x"})
	h.refused(http.StatusNotFound, "mal", "/answers/shop/delete", fields{"id": id})
	h.does("grace", "/answers/shop/delete", fields{"id": id})
	require.Empty(t, objects(h.does("grace", "/answers/shop", nil), "answers"))
	var many []document.Object
	for i := range 200 {
		many = append(many, document.O("_id", strconv.Itoa(i), "app", "shop", "short", "x", "text", "x"))
	}
	require.NoError(t, h.store.Collection("desk_answers").Insert(t.Context(), many...))
	require.Contains(t, h.refused(http.StatusConflict, "grace", "/answers/shop", fields{"short": "x", "text": "x"}), "200 canned answers")
}

func TestFiles(t *testing.T) {
	t.Parallel()
	var kept []utility.StoredFile
	h := newHost(t, uploads(&kept))
	path := h.taken("ada", "grace")
	upload := func(name, content string) (int, document.Object) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path+"/files?name="+name, strings.NewReader(content))
		r.Header.Set("X-Agent", "grace")
		r.Header.Set("Content-Type", "application/octet-stream")
		w := sharedtest.NewTimed()
		h.handler.ServeHTTP(w, r)
		require.Greater(t, time.Until(w.Deadline), time.Minute, "a long file takes time") //nolint:forbidigo // A socket has the machine's clock.
		var answer document.Object
		require.NoError(t, answer.UnmarshalJSON(w.Body.Bytes()))
		return w.Code, answer
	}
	png := "\x89PNG\r\n\x1a\n" + strings.Repeat("x", 1000)
	status, file := upload("..%2F..%2Fetc%5C.a%00b.png", png)
	require.Equal(t, http.StatusOK, status, "%s", file)
	require.Equal(t, "ab.png", document.Get(file, "name", ""))
	content, err := io.ReadAll(kept[0].Content)
	require.NoError(t, err)
	require.Equal(t, png, string(content))
	require.Equal(t, "image/png", kept[0].ContentType)
	require.NotContains(t, kept[0].Key, "..")
	h.does("grace", path+"/messages", fields{"key": "1", "file": file})
	h.runs()
	require.Equal(t, send.TypeImage, h.inlet.last(t).Type())
	for name, stored := range map[string]string{
		"..": "file", "": "file", url.QueryEscape(strings.Repeat("\u8336", 120) + ".png"): strings.Repeat("\u8336", 96) + ".png",
	} {
		status, file := upload(name, png)
		require.Equal(t, http.StatusOK, status, "%s", file)
		require.Equal(t, stored, document.Get(file, "name", ""))
	}
	for name, bad := range map[string]string{
		"page.png": "<!DOCTYPE html><script>alert(1)</script>", "a.svg": `<?xml version="1.0"?><svg onload="alert(1)"/>`, "empty.txt": "",
	} {
		status, answer := upload(name, bad)
		require.Equal(t, http.StatusBadRequest, status, "%s %s", name, answer)
	}
	status, _ = upload("big.bin", png+strings.Repeat("x", 11<<20))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

func TestTranscript(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *desk.PageConfig) {
		c.Transcript = func(_ context.Context, m *member.Member, before document.Timestamp, limit int) ([]desk.Line, error) {
			require.Equal(t, "ada", m.ExternalID)
			require.Positive(t, before)
			require.Positive(t, limit)
			return []desk.Line{{IsMember: true, At: 1, Response: send.Text("hi")}, {At: 2, Response: send.Text("Hello!")}}, nil
		}
	})
	told := objects(h.does("grace", h.waiting("shop", "ada")+"/transcript", nil), "entries")
	require.Len(t, told, 2)
	require.Equal(t, "member", document.Get(told[0], "from", ""))
	require.Equal(t, "Hello!", document.Get(told[1], "response.text", ""))
}

// Agents of another outlet answered the newest chats, so the first page has no rows of the desk.
func TestClosed_OfOtherOutlets(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	for i := range 60 {
		outlet := "elsewhere"
		if i == 0 {
			outlet = "shop-desk"
		}
		require.NoError(t, h.store.Collection("assignments").Insert(t.Context(), document.O(
			"_id", fmt.Sprintf("chat %02d", i), "slot", strconv.Itoa(i), "app", "shop", "closedAt", 1, "endedAt", 1, "endedBy", "outlet", "outlet", outlet,
			"tickets", document.A(document.O("type", "desk", "channel", "shop-desk")),
		)))
	}
	first := h.does("grace", "/closed/shop", nil)
	require.Empty(t, objects(first, "chats"))
	require.True(t, document.Get(first, "hasMore", false))
	second := h.does("grace", "/closed/shop?before="+url.QueryEscape(document.Get(first, "last", "")), nil)
	require.Equal(t, "chat 00", document.Get(second, "chats[0].id", ""))
	require.False(t, document.Get(second, "hasMore", true))
}

// Bots send several messages within a millisecond.
func TestTranscript_PagesWithEqualTimes(t *testing.T) {
	t.Parallel()
	const number, atOnce = 120, 3
	h := newHost(t, func(c *desk.PageConfig) {
		c.Transcript = func(_ context.Context, _ *member.Member, before document.Timestamp, limit int) ([]desk.Line, error) {
			var lines []desk.Line
			for i := range number {
				if at := document.Timestamp(1 + i/atOnce); at < before {
					lines = append(lines, desk.Line{At: at, Response: send.Text(strconv.Itoa(i))})
				}
			}
			return lines[max(0, len(lines)-limit):], nil
		}
	})
	path := h.waiting("shop", "ada") + "/transcript"
	var all []string
	for query, hasMore := "", true; hasMore; {
		page := h.does("grace", path+query, nil)
		var texts []string
		for _, e := range objects(page, "entries") {
			texts = append(texts, document.Get(e, "response.text", ""))
		}
		all = append(texts, all...)
		query, hasMore = fmt.Sprint("?before=", document.Get(page, "entries[0].at", int64(0))), document.Get(page, "hasMore", false)
	}
	require.Len(t, all, number)
	for i, text := range all {
		require.Equal(t, strconv.Itoa(i), text)
	}
}

// Two processes serve the page. The second one stores what is no longer true.
func TestPage_AgentStoredByAnotherProcess(t *testing.T) {
	t.Parallel()
	grace := desk.Agent{ID: "grace", Name: "Grace", Apps: []string{"shop"}}
	changing := func(c *desk.PageConfig) {
		c.Agent = func(*http.Request) (*desk.Agent, error) { return &grace, nil }
	}
	one := newHost(t, changing)
	two := newHostOver(t, one.clock, one.store, changing)
	name := func(by *host) string { return document.Get(by.does("grace", "/about", nil), "agent.name", "") }
	require.Equal(t, "Grace", name(one))
	grace.Name = "Rear Admiral"
	require.Equal(t, "Rear Admiral", name(one))
	grace.Name = "Grace Hopper"
	require.Equal(t, "Grace Hopper", name(two))
	grace.Name = "Rear Admiral"
	one.clock.advance(5 * time.Minute)
	require.Equal(t, "Rear Admiral", name(one))
}

// A host has stored a channel and a request that cannot be read.
func TestPage_BadRecords(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	path, waits := h.taken("ada", "grace"), h.waiting("shop", "bob")
	require.NoError(t, h.store.Collection("channels").Insert(t.Context(), document.O("_id", "broken", "app", "shop", "type", 7)))
	for id, kept := range map[string]any{"closed 1": nil, "closed 2": 7} {
		require.NoError(t, h.store.Collection("assignments").Insert(t.Context(), document.O(
			"_id", id, "slot", id, "app", "shop", "member", "bob", "closedAt", 1, "endedAt", 1, "endedBy", "outlet", "outlet", "shop-desk", "kept", kept,
			"tickets", document.A(document.O("type", "desk", "channel", "shop-desk")),
		)))
	}
	require.NoError(t, h.store.Collection("assignments").Insert(t.Context(), document.O(
		"_id", "open", "slot", "open", "app", "shop", "member", 7, "assignee", "busy", "assignedAt", 1, "sentAt", 1, "outlet", "shop-desk",
		"tickets", document.A(document.O("type", "desk", "channel", "shop-desk")),
	)))
	require.Len(t, objects(objects(h.does("eve", "/about", nil), "apps")[0], "teams"), 2)
	closed := objects(h.does("grace", "/closed/shop", nil), "chats")
	require.Len(t, closed, 1)
	require.Equal(t, "closed 1", document.Get(closed[0], "id", ""))
	h.does("grace", path+"/giveback", nothing)
	h.does("busy", waits+"/take", nothing)
}

// The channels of an app may be elsewhere, and out of reach.
func TestPage_ChannelsOfOneAppFail(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(c *desk.PageConfig) {
		c.Channels = func(_ context.Context, app string) ([]*channel.Channel, error) {
			if app == "shop" {
				return nil, errors.New("the shop's database is down")
			}
			return []*channel.Channel{{ID: "bank-web"}}, nil
		}
	})
	apps := objects(h.does("eve", "/about", nil), "apps")
	require.Equal(t, "shop", document.Get(apps[0], "id", ""))
	require.True(t, document.Get(apps[1], "inlets", document.O()).Has("bank-web"))
}

// An agent is notified of each message that is new, even if a look at the list also brings a mark of what was read.
func TestNotices(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node is not installed here")
	}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("page")))
	require.NoError(t, os.CopyFS(filepath.Join(folder, "parts"), os.DirFS("../../internal/page/parts")))
	command := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", `
		const { newsOf } = await import("./notices.js");
		const row = (seq, read, unread) => ({ id: "1", state: "taken", agent: "grace", teams: [], name: "Ada", last: { text: "hi" }, seq, read, unread });
		const isNews = (was, now) => newsOf(new Map([["1", row(...was)]]), new Map([["1", row(...now)]]), { id: "grace" }, true).length === 1;
		console.log(
			isNews([5, 4, 1], [6, 4, 2]), isNews([5, 5, 0], [6, 5, 1]), isNews([5, 4, 1], [6, 5, 1]), isNews([5, 4, 1], [7, 6, 1]),
			isNews([5, 4, 1], [5, 4, 1]), isNews([5, 4, 1], [5, 5, 0]), isNews([5, 4, 1], [6, 6, 0]), isNews([5, 3, 2], [5, 4, 1]),
		);`)
	command.Dir = folder
	told, err := command.CombinedOutput()
	require.NoError(t, err, string(told))
	require.Equal(t, strings.Repeat("true ", 4)+strings.Repeat("false ", 3)+"false\n", string(told))
}
