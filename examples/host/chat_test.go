package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/utility"
)

// newTrial starts the service without settings.
func newTrial(t *testing.T) *service {
	t.Helper()
	c, err := parse(nil, variables{}.lookup, io.Discard)
	require.NoError(t, err)
	c.listen = anyPort
	s, _ := started(t, c, io.Discard)
	return s
}

type answered struct {
	StatusCode int
	Header     http.Header
	cookies    []*http.Cookie
}

// asks sends a request to the service, and returns the answer with its body. Redirects are not followed.
func (s *service) asks(t *testing.T, method, path, body string, with func(*http.Request)) (answered, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url()+path, strings.NewReader(body))
	require.NoError(t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if with != nil {
		with(r)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	return answered{answer.StatusCode, answer.Header, answer.Cookies()}, string(text)
}

func TestTrial_WhoMaySeeWhichPage(t *testing.T) {
	t.Parallel()
	s := newTrial(t)
	status := func(path string, with func(*http.Request)) int {
		t.Helper()
		answer, _ := s.asks(t, http.MethodGet, path, "", with)
		return answer.StatusCode
	}
	signedIn := func(person, path string) func(*http.Request) {
		t.Helper()
		link := s.signIns.link(person)
		answer, _ := s.asks(t, http.MethodGet, link, "", nil)
		require.Equal(t, http.StatusSeeOther, answer.StatusCode)
		require.Equal(t, path, answer.Header.Get("Location"))
		require.Equal(t, http.StatusGone, status(link, nil), "a link works once")
		require.Len(t, answer.cookies, 1)
		require.True(t, answer.cookies[0].HttpOnly)
		return func(r *http.Request) { r.AddCookie(answer.cookies[0]) }
	}
	agent, operator := signedIn("grace", "/desk/"), signedIn(operator, "/admin/")
	agentToken := func(r *http.Request) { r.SetBasicAuth("grace", s.config.agents["grace"].Reveal()) }
	wrongToken := func(r *http.Request) { r.SetBasicAuth("grace", s.config.adminToken.Reveal()) }
	for name, c := range map[string]struct {
		with        func(*http.Request)
		desk, admin int
	}{
		"nobody":             {nil, http.StatusUnauthorized, http.StatusUnauthorized},
		"agent":              {agent, http.StatusOK, http.StatusUnauthorized},
		"agent with a token": {agentToken, http.StatusOK, http.StatusUnauthorized},
		"another's token":    {wrongToken, http.StatusUnauthorized, http.StatusUnauthorized},
		"operator":           {operator, http.StatusUnauthorized, http.StatusOK},
	} {
		require.Equal(t, []int{c.desk, c.admin}, []int{status("/desk/", c.with), status("/admin/", c.with)}, name)
	}
}

func TestTrial_StopEndsTheStreamOfAPage(t *testing.T) {
	t.Parallel()
	page := &http.Response{Body: http.NoBody}
	t.Cleanup(func() { require.NoError(t, page.Body.Close()) })
	s := newTrial(t) // It stops before the cleanup above.
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.url()+deskPath+"/events", http.NoBody)
	require.NoError(t, err)
	r.SetBasicAuth("grace", s.config.agents["grace"].Reveal())
	page, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, page.StatusCode)
}

func TestTrial_FilesOfAgentsAreSaved(t *testing.T) {
	t.Parallel()
	s := newTrial(t)
	for name, kind := range map[string]string{"a.html": "application/octet-stream", "b.svg": "application/octet-stream", "c.png": "image/png"} {
		address, err := s.storeFile(t.Context(), utility.StoredFile{
			Key: "some-key/" + name, Name: name, ContentType: "text/html", Content: strings.NewReader("<script>"),
		})
		require.NoError(t, err)
		answer, body := s.asks(t, http.MethodGet, strings.TrimPrefix(address, s.url()), "", nil)
		require.Equal(t, "<script>", body)
		require.Equal(t, []string{kind, "attachment", "nosniff"}, []string{
			answer.Header.Get("Content-Type"), answer.Header.Get("Content-Disposition"), answer.Header.Get("X-Content-Type-Options"),
		}, name)
	}
	answer, _ := s.asks(t, http.MethodGet, "/files/none", "", nil)
	require.Equal(t, http.StatusNotFound, answer.StatusCode)
}

func TestTrial_Conversation(t *testing.T) {
	t.Parallel()
	s := newTrial(t)
	var session struct {
		Token string `json:"token"`
	}
	visitor := func(r *http.Request) {
		r.Header.Set("Origin", s.url())
		if session.Token != "" {
			r.Header.Set("Authorization", "Bearer "+session.Token)
		}
	}
	_, body := s.asks(t, http.MethodPost, "/chat/session", `{"channel":"site"}`, visitor)
	require.NoError(t, json.Unmarshal([]byte(body), &session), body)
	require.NotEmpty(t, session.Token)
	answer, body := s.asks(t, http.MethodPost, "/chat/messages", `{"clientId":"m1","type":"TEXT","text":"a table for 4 at 19:30"}`, visitor)
	require.Less(t, answer.StatusCode, 300, body)
	require.Eventually(t, func() bool {
		_, body = s.asks(t, http.MethodGet, "/chat/history?limit=10", "", visitor)
		return strings.Contains(body, held)
	}, patience, 10*time.Millisecond)
	answer, _ = s.asks(t, http.MethodPost, "/chat/session", `{"channel":"site"}`, func(r *http.Request) { r.Header.Set("Origin", "https://other.example") })
	require.Equal(t, http.StatusForbidden, answer.StatusCode)
}

func TestAgent_NameOfLettersOutsideASCII(t *testing.T) {
	t.Parallel()
	s := newTrial(t)
	s.signIns.tokens["émile"] = s.config.adminToken
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/desk/", http.NoBody)
	r.SetBasicAuth("émile", s.config.adminToken.Reveal())
	agent, err := s.agent(r)
	require.NoError(t, err)
	require.Equal(t, "Émile", agent.Name)
}

func TestCheck_AsksTheAddressOfListen(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this system does not listen on 127.0.0.2: ", err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	require.NoError(t, server.Listener.Close())
	server.Listener = listener
	server.Start()
	defer server.Close()
	require.NoError(t, check(t.Context(), listener.Addr().String()))
}

func TestCheck_AsksARunningService(t *testing.T) {
	t.Parallel()
	s := newTrial(t)
	require.Zero(t, run(t.Context(), []string{"-check", "-listen", s.listener.Addr().String()}, variables{}.lookup, io.Discard, io.Discard))
	require.Equal(t, 1, run(t.Context(), []string{"-check", "-listen", "127.0.0.1:1"}, variables{}.lookup, io.Discard, io.Discard))
}
