package alpha_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

func TestError_OfEachKnownCode(t *testing.T) {
	t.Parallel()
	var known []struct {
		Status  int
		Code    int64
		Subcode int64
		Means   string
		Message string
	}
	connectortest.Facts(t, "alpha", filepath.Join("own", "errors.json"), &known)
	require.NotEmpty(t, known)
	for _, one := range known {
		t.Run(fmt.Sprintf("%d/%d", one.Code, one.Subcode), func(t *testing.T) {
			t.Parallel()
			connector := over(t, graphtest.Refusal{Status: one.Status, Code: one.Code, Subcode: one.Subcode, Message: one.Message})
			_, err := connector.Send(t.Context(), to("100", send.Text("Hello")))
			require.Error(t, err)
			if one.Means == "no code" {
				require.False(t, boterr.HasCode(err), "%v", err)
				return
			}
			require.Equal(t, one.Means, string(boterr.CodeOf(err)), "%v", err)
			require.ErrorContains(t, err, fmt.Sprintf("(code %d", one.Code))
			require.Equal(t, one.Means == "ResourceExhausted", boterr.RetryAfter(err) == time.Minute, "want the default of a minute")
		})
	}
}

func TestError_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for text, refusal := range map[string]graphtest.Refusal{
		"token has expired; make a new one":                              {Code: 190, Subcode: 463},
		"ended with a change of password":                                {Code: 190, Subcode: 460},
		"make a new one and store it in the channel's info (code 190/1,": {Code: 190, Subcode: 1},
		"more than 24 hours old":                                         {Code: 10, Subcode: 2018278},
		"lacks a permission":                                             {Code: 230},
		"the file is too large":                                          {Code: 100, Subcode: 2018109},
		"call AbCdEf123":                                                 {Code: 7},
	} {
		refusal.Status = http.StatusBadRequest
		_, err := over(t, refusal).Send(t.Context(), to("100", send.Text("Hello")))
		require.ErrorContains(t, err, text)
	}
}

func TestRateLimit_TellsTheTime(t *testing.T) {
	t.Parallel()
	_, err := over(t, graphtest.Refusal{Status: 400, Code: 613, Minutes: 7}).Send(t.Context(), to("100", send.Text("Hello")))
	connectortest.RequireWait(t, err, send.RetryAfterError{After: 7 * time.Minute})
}

// through returns a connector whose requests go to a transport.
func through(t *testing.T, transport connectortest.RoundTrip) *alpha.Connector {
	t.Helper()
	return connectortest.New(t, alpha.New, alpha.Config{HTTPClient: &http.Client{Transport: transport}, Timeout: connectortest.Timeout})
}

func TestFailures(t *testing.T) {
	t.Parallel()
	connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			return through(t, transport)
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			return connectortest.New(t, alpha.New, alpha.Config{APIURL: url}), to("100", send.Text("Hello"))
		},
		Message: to("100", send.Text("Hello")), Unreadable: map[string]string{"no ids": `{"message_id":7}`},
		Endless: `{"message_id":"`, Secret: token,
	}.Run(t)
}

func TestLimited_KeepsTheDocumentedRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := alpha.Limited(through(t, connectortest.Answer(200, nil, `{"recipient_id":"100","message_id":"m"}`)))
		connectortest.RequireRate(t, limited, to("100", send.Text("Hello")), 11, 10*time.Second/300)
		connectortest.RequireRate(t, limited, to("100", send.Video("https://x.test/a.mp4")), 11, time.Second)
	})
}

func TestOpen_FetchesWithoutTheToken(t *testing.T) {
	t.Parallel()
	var seen http.Header
	connector := through(t, func(r *http.Request) (*http.Response, error) {
		seen = r.Header
		return connectortest.Response(200, nil, "picture"), nil
	})
	file, err := connector.Open(t.Context(), shop(), "https://scontent.xx.fbcdn.net/v/1.png?oh=1")
	connectortest.RequireFile(t, file, err, "picture")
	require.Empty(t, seen.Get("Authorization"))
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	connector := through(t, connectortest.Answer(404, nil, ""))
	for _, address := range []string{
		"https://evil.example/1.png", "https://fbcdn.net.evil.example/", "http://scontent.fbcdn.net/1.png", "https://evilfbcdn.net/",
		"https://a@scontent.fbcdn.net/", "https://scontent.fbcdn.net:8443/", "file:///etc/passwd", "", "::",
	} {
		_, err := connector.Open(t.Context(), shop(), address)
		require.ErrorIs(t, err, boterr.InvalidArgument, address)
	}
	_, err := connector.Open(t.Context(), shop(), "https://lookaside.fbsbx.com/gone")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Open(t.Context(), nil, "https://lookaside.fbsbx.com/gone")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestOpen_EndlessFile(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK"), "x")
	connector := connectortest.New(t, alpha.New, alpha.Config{APIURL: "http://" + server.Address, MaxFileBytes: 1 << 20})
	file, err := connector.Open(t.Context(), shop(), "http://"+server.Address+"/file")
	connectortest.RequireTooLong(t, file, err, 1<<20)
	server.RequireHungUp(t, 1)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, alpha.New, map[string]alpha.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxFileBytes": {MaxFileBytes: -1}, "BodyTime": {BodyTime: -1},
	})
}
