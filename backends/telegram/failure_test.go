package telegram_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/internal/telegramfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

func TestError_CodeOfRefusal(t *testing.T) {
	t.Parallel()
	buttons := send.Buttons("a", send.Postback("b", "c"))
	for _, c := range []struct {
		status      int
		description string
		response    send.Response
		code        boterr.Code
		field       string
		isGone      bool
		says        string
	}{
		{400, "Bad Request: chat not found", send.Text("x"), boterr.NotFound, "", true, "chat not found"},
		{400, "Bad Request: message thread not found", send.Text("x"), boterr.NotFound, "", true, ""},
		{400, "Bad Request: TOPIC_DELETED", send.Text("x"), boterr.NotFound, "", true, ""},
		{400, "Bad Request: TOPIC_CLOSED", send.Text("x"), boterr.FailedPrecondition, "", false, ""},
		{400, "Bad Request: not enough rights to send text messages to the chat", send.Text("x"), boterr.FailedPrecondition, "", false, "administrator"},
		{400, "Bad Request: CHAT_WRITE_FORBIDDEN", send.Text("x"), boterr.FailedPrecondition, "", false, ""},
		{400, "Bad Request: message is too long", send.Text("x"), boterr.InvalidArgument, "text", false, ""},
		{400, "Bad Request: message text is empty", buttons, boterr.InvalidArgument, "text", false, ""},
		{400, "Bad Request: message caption is too long", send.Carousel(send.Card{Title: "a", ImageURL: site}), boterr.InvalidArgument, "carousel[0].title", false, ""},
		{400, "Bad Request: BUTTON_DATA_INVALID", buttons, boterr.InvalidArgument, "buttons", false, ""},
		{400, "Bad Request: BUTTON_URL_INVALID", send.QuickReplies("a", send.QuickReply{Title: "b"}), boterr.InvalidArgument, "quickReplies", false, ""},
		{400, "Bad Request: wrong type of the web page content", send.Image(site), boterr.InvalidArgument, "url", false, "public address"},
		{400, "Bad Request: failed to get HTTP URL content", send.Carousel(send.Card{Title: "a", ImageURL: site}), boterr.InvalidArgument, "carousel[0].image_url", false, ""},
		{400, "Bad Request: wrong file identifier/HTTP URL specified", send.Attachment(send.TypeFile, "F1"), boterr.InvalidArgument, "attachment_id", false, ""},
		{400, "Bad Request: wrong file identifier/HTTP URL specified", misc("", "image", "photo", "F1"), boterr.InvalidArgument, "attachments[0]", false, ""},
		{400, "Bad Request: of a new kind", send.Text("x"), boterr.InvalidArgument, "", false, "of a new kind"},
		{400, "", send.Text("x"), boterr.InvalidArgument, "", false, ""},
		{401, "Unauthorized", send.Text("x"), boterr.FailedPrecondition, "", false, "revoked or mistyped: get the current one from BotFather"},
		{404, "Not Found", send.Text("x"), boterr.FailedPrecondition, "", false, "revoked or mistyped"},
		{403, "Forbidden: bot was blocked by the user", send.Text("x"), boterr.FailedPrecondition, "", true, "blocked"},
		{403, "Forbidden: user is deactivated", send.Text("x"), boterr.FailedPrecondition, "", true, ""},
		{403, "Forbidden: bot was kicked from the supergroup chat", send.Text("x"), boterr.FailedPrecondition, "", true, ""},
		{403, "Forbidden: bot is not a member of the channel chat", send.Text("x"), boterr.FailedPrecondition, "", true, ""},
		{403, "Forbidden: bot can't initiate conversation with a user", send.Text("x"), boterr.FailedPrecondition, "", false, ""},
		{409, "Conflict: terminated by other getUpdates request", send.Text("x"), boterr.Conflict, "", false, ""},
		{413, "Request Entity Too Large", send.Text("x"), boterr.InvalidArgument, "", false, ""},
		{418, "I am a teapot", send.Text("x"), boterr.FailedPrecondition, "", false, "status 418"},
		{502, "Bad Gateway", send.Text("x"), boterr.Unavailable, "", false, ""},
	} {
		t.Run(fmt.Sprint(c.status, " ", c.description), func(t *testing.T) {
			t.Parallel()
			connector := direct(t, telegramfake.Refuses(c.status, c.description), telegram.Config{})
			_, err := connector.Send(t.Context(), to(adaID, c.response))
			require.Equal(t, c.isGone, send.IsGone(err))
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "secret")
			err = sends.PlatformError(t.Context(), telegram.Type, err)
			found, _ := boterr.AsError(err)
			require.Equal(t, c.code, found.Code, "%v", err)
			require.Equal(t, c.field, found.Field)
		})
	}
}

func TestRetryAfter_Obeyed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		after  time.Duration
	}{
		"parameters": {telegramfake.Refuses(429, "Too Many Requests: retry after 35", "retry_after", 35), 35 * time.Second},
		"too long":   {telegramfake.Refuses(429, "", "retry_after", int64(1)<<60), time.Hour},
		"no time":    {telegramfake.Refuses(429, "Too Many Requests"), time.Second},
		"header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
		}, 7 * time.Second},
	} {
		_, err := direct(t, c.answer, telegram.Config{}).Send(t.Context(), to(adaID, send.Text("x")))
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
		require.Equal(t, c.after, boterr.RetryAfter(err), name)
	}
}

// Servers between the host and Telegram send dates.
func TestRetryAfter_Date(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, err := direct(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(7*time.Second).UTC().Format(http.TimeFormat)) //nolint:forbidigo // Virtual time.
			w.WriteHeader(http.StatusTooManyRequests)
		}), telegram.Config{}).Send(t.Context(), to(adaID, send.Text("x")))
		require.Equal(t, 7*time.Second, boterr.RetryAfter(err))
	})
}

func TestError_NoAnswerOfTelegram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
		code   boterr.Code
	}{
		"ok with another code":  {500, `{"ok":true,"result":{}}`, boterr.Internal},
		"a proxy's refusal":     {403, "<html>", boterr.FailedPrecondition},
		"another server's page": {404, "<html>", boterr.FailedPrecondition},
	} {
		answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := direct(t, answer, telegram.Config{}).Send(t.Context(), to(adaID, send.Text("x")))
		require.Error(t, err, name)
		require.Equal(t, c.code, boterr.CodeOf(err), "%s: %v", name, err)
	}
}

// Errors of net/http contain the address, which includes the token. Without it, an error still names the method.
func TestError_HoldsNoToken(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]func(r *http.Request) error{
		"the network":       func(*http.Request) error { return errors.New("connection refused") },
		"one with the path": func(r *http.Request) error { return fmt.Errorf("cannot reach %s", r.URL) },
	} {
		config := telegram.Config{HTTPClient: &http.Client{Transport: connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) { return nil, cause(r) })}}
		connector := newConnector(t, config)
		_, errOpen := connector.Open(t.Context(), shop(), "F1")
		_, errSend := connector.Send(t.Context(), to(adaID, send.Text("x")))
		errIcon := connector.SetGroupIcon(t.Context(), shop(), "-1", livechat.Picture{})
		for method, err := range map[string]error{
			"getFile": errOpen, "sendMessage": errSend, "setChatPhoto": errIcon, "setWebhook": connector.SetWebhook(t.Context(), shop(), ""),
		} {
			require.ErrorContains(t, err, method, name)
			for ; err != nil; err = errors.Unwrap(err) {
				require.NotContains(t, err.Error(), "secret", name)
			}
		}
	}
}

func failures() connectortest.Failures {
	return connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			return newConnector(t, telegram.Config{HTTPClient: &http.Client{Transport: transport}, Timeout: connectortest.Timeout})
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			return newConnector(t, telegram.Config{APIURL: url}), to(adaID, send.Text("x"))
		},
		Message:    to(adaID, send.Text("x")),
		Unreadable: map[string]string{"nothing": "", "no result": `{"ok":true}`}, Endless: `{"a":"`, Secret: "shop-secret-of-tests",
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	failures().Run(t)
}

func TestOpen_FileOfAMember(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.AddFile("F1", "the content")
	connector := w.start(t)
	file, err := connector.Open(t.Context(), shop(), "F1")
	connectortest.RequireFile(t, file, err, "the content")
	_, err = connector.Open(t.Context(), shop(), "F2")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Open(t.Context(), nil, "F1")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestOpen_PathOfAnotherServer(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", "/var/lib/telegram/F1", "https://evil.example/F1", "a/../../F1", "a?b", "//evil.example"} {
		asked := 0
		connector := direct(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			asked++
			_, _ = fmt.Fprintf(w, `{"ok":true,"result":{"file_id":"F1","file_path":%q}}`, path)
		}), telegram.Config{})
		_, err := connector.Open(t.Context(), shop(), "F1")
		require.ErrorIs(t, err, boterr.Unsupported, path)
		require.Equal(t, 1, asked)
	}
}

func TestOpen_FileHasNoEnd(t *testing.T) {
	t.Parallel()
	connector := direct(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/getFile") {
			_, _ = io.WriteString(w, `{"ok":true,"result":{"file_id":"F1","file_path":"files/F1"}}`)
			return
		}
		_, _ = w.Write(make([]byte, telegram.MaxFileBytes+1))
	}), telegram.Config{})
	file, err := connector.Open(t.Context(), shop(), "F1")
	require.NoError(t, err)
	read, err := io.Copy(io.Discard, file)
	require.Error(t, err)
	require.EqualValues(t, telegram.MaxFileBytes, read)
}

func FuzzAnswer(f *testing.F) {
	failures().Fuzz(f,
		`{"ok":true,"result":{"message_id":7,"chat":{"id":1},"date":1}}`, `{"ok":true,"result":true}`, `{"ok":true,"result":[1]}`,
		`{"ok":false,"error_code":400,"description":"Bad Request: chat not found"}`, `{"ok":false,"error_code":-1}`,
		`{"ok":false,"error_code":429,"parameters":{"retry_after":-5}}`, `{"ok":false,"parameters":{"migrate_to_chat_id":-7}}`,
		`{"ok":false,"description":"/bot7001:shop-secret-of-tests/sendMessage"}`, `{"ok":{},"result":{}}`, `[]`, `null`, ``)
}
