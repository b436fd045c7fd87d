package widgettest_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
)

// folder has the bundled widget.
const folder = "../../../backends/webchat/widget"

// said is a message in a visitor's conversation.
type said struct {
	Kind     string          `json:"kind"`
	Seq      int             `json:"seq"`
	ID       string          `json:"id"`
	ClientID string          `json:"clientId,omitempty"`
	From     string          `json:"from"`
	Name     string          `json:"name,omitempty"`
	At       int64           `json:"at"`
	Response json.RawMessage `json:"response"`
}

// visitor is a visitor known to the server.
type visitor struct {
	id      string
	log     []said
	streams []*stream
}

// stream has the events that a page has not received yet, guarded by the server's lock. It has no limit, so that a
// slow page does not block the server.
type stream struct {
	events []string
	isCut  bool
	wake   chan struct{}
}

// add adds events, and wakes the page's request.
func (s *stream) add(events ...string) {
	s.events = append(s.events, events...)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// uploaded is a file from a visitor.
type uploaded struct {
	name, mediaType string
	content         []byte
}

// server implements the widget's protocol, and lets a test send messages and simulate failures. It has one channel,
// "shop".
type server struct {
	*httptest.Server

	t *testing.T
	// answers are the bot's responses to texts and payloads.
	answers map[string]string

	mu       sync.Mutex
	changed  *sync.Cond
	visitors map[string]*visitor // by token
	last     *visitor
	files    []uploaded
	refused  map[string]int // the current error status of a path
	held     chan struct{}  // if set, uploads wait until it is closed
	isSilent bool           // streams send nothing, as behind some proxies
	polls    int
	requests []string // the requests, such as "POST read {...}"
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, answers: answers, visitors: map[string]*visitor{}, refused: map[string]int{}}
	s.changed = sync.NewCond(&s.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /chat/widget.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(folder, "widget.js"))
	})
	mux.HandleFunc("POST /chat/session", s.session)
	mux.HandleFunc("GET /chat/stream", s.known(s.stream))
	mux.HandleFunc("GET /chat/history", s.known(s.history))
	mux.HandleFunc("POST /chat/messages", s.known(s.messages))
	mux.HandleFunc("POST /chat/files", s.known(s.upload))
	mux.HandleFunc("GET /chat/files/{id}", s.download)
	for _, path := range []string{"typing", "read", "signout"} {
		mux.HandleFunc("POST /chat/"+path, s.known(func(w http.ResponseWriter, r *http.Request, _ *visitor) {
			s.noted(r)
			w.WriteHeader(http.StatusNoContent)
		}))
	}
	s.Server = chromiumtest.Serve(t, s.crossOrigin(mux))
	return s
}

// crossOrigin allows pages of any origin, and responds for paths that the test refuses.
func (s *server) crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "Retry-After")
		if r.Method == http.MethodOptions {
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			return
		}
		name := strings.TrimPrefix(r.URL.Path, "/chat/")
		s.mu.Lock()
		status := s.refused[name]
		s.mu.Unlock()
		if status != 0 {
			fail(w, status)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func fail(w http.ResponseWriter, status int) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"error":{"code":"Unavailable","message":%q}}`, strings.ToLower(http.StatusText(status)))
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) //nolint:errchkjson // The values are the test's.
}

// known passes on requests with a valid token and records their bodies.
func (s *server) known(next func(http.ResponseWriter, *http.Request, *visitor)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		who := s.visitors[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		s.mu.Unlock()
		if who == nil {
			fail(w, http.StatusUnauthorized)
			return
		}
		next(w, r, who)
	}
}

// noted returns the body of a request and records it for the test.
func (s *server) noted(r *http.Request) []byte {
	body, _ := io.ReadAll(http.MaxBytesReader(nil, r.Body, 1<<20))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/chat/")+" "+string(body))
	return body
}

// session starts or renews a session. The token of a user is "signed:" and a name.
func (s *server) session(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Channel string `json:"channel"`
		Token   string `json:"token"`
		User    string `json:"user"`
		Merge   bool   `json:"merge"`
	}
	if err := json.Unmarshal(s.noted(r), &asked); err != nil || asked.Channel != "shop" {
		fail(w, http.StatusNotFound)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.visitors[asked.Token]
	name, isSigned := strings.CutPrefix(asked.User, "signed:")
	if asked.Token != "" && old == nil || asked.User != "" && !isSigned {
		fail(w, http.StatusUnauthorized)
		return
	}
	who := old
	if isSigned {
		who = s.named("u:" + name)
		if asked.Merge && old != nil {
			who.log = slices.Clone(old.log)
		}
	} else if who == nil {
		who = &visitor{id: rand.Text()}
	}
	token := rand.Text()
	s.visitors[token] = who
	s.last = who
	const year2100 = 4_102_444_800_000
	answer(w, map[string]any{"token": token, "visitor": who.id, "expiresAt": year2100})
}

// named returns the visitor with an id. The caller holds the lock.
func (s *server) named(id string) *visitor {
	for _, who := range s.visitors {
		if who.id == id {
			return who
		}
	}
	return &visitor{id: id}
}

func (s *server) history(w http.ResponseWriter, r *http.Request, who *visitor) {
	before, _ := strconv.Atoi(r.URL.Query().Get("before"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	s.mu.Lock()
	defer s.mu.Unlock()
	events := slices.Clone(who.log)
	if before > 0 {
		events = events[:min(before-1, len(events))]
	}
	from := max(0, len(events)-limit)
	answer(w, map[string]any{"events": append([]said{}, events[from:]...), "more": from > 0})
}

func (s *server) stream(w http.ResponseWriter, r *http.Request, who *visitor) {
	after, _ := strconv.Atoi(r.URL.Query().Get("after"))
	opened := &stream{wake: make(chan struct{}, 1)}
	s.mu.Lock()
	for _, one := range who.log[min(after, len(who.log)):] {
		opened.add(one.event())
	}
	who.streams = append(who.streams, opened)
	s.changed.Broadcast()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		who.streams = slices.DeleteFunc(who.streams, func(one *stream) bool { return one == opened })
		s.changed.Broadcast()
	}()
	switch {
	case r.URL.Query().Has("wait"):
		s.poll(w, r, opened)
	case s.isSilent:
		<-r.Context().Done()
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "retry: 50\n\n")
		s.write(w, r, opened)
	}
}

// write writes the events of a stream until the stream is cut or the page closes it.
func (s *server) write(w http.ResponseWriter, r *http.Request, opened *stream) {
	for {
		s.mu.Lock()
		events, isCut := opened.events, opened.isCut
		opened.events = nil
		s.mu.Unlock()
		_, _ = io.WriteString(w, strings.Join(events, ""))
		_ = http.NewResponseController(w).Flush()
		if isCut {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-opened.wake:
		}
	}
}

// poll responds with the first event.
func (s *server) poll(w http.ResponseWriter, r *http.Request, opened *stream) {
	s.mu.Lock()
	s.polls++
	s.mu.Unlock()
	select {
	case <-r.Context().Done():
	case <-opened.wake:
		s.mu.Lock()
		defer s.mu.Unlock()
		_, data, _ := strings.Cut(strings.Join(opened.events, ""), "data: ")
		first, _, _ := strings.Cut(data, "\n")
		answer(w, map[string]any{"events": []json.RawMessage{json.RawMessage(first)}})
	}
}

// event returns the message as an event of the stream.
func (m *said) event() string {
	text, _ := json.Marshal(m) //nolint:errchkjson // The response is a literal of the test's, or came as JSON.
	return fmt.Sprintf("id: %d\ndata: %s\n\n", m.Seq, text)
}

func (s *server) messages(w http.ResponseWriter, r *http.Request, who *visitor) {
	body := s.noted(r)
	var asked struct {
		ClientID string `json:"clientId"`
		Text     string `json:"text"`
		Payload  string `json:"payload"`
	}
	_ = json.Unmarshal(body, &asked) // A payload may have any type.
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range who.log {
		if one.ClientID == asked.ClientID {
			answer(w, map[string]any{"clientId": asked.ClientID, "seq": one.Seq})
			return
		}
	}
	seq := who.append(said{From: "me", ClientID: asked.ClientID, Response: body})
	s.changed.Broadcast()
	answer(w, map[string]any{"clientId": asked.ClientID, "seq": seq})
	if response, has := s.answers[asked.Text+asked.Payload]; has {
		who.append(said{From: "bot", Response: json.RawMessage(response)})
	}
}

// append adds a message to the conversation and sends it to all streams. The caller holds the server's lock.
func (v *visitor) append(one said) int {
	one.Kind, one.Seq, one.At = "message", len(v.log)+1, time.Now().UnixMilli()
	one.ID = fmt.Sprintf("m-%d", one.Seq)
	v.log = append(v.log, one)
	v.tell(one.event())
	return one.Seq
}

func (v *visitor) tell(event string) {
	for _, stream := range v.streams {
		stream.add(event)
	}
}

// upload stores a file. It refuses HTML.
func (s *server) upload(w http.ResponseWriter, r *http.Request, _ *visitor) {
	file, header, err := r.FormFile("file")
	if err != nil {
		fail(w, http.StatusBadRequest)
		return
	}
	content, _ := io.ReadAll(file)
	if s.held != nil {
		select {
		case <-s.held:
		case <-r.Context().Done():
			return
		}
	}
	mediaType := http.DetectContentType(content)
	if strings.HasPrefix(mediaType, "text/html") {
		fail(w, http.StatusUnsupportedMediaType)
		return
	}
	kind := "file"
	if strings.HasPrefix(mediaType, "image/") {
		kind = "image"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, uploaded{name: header.Filename, mediaType: mediaType, content: content})
	answer(w, map[string]any{
		"url": fmt.Sprintf("%s/chat/files/%d", s.URL, len(s.files)-1), "name": header.Filename, "type": mediaType, "size": len(content), "kind": kind,
	})
}

func (s *server) download(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.Atoi(r.PathValue("id"))
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || id < 0 || id >= len(s.files) {
		fail(w, http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", s.files[id].mediaType)
	_, _ = w.Write(s.files[id].content)
}

func isKnown(*visitor) bool { return true }

// says sends a message from the bot or an agent to the last visitor.
func (s *server) says(from, name, response string) {
	s.t.Helper()
	s.waitsFor("a visitor", isKnown)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.append(said{From: from, Name: name, Response: json.RawMessage(response)})
}

// tells sends another event to the last visitor. It waits for a page that receives events.
func (s *server) tells(event string) {
	s.t.Helper()
	s.waitsFor("a stream", func(who *visitor) bool { return len(who.streams) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last.tell("data: " + event + "\n\n")
}

// refuses makes a path respond with an error status. 0 ends that.
func (s *server) refuses(path string, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused[path] = status
}

// cuts closes all streams.
func (s *server) cuts() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, who := range s.visitors {
		for _, stream := range who.streams {
			stream.isCut = true
			stream.add()
		}
		who.streams = nil
	}
}

// forgets invalidates all tokens.
func (s *server) forgets() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.visitors)
}

// waitsFor waits until a condition on the last visitor is true. It checks the condition after each change.
func (s *server) waitsFor(what string, holds func(who *visitor) bool) {
	s.t.Helper()
	chromiumtest.Waits(s.t, what, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})()
		s.mu.Lock()
		defer s.mu.Unlock()
		for s.last == nil || !holds(s.last) {
			if ctx.Err() != nil {
				return fmt.Errorf("%w; the server was asked:\n%s", ctx.Err(), strings.Join(s.requests, "\n"))
			}
			s.changed.Wait()
		}
		return nil
	})
}

// hears waits until the last visitor has sent count messages, and returns their bodies.
func (s *server) hears(count int) []string {
	s.t.Helper()
	var bodies []string
	s.waitsFor(fmt.Sprintf("%d messages of the visitor", count), func(who *visitor) bool {
		bodies = nil
		for _, one := range who.log {
			if one.From == "me" {
				bodies = append(bodies, string(one.Response))
			}
		}
		return len(bodies) >= count
	})
	return bodies
}

// heard returns the bodies of all requests to a path.
func (s *server) heard(path string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var bodies []string
	for _, one := range s.requests {
		if body, is := strings.CutPrefix(one, "POST "+path+" "); is {
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// field returns a field of a JSON object as JSON.
func field(t *testing.T, body, name string) string {
	t.Helper()
	var fields map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(body), &fields))
	return string(fields[name])
}
