package echo_test

import (
	"encoding/json"
	"errors"
	"fmt"
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

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/echofake"
	"github.com/botctx/go-sdk/send"
)

// data reads a file of the platforms' recorded data, or skips the test.
func data(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "platforms", "echo", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("needs the platform's data (%s), which is not next to this repository", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// refusing is a platform that issues access tokens and refuses everything else.
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
	data(t, "errors.json", &known)
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
		require.ErrorIs(t, err, boterr.ResourceExhausted)
		hint, ok := errors.AsType[*send.RetryAfterError](err)
		require.True(t, ok)
		require.Equal(t, send.RetryAfterError{After: wait}, *hint)
	}
}

// If only some parts of a message arrived, the message is not sent again, because these parts would appear
// twice.
func TestRateLimit_AfterAPart(t *testing.T) {
	t.Parallel()
	var calls int
	connector := through(t, func(*http.Request) (*http.Response, error) {
		calls++
		if calls == 1 {
			return answered(http.StatusOK, nil, `{"errcode":0,"errmsg":"ok"}`), nil
		}
		return answered(http.StatusOK, nil, `{"errcode":45011,"errmsg":"too often"}`), nil
	})
	place := document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 13.25)))
	_, err := connector.Send(t.Context(), toAda(attached(place).With("text", "here")))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	_, isRetried := errors.AsType[*send.RetryAfterError](err)
	require.False(t, isRetried)
	require.ErrorContains(t, err, "1 of the 2 parts")
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// through returns a connector that gets access tokens, and sends all other requests to f.
func through(t *testing.T, f roundTrip) *echo.Connector {
	t.Helper()
	return newConnector(t, echo.Config{Timeout: 3 * time.Second, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == echofake.PathToken {
			return answered(200, nil, `{"access_token":"token-of-the-shop","expires_in":7200}`), nil
		}
		return f(r)
	})}})
}

func TestSend_WithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]roundTrip{
		"a failure":   func(*http.Request) (*http.Response, error) { return answered(502, nil, "<html>"), nil },
		"no JSON":     func(*http.Request) (*http.Response, error) { return answered(200, nil, "<html>"), nil },
		"no code":     func(*http.Request) (*http.Response, error) { return answered(200, nil, `{"errmsg":"ok"}`), nil },
		"a wrong one": func(*http.Request) (*http.Response, error) { return answered(200, nil, `{"errcode":"x"}`), nil },
		"no network":  func(r *http.Request) (*http.Response, error) { return nil, errors.New("no way to " + r.URL.String()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			_, err := through(t, func(r *http.Request) (*http.Response, error) {
				asked++
				return f(r)
			}).Send(t.Context(), toAda(send.Text("Hello")))
			require.Error(t, err)
			require.False(t, boterr.HasCode(err), "%v", err)
			require.Equal(t, 1, asked, "nothing is repeated")
			require.NotContains(t, err.Error(), "token-of-the-shop")
		})
	}
}

func TestSend_AnswerOfAProxy(t *testing.T) {
	t.Parallel()
	for status, code := range map[int]boterr.Code{404: boterr.FailedPrecondition, 429: boterr.ResourceExhausted} {
		_, err := through(t, func(*http.Request) (*http.Response, error) { return answered(status, nil, "<html>"), nil }).
			Send(t.Context(), toAda(send.Text("Hello")))
		require.ErrorIs(t, err, code)
	}
}

func TestSend_SilentPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now() //nolint:forbidigo // Virtual time.
		_, err := through(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}).Send(t.Context(), toAda(send.Text("Hello")))
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
	}).Send(t.Context(), toAda(send.Text("Hello")))
	require.ErrorContains(t, err, "redirect")
	require.Equal(t, 1, asked)
}

func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK")+`{"errmsg":"`, "x")
	connector := newConnector(t, echo.Config{APIURL: "http://" + server.Address})
	_, err := connector.Send(t.Context(), toAda(send.Text("Hello")))
	require.Error(t, err)
	server.RequireHungUp(t, 1)
}

func TestLimited_KeepsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := echo.Limited(through(t, func(*http.Request) (*http.Response, error) {
			return answered(200, nil, `{"errcode":0,"errmsg":"ok"}`), nil
		}))
		began := time.Now() //nolint:forbidigo // Virtual time.
		for range 11 {
			_, err := limited.Send(t.Context(), toAda(send.Text("Hello")))
			require.NoError(t, err)
		}
		require.Equal(t, 100*time.Millisecond, time.Since(began)) //nolint:forbidigo // Virtual time.
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
		require.NoError(t, err)
		content, err := io.ReadAll(file)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		require.Equal(t, want, string(content))
	}
	p.Expire(shopApp)
	_, err := connector.Open(t.Context(), shop(), "none")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Open(t.Context(), nil, "m1")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestOpen_EndlessFile(t *testing.T) {
	t.Parallel()
	connector := newConnector(t, echo.Config{MaxFileBytes: 1 << 20, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Path == echofake.PathToken {
			return answered(200, nil, `{"access_token":"token-of-the-shop","expires_in":7200}`), nil
		}
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"image/png"}}, Body: io.NopCloser(endless{})}, nil
	})}})
	file, err := connector.Open(t.Context(), shop(), "m1")
	require.NoError(t, err)
	read, err := io.ReadAll(file)
	require.ErrorContains(t, err, "more than 1048576 bytes")
	require.Len(t, read, 1<<20)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]echo.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxFileBytes": {MaxFileBytes: -1}, "BodyTime": {BodyTime: -1},
	} {
		_, err := echo.New(config)
		refused, ok := boterr.AsError(err)
		require.True(t, ok, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, field, refused.Field)
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{`{"errcode":45015,"errmsg":"x"}`, `{"errcode":0}`, `{"errcode":1e300}`, `{"errcode":{}}`, "[]", "", "<html>"} {
		f.Add(200, seed)
		f.Add(500, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		_, err := through(t, func(*http.Request) (*http.Response, error) { return answered(status, http.Header{}, body), nil }).
			Send(t.Context(), toAda(send.Text("Hello")))
		if err != nil {
			require.NotContains(t, err.Error(), "token-of-the-shop")
		}
	})
}
