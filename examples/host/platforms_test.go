package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/alphafake"
	"github.com/botctx/go-sdk/internal/bravofake"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/internal/telegramfake"
)

// hosted is a running service with channels of platforms.
func hosted(t *testing.T, channels []map[string]string, environment variables) (address string) {
	t.Helper()
	folder := t.TempDir()
	file := filepath.Join(folder, "channels.json")
	text, err := json.Marshal(channels)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, text, 0o600))
	c, err := parse([]string{"-listen", anyPort, "-file", filepath.Join(folder, "bots.db"), "-channels", file, "-allow", "127.0.0.1"}, environment.lookup, io.Discard)
	require.NoError(t, err)
	s, _ := started(t, c, io.Discard)
	return "http://" + s.listener.Addr().String()
}

// reported sends a request of a platform to the service.
func reported(t *testing.T, address string, request *http.Request) reply {
	t.Helper()
	again, err := http.NewRequestWithContext(t.Context(), request.Method, address+request.URL.String(), request.Body)
	require.NoError(t, err)
	again.Header = request.Header
	return do(again)
}

// saying serves a platform. It returns its address, and a Go channel with the texts that it receives at a
// path.
func saying(t *testing.T, platform http.Handler, path string) (address string, said <-chan string) {
	t.Helper()
	texts := make(chan string, 10)
	api := httptest.NewServer(graphtest.Watched(platform, func(x graphtest.Exchange) {
		var body document.Object
		_ = body.UnmarshalJSON(x.Request)
		texts <- document.Get(body, path, "")
	}))
	t.Cleanup(api.Close)
	return api.URL, texts
}

func TestService_PagesOnAlpha(t *testing.T) {
	t.Parallel()
	api, said := saying(t, alphafake.New(map[string]string{"token-1": "1900"}, "100"), "message.text")
	address := hosted(t, []map[string]string{
		{"app": "bistro", "id": "page", "type": "alpha", "account": "1900", "tokenVariable": "TOKEN"},
	}, variables{"TOKEN": "token-1", "HOST_ALPHA_APP_SECRET": "app-secret", "HOST_ALPHA_VERIFY_TOKEN": "word", "HOST_ALPHA_API": api})

	check := reported(t, address, graphtest.Check(t.Context(), "/alpha", "word", "1158201444"))
	require.Equal(t, reply{status: http.StatusOK, body: "1158201444"}, check)
	body := []byte(fmt.Sprintf(`{"object":"page","entry":[{"id":"1900","messaging":[{"sender":{"id":"100"},"recipient":{"id":"1900"},`+
		`"timestamp":1700000000000,"message":{"mid":"m_1","text":%q}}]}]}`, "a table for 4 at 19:30"))
	require.Equal(t, http.StatusUnauthorized, reported(t, address, graphtest.Report(t.Context(), "/alpha", "another secret", bytes.Clone(body))).status)
	for range 2 {
		require.Equal(t, http.StatusOK, reported(t, address, graphtest.Report(t.Context(), "/alpha", "app-secret", bytes.Clone(body))).status)
	}
	require.Equal(t, held, <-said)
	require.Empty(t, said, "a report that arrives twice is answered once")
}

func TestService_AccountsOnEcho(t *testing.T) {
	t.Parallel()
	platform := echofake.New(map[string]string{"wx1": "the account's secret"}, "oAda")
	texts := make(chan string, 10)
	api := httptest.NewServer(graphtest.Watched(platform, func(x graphtest.Exchange) {
		var body document.Object
		if _ = body.UnmarshalJSON(x.Request); body.Has("text") {
			texts <- document.Get(body, "text.content", "")
		}
	}))
	t.Cleanup(api.Close)
	address := hosted(t, []map[string]string{
		{"app": "bistro", "id": "account", "type": "echo", "account": "gh_1", "infoVariable": "INFO"},
	}, variables{
		"INFO":          `{"appId":"wx1","appsecret":"the account's secret","token":"word","encodingAESKey":"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"}`,
		"HOST_ECHO_API": api.URL,
	})
	now := time.Now()
	platformSide := echofake.Webhook{Token: "word", Key: "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG", AppID: "wx1"}
	check := reported(t, address, platformSide.Check(t.Context(), "/echo/gh_1", now, "1158201444"))
	require.Equal(t, reply{status: http.StatusOK, body: "1158201444"}, check)
	text := echofake.Text("oAda", "gh_1", "7", now, "a table for 4 at 19:30")
	for range 2 {
		require.Equal(t, reply{status: http.StatusOK, body: "success"}, reported(t, address, platformSide.Report(t.Context(), "/echo/gh_1", now, text)))
	}
	require.Equal(t, held, <-texts)
	require.Empty(t, texts, "a report that arrives twice is answered once")
}

func TestService_HelpdeskOnFoxtrot(t *testing.T) {
	t.Parallel()
	platform := foxtrotfake.New(map[string]string{"key:secret-of-key": "app-1"})
	platform.AddConversation("app-1", "c1")
	api, said := saying(t, platform, "content.text")
	address := hosted(t, []map[string]string{
		{"app": "bistro", "id": "desk", "type": "foxtrot", "account": "app-1", "infoVariable": "INFO"},
	}, variables{
		"INFO": `{"appId":"app-1","keyId":"key","keySecret":"secret-of-key","webhookSecret":"secret-of-webhook","baseUrl":"` + api + `"}`,
	})
	platform.MemberSays("c1", "a table for 4 at 19:30", "")
	report := platform.Reports()[0].Body
	require.Equal(t, http.StatusUnauthorized, reported(t, address, foxtrotfake.Post(t.Context(), "/foxtrot/app-1", "another", report)).status)
	require.Equal(t, http.StatusOK, reported(t, address, foxtrotfake.Post(t.Context(), "/foxtrot/app-1", "secret-of-webhook", report)).status)
	require.Equal(t, held, <-said)
}

func TestService_NumbersOnBravo(t *testing.T) {
	t.Parallel()
	api, said := saying(t, bravofake.New(map[string]string{"token-1": "106"}, "16505551234"), "text.body")
	address := hosted(t, []map[string]string{
		{"app": "bistro", "id": "phone", "type": "bravo", "account": "106", "tokenVariable": "TOKEN"},
	}, variables{"TOKEN": "token-1", "HOST_BRAVO_APP_SECRET": "app-secret", "HOST_BRAVO_VERIFY_TOKEN": "word", "HOST_BRAVO_API": api})
	require.Equal(t, http.StatusOK, reported(t, address, graphtest.Check(t.Context(), "/bravo", "word", "1")).status)
	body := []byte(`{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"field":"messages","value":{"messaging_product":"whatsapp",` +
		`"metadata":{"phone_number_id":"106"},"messages":[{"from":"16505551234","id":"wamid.1","timestamp":"1700000000","type":"text",` +
		`"text":{"body":"a table for 4 at 19:30"}}]}}]}]}`)
	require.Equal(t, http.StatusOK, reported(t, address, graphtest.Report(t.Context(), "/bravo", "app-secret", body)).status)
	require.Equal(t, held, <-said)
}

func TestService_BotsOnHotel(t *testing.T) {
	t.Parallel()
	app := hotelfake.App{ID: "app-1", Password: "secret-of-app-1", Tenant: "7d3a1c9e-8f42-4b6d-a1e0-6c5b4a392817"}
	platform := hotelfake.New(app)
	platform.Now = time.Now // The service uses the machine's clock.
	platform.AddUser("29:ada", "Ada Lovelace")
	api, said := saying(t, platform, "text")
	platform.ServiceURL = api + "/teams/"
	address := hosted(t, []map[string]string{
		{"app": "bistro", "id": "team", "type": "hotel", "account": app.ID, "tenant": app.Tenant, "tokenVariable": "TOKEN"},
	}, variables{"TOKEN": app.Password, "HOST_HOTEL_API": api})
	activity := platform.Activity(app, "29:ada", "", document.O("text", "a table for 4 at 19:30"))
	require.Equal(t, http.StatusForbidden, reported(t, address, platform.Report(t.Context(), "/hotel", "another app", activity)).status)
	for range 2 {
		require.Equal(t, http.StatusOK, reported(t, address, platform.Report(t.Context(), "/hotel", app.ID, activity)).status)
	}
	for text := range said { // Logins, keys and the beginning of the conversation have no text.
		if text != "" {
			require.Equal(t, held, text)
			return
		}
	}
}

const telegramToken = "7001:token-that-only-the-tests-know"

func TestTelegram_TalksAtOnce(t *testing.T) {
	t.Parallel()
	platform, log := telegramfake.New(), &lockedBuffer{}
	platform.AddBot(telegramToken, telegramID)
	platform.AddUser(501, "Ada")
	server := httptest.NewServer(platform)
	t.Cleanup(server.Close)
	environment := variables{telegramVariable: telegramToken, adminVariable: tokenOfTests}
	args := []string{"-listen", anyPort, "-file", filepath.Join(t.TempDir(), "bots.db"), "-log-level", "debug"}
	c, err := parse(args, environment.lookup, io.Discard)
	require.NoError(t, err)
	c.telegramURL = server.URL
	_, stop := started(t, c, log)
	for before, turn := range [][2]string{{"a table for 4 at 19:30", held}, {"yes", "Booked: 4 at 19:30. See you then!"}} {
		platform.Says(telegramToken, 501, "501", turn[0])
		require.Eventually(t, func() bool { return len(platform.Messages()) > before }, patience, time.Millisecond)
		require.Equal(t, turn[1], platform.Messages()[before].Text)
	}
	stop()
	require.NotContains(t, log.String(), "only-the-tests-know")
}

func TestTelegram_WrongTokenIsNamed(t *testing.T) {
	t.Parallel()
	var problems bytes.Buffer
	environment := variables{telegramVariable: "not-a-token"}
	args := []string{"-listen", anyPort, "-file", filepath.Join(t.TempDir(), "bots.db")}
	require.Equal(t, 1, run(t.Context(), args, environment.lookup, io.Discard, &problems))
	require.Contains(t, problems.String(), "HOST_TELEGRAM_TOKEN: ")
	require.Contains(t, problems.String(), "BotFather")
	require.NotContains(t, problems.String(), "not-a-token")
}
