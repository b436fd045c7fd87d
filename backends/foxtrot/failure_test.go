package foxtrot_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/send"
)

// data reads a file of the platforms' recorded data, or skips the test.
func data(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "platforms", "foxtrot", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("needs the platform's data (%s), which is not next to this repository", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func through(t *testing.T, f roundTrip) *foxtrot.Connector {
	t.Helper()
	return newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: f}, Timeout: 3 * time.Second})
}

func TestError_OfEachKnownStatus(t *testing.T) {
	t.Parallel()
	var known []struct {
		Status int
		Body   json.RawMessage
		Means  string
	}
	data(t, "errors.json", &known)
	require.NotEmpty(t, known)
	for _, one := range known {
		t.Run(strconv.Itoa(one.Status), func(t *testing.T) {
			t.Parallel()
			_, err := through(t, func(*http.Request) (*http.Response, error) { return answered(one.Status, nil, string(one.Body)), nil }).
				Send(t.Context(), message(desk(), ada, send.Text("Hello")))
			require.Error(t, err)
			switch {
			case one.Means == "no code":
				require.False(t, boterr.HasCode(err), "%v", err)
			case strings.HasPrefix(one.Means, "of POST users"):
				require.ErrorIs(t, err, boterr.FailedPrecondition)
			default:
				require.Equal(t, one.Means, string(boterr.CodeOf(err)), "%v", err)
			}
		})
	}
}

func TestRateLimit_TellsTheTime(t *testing.T) {
	t.Parallel()
	for header, wait := range map[string]time.Duration{"": 5 * time.Second, "93": 93 * time.Second, "x": 5 * time.Second} {
		_, err := through(t, func(*http.Request) (*http.Response, error) {
			return answered(http.StatusTooManyRequests, http.Header{"Retry-After": {header}}, "{}"), nil
		}).Send(t.Context(), message(desk(), ada, send.Text("Hello")))
		require.ErrorIs(t, err, boterr.ResourceExhausted)
		hint, ok := errors.AsType[*send.RetryAfterError](err)
		require.True(t, ok)
		require.Equal(t, send.RetryAfterError{After: wait}, *hint)
	}
}

// If send.Limited sent the message again, its first part would appear twice.
func TestRateLimit_AfterAPart(t *testing.T) {
	t.Parallel()
	asked := 0
	_, err := through(t, func(*http.Request) (*http.Response, error) {
		asked++
		if asked > 1 {
			return answered(http.StatusTooManyRequests, nil, "{}"), nil
		}
		return answered(http.StatusCreated, nil, `{"messages":[{"id":"m1"}]}`), nil
	}).Send(t.Context(), message(desk(), ada, send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(
		document.O("type", "image", "payload", document.O("url", "https://x.test/a.png")))))))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	require.ErrorContains(t, err, "accepted 1 of the 2 parts")
	_, hasHint := errors.AsType[*send.RetryAfterError](err)
	require.False(t, hasHint)
}

func TestSend_WithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]roundTrip{
		"a failure": func(*http.Request) (*http.Response, error) { return answered(502, nil, "<html>"), nil },
		"no JSON":   func(*http.Request) (*http.Response, error) { return answered(200, nil, "<html>"), nil },
		"no id":     func(*http.Request) (*http.Response, error) { return answered(201, nil, `{"messages":[]}`), nil },
		"no network": func(r *http.Request) (*http.Response, error) {
			return nil, errors.New("no way to " + keySecret + r.URL.String())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			_, err := through(t, func(r *http.Request) (*http.Response, error) {
				asked++
				return f(r)
			}).Send(t.Context(), message(desk(), ada, send.Text("Hello")))
			require.Error(t, err)
			require.False(t, boterr.HasCode(err), "%v", err)
			require.Equal(t, 1, asked, "nothing is repeated")
			require.NotContains(t, err.Error(), keySecret)
		})
	}
}

func TestSend_SilentPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now() //nolint:forbidigo // Virtual time.
		_, err := through(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}).Send(t.Context(), message(desk(), ada, send.Text("Hello")))
		require.Error(t, err)
		require.False(t, boterr.HasCode(err))
		require.Equal(t, 3*time.Second, time.Since(began)) //nolint:forbidigo // Virtual time.
	})
}

func TestSend_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	asked := 0
	_, err := through(t, func(*http.Request) (*http.Response, error) {
		asked++
		return answered(http.StatusTemporaryRedirect, http.Header{"Location": {"https://elsewhere.example/"}}, ""), nil
	}).Send(t.Context(), message(desk(), ada, send.Text("Hello")))
	require.ErrorContains(t, err, "redirect")
	require.Equal(t, 1, asked)
}

func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK")+`{"messages":"`, "x")
	_, err := newConnector(t, foxtrot.Config{}).Send(t.Context(), message(at("http://"+server.Address, desk()), ada, send.Text("Hello")))
	require.Error(t, err)
	server.RequireHungUp(t, 1)
}

func TestSend_AddressOfTheHelpdesk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		info document.Object
		want string
	}{
		"conversations by subdomain": {document.O("appId", "a/1", "keyId", "k", "keySecret", "secret", "subdomain", "tea"), "https://tea.zendesk.com/sc/v2/apps/a%2F1/conversations/cnvada/messages"},
		"tickets by subdomain":       {document.O("email", "a@b", "apiToken", "token", "subdomain", "tea"), "https://tea.zendesk.com/api/v2/tickets/7.json"},
		"tickets of both": {
			document.O("appId", "a", "keyId", "k", "keySecret", "secret", "email", "a@b", "apiToken", "token", "subdomain", "tea", "mode", "tickets"),
			"https://tea.zendesk.com/api/v2/tickets/7.json",
		},
		"an address of its own":  {document.O("appId", "a", "keyId", "k", "keySecret", "secret", "baseUrl", "https://api.smooch.io/"), "https://api.smooch.io/v2/apps/a/conversations/cnvada/messages"},
		"a subdomain that leads": {document.O("appId", "a", "keyId", "k", "keySecret", "secret", "subdomain", "evil.test/"), ""},
		"no address":             {document.O("appId", "a", "keyId", "k", "keySecret", "secret"), ""},
		"an odd address":         {document.O("appId", "a", "keyId", "k", "keySecret", "secret", "baseUrl", "ftp://x"), ""},
		"no secret":              {document.O("appId", "a", "keyId", "k", "subdomain", "tea"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := ""
			in := &channel.Channel{ID: "desk", Type: channel.Foxtrot, Info: channel.OtherInfo{Hidden: channel.Hide(c.info)}}
			recipient := ada
			if c.info.Has("email") {
				recipient = "ticket:7"
			}
			_, err := through(t, func(r *http.Request) (*http.Response, error) {
				asked = r.URL.String()
				return answered(200, nil, "{}"), nil
			}).Send(t.Context(), message(in, recipient, send.Text("Hello")))
			require.Error(t, err)
			require.Equal(t, c.want, asked)
			require.Equal(t, c.want == "", boterr.CodeOf(err) == boterr.FailedPrecondition)
		})
	}
}

func TestLimited_KeepsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := foxtrot.Limited(through(t, func(*http.Request) (*http.Response, error) {
			return answered(201, nil, `{"messages":[{"id":"m1"}]}`), nil
		}))
		began := time.Now() //nolint:forbidigo // Virtual time.
		for range 20 {
			_, err := limited.Send(t.Context(), message(desk(), ada, send.Text("Hello")))
			require.NoError(t, err)
		}
		require.InDelta(t, time.Second, time.Since(began), float64(10*time.Millisecond)) //nolint:forbidigo // Virtual time.
	})
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]foxtrot.Config{"Timeout": {Timeout: -1}, "BodyTime": {BodyTime: -1}} {
		_, err := foxtrot.New(config)
		refused, ok := boterr.AsError(err)
		require.True(t, ok, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, field, refused.Field)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"errors":[{"code":"x","title":"y"}]}`, `{"errors":{}}`, `{"error":"x","description":7}`, "[]", "", "<html>"} {
		f.Add(400, seed)
		f.Add(201, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		_, err := through(t, func(*http.Request) (*http.Response, error) { return answered(status, http.Header{}, body), nil }).
			Send(t.Context(), message(desk(), ada, send.Text("Hello")))
		if err != nil {
			require.NotContains(t, err.Error(), keySecret)
		}
	})
}
