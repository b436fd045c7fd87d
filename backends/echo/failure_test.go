package echo_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
)

// refusing is a platform that gives access tokens and refuses everything else.
func refusing(refused echofake.Refusal) http.Handler {
	platform := newPlatform()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == echofake.PathToken {
			platform.ServeHTTP(w, r)
			return
		}
		refused.Write(w)
	})
}

func TestError_OfEachKnownCode(t *testing.T) {
	t.Parallel()
	var known []struct {
		Errcode int64
		Errmsg  string
		Means   string
	}
	connectortest.Facts(t, "echo", "errors.json", &known)
	require.NotEmpty(t, known)
	for _, one := range known {
		t.Run(strconv.FormatInt(one.Errcode, 10), func(t *testing.T) {
			t.Parallel()
			_, err := over(t, refusing(echofake.Refusal{Code: one.Errcode, Message: one.Errmsg})).Send(t.Context(), toAda(send.Text("Hello")))
			require.ErrorContains(t, err, one.Errmsg)
			require.ErrorContains(t, err, fmt.Sprintf("(errcode %d", one.Errcode))
			code := string(boterr.CodeOf(err))
			switch {
			case strings.HasPrefix(one.Means, "no code"):
				require.False(t, boterr.HasCode(err), "%v", err)
			case strings.HasPrefix(one.Means, "TagReply"):
				require.True(t, boterr.HasCode(err), "%v", err)
			default:
				require.Contains(t, one.Means, code)
			}
			if refused, ok := boterr.AsError(err); ok && refused.Field != "" {
				require.Contains(t, one.Means, refused.Field)
			}
		})
	}
}

func TestError_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for code, says := range map[int64]string{
		43004: "no longer follows the account", 45015: "more than 48 hours old", 45047: "has already got the 5 messages",
	} {
		_, err := over(t, refusing(echofake.Refusal{Code: code})).Send(t.Context(), toAda(send.Text("Hello")))
		require.ErrorIs(t, err, boterr.FailedPrecondition)
		require.ErrorContains(t, err, says)
		require.Equal(t, code == 43004, send.IsGone(err), "otherwise the member may write again")
	}
}

func TestError_OfAnUnknownCode(t *testing.T) {
	t.Parallel()
	_, err := over(t, refusing(echofake.Refusal{Code: 99999, Message: strings.Repeat("\x1b", 300)})).Send(t.Context(), toAda(send.Text("Hello")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "(errcode 99999: ")
	require.NotContains(t, err.Error(), "\x1b")
	require.Less(t, len(err.Error()), 1200)
}

func TestRateLimit_TellsTheTime(t *testing.T) {
	t.Parallel()
	for code, wait := range map[int64]time.Duration{45009: time.Hour, 45011: time.Minute} {
		_, err := over(t, refusing(echofake.Refusal{Code: code})).Send(t.Context(), toAda(send.Text("Hello")))
		connectortest.RequireWait(t, err, send.RetryAfterError{After: wait})
	}
}

func TestRateLimit_AfterAPart(t *testing.T) {
	t.Parallel()
	var calls int
	connector := through(t, func(*http.Request) (*http.Response, error) {
		calls++
		if calls == 1 {
			return connectortest.Response(http.StatusOK, nil, `{"errcode":0,"errmsg":"ok"}`), nil
		}
		return connectortest.Response(http.StatusOK, nil, `{"errcode":45011,"errmsg":"too often"}`), nil
	})
	place := document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 13.25)))
	_, err := connector.Send(t.Context(), toAda(attached(place).With("text", "here")))
	connectortest.RequireSomeParts(t, err, "1 of the 2")
}

// A file that cannot be fetched or uploaded now is not a mistake in the message, which may be sent again.
func TestFile_ServerFails(t *testing.T) {
	t.Parallel()
	connector := through(t, func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	for _, address := range []string{"https://x.test/busy.png", "https://x.test/a.png"} {
		relayed := attached(document.O("type", "image", "payload", document.O("url", address)))
		for _, response := range []send.Response{send.Image(address), relayed} {
			_, err := connector.Send(t.Context(), toAda(response))
			require.Error(t, err)
			require.False(t, boterr.HasCode(err), "%v", err)
		}
	}
}

// through returns a connector whose requests, apart from the ones for access tokens, go to a transport.
func through(t *testing.T, transport connectortest.RoundTrip) *echo.Connector {
	t.Helper()
	platform := connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == echofake.PathToken {
			return connectortest.Response(200, nil, `{"access_token":"token-of-the-shop","expires_in":7200}`), nil
		}
		return transport.RoundTrip(r)
	})
	return newConnector(t, echo.Config{Timeout: connectortest.Timeout, HTTPClient: &http.Client{Transport: platform}})
}

func failures() connectortest.Failures {
	return connectortest.Failures{
		Over: func(t *testing.T, transport connectortest.RoundTrip) send.Connector {
			t.Helper()
			return through(t, transport)
		},
		At: func(t *testing.T, url string) (send.Connector, send.Message) {
			t.Helper()
			return newConnector(t, echo.Config{APIURL: url}), toAda(send.Text("Hello"))
		},
		Message: toAda(send.Text("Hello")), Unreadable: map[string]string{"no code": `{"errmsg":"ok"}`, "a wrong one": `{"errcode":"x"}`},
		Endless: `{"errmsg":"`, Secret: "token-of-the-shop",
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	failures().Run(t)
}

func TestSend_AnswerOfAProxy(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]boterr.Code{404: boterr.FailedPrecondition, 429: boterr.ResourceExhausted} {
		_, err := through(t, connectortest.Answer(status, nil, "<html>")).
			Send(t.Context(), toAda(send.Text("Hello")))
		require.ErrorIs(t, err, code)
	}
}

func TestLimited_KeepsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := echo.Limited(through(t, connectortest.Answer(200, nil, `{"errcode":0,"errmsg":"ok"}`)))
		connectortest.RequireRate(t, limited, toAda(send.Text("Hello")), 11, 100*time.Millisecond)
	})
}

func TestOpen_FileOfAMember(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddFile("m1", "image", "a picture")
	p.AddFile("m2", "video", "https://video.example/1.mp4")
	connector := over(t, p)
	for id, want := range map[string]string{"m1": "a picture", "m2": "a file"} {
		file, err := connector.Open(t.Context(), shop(), id)
		connectortest.RequireFile(t, file, err, want)
	}
	p.Expire(shopApp)
	_, err := connector.Open(t.Context(), shop(), "none")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Open(t.Context(), nil, "m1")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestOpen_EndlessFile(t *testing.T) {
	t.Parallel()
	connector := newConnector(t, echo.Config{MaxFileBytes: 1 << 20, HTTPClient: &http.Client{Transport: connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == echofake.PathToken {
			return connectortest.Response(200, nil, `{"access_token":"token-of-the-shop","expires_in":7200}`), nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}}, Body: io.NopCloser(endless{})}, nil
	})}})
	file, err := connector.Open(t.Context(), shop(), "m1")
	connectortest.RequireTooLong(t, file, err, 1<<20)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, echo.New, map[string]echo.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxFileBytes": {MaxFileBytes: -1}, "BodyTime": {BodyTime: -1},
	})
}

func FuzzAnswer(f *testing.F) {
	failures().Fuzz(f, `{"errcode":45015,"errmsg":"x"}`, `{"errcode":0}`, `{"errcode":1e300}`, `{"errcode":{}}`, "[]", "", "<html>")
}
