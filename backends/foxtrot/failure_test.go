package foxtrot_test

import (
	"encoding/json"
	"net/http"
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
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
)

// through returns a connector whose requests go to a transport.
func through(t *testing.T, transport connectortest.RoundTrip) *foxtrot.Connector {
	t.Helper()
	return newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: transport}, Timeout: connectortest.Timeout})
}

func TestError_OfEachKnownStatus(t *testing.T) {
	t.Parallel()
	var known []struct {
		Status int
		Body   json.RawMessage
		Means  string
	}
	connectortest.Facts(t, "foxtrot", "errors.json", &known)
	require.NotEmpty(t, known)
	for _, one := range known {
		t.Run(strconv.Itoa(one.Status), func(t *testing.T) {
			t.Parallel()
			_, err := through(t, connectortest.Answer(one.Status, nil, string(one.Body))).
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
		_, err := through(t, connectortest.Answer(http.StatusTooManyRequests, http.Header{"Retry-After": {header}}, "{}")).Send(t.Context(), message(desk(), ada, send.Text("Hello")))
		connectortest.RequireWait(t, err, send.RetryAfterError{After: wait})
	}
}

func TestRateLimit_AfterAPart(t *testing.T) {
	t.Parallel()
	asked := 0
	_, err := through(t, func(*http.Request) (*http.Response, error) {
		asked++
		if asked > 1 {
			return connectortest.Response(http.StatusTooManyRequests, nil, "{}"), nil
		}
		return connectortest.Response(http.StatusCreated, nil, `{"messages":[{"id":"m1"}]}`), nil
	}).Send(t.Context(), message(desk(), ada, send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(
		document.O("type", "image", "payload", document.O("url", "https://x.test/a.png")))))))
	connectortest.RequireSomeParts(t, err, "1 of the 2")
}

func failures() connectortest.Failures {
	return connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			return through(t, transport)
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			return newConnector(t, foxtrot.Config{HTTPClient: &http.Client{}}), message(at(url, desk()), ada, send.Text("Hello"))
		},
		Message: message(desk(), ada, send.Text("Hello")), Unreadable: map[string]string{"no id": `{"messages":[]}`},
		Endless: `{"messages":"`, Secret: keySecret,
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	failures().Run(t)
}

func TestSend_PrivateAddressOfAChannel(t *testing.T) {
	t.Parallel()
	connectortest.RequirePublic(t, newConnector(t, foxtrot.Config{}), func(address string) send.Message {
		return message(at(address, desk()), ada, send.Text("Hello"))
	})
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
				return connectortest.Response(200, nil, "{}"), nil
			}).Send(t.Context(), message(in, recipient, send.Text("Hello")))
			require.Error(t, err)
			require.Equal(t, c.want, asked)
			require.Equal(t, c.want == "", boterr.CodeOf(err) == boterr.FailedPrecondition)
		})
	}
}

func TestSend_RecipientThatLeavesTheAddress(t *testing.T) {
	t.Parallel()
	_, err := through(t, func(*http.Request) (*http.Response, error) {
		t.Error("the call was made")
		return connectortest.Response(200, nil, "{}"), nil
	}).Send(t.Context(), message(desk(), "..", send.Text("Hello")))
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestLimited_KeepsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := foxtrot.Limited(through(t, connectortest.Answer(201, nil, `{"messages":[{"id":"m1"}]}`)))
		connectortest.RequireRate(t, limited, message(desk(), ada, send.Text("Hello")), 20, time.Second)
	})
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, foxtrot.New, map[string]foxtrot.Config{"Timeout": {Timeout: -1}, "BodyTime": {BodyTime: -1}})
}

func FuzzAnswer(f *testing.F) {
	failures().Fuzz(f, `{"errors":[{"code":"x","title":"y"}]}`, `{"errors":{}}`, `{"error":"x","description":7}`, "[]", "", "<html>")
}
