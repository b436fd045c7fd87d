package alpha_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/alpha"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

// data reads a file of the platforms' recorded data, or skips the test.
func data(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "platforms", "alpha", name))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("needs the platform's data (%s), which is not next to this repository", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

func refusing(f graphtest.Refusal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { f.Write(w) })
}

func TestError_OfEachKnownCode(t *testing.T) {
	t.Parallel()
	var known []struct {
		Status  int
		Code    int64
		Subcode int64
		Means   string
		Message string
	}
	data(t, filepath.Join("own", "errors.json"), &known)
	require.NotEmpty(t, known)
	for _, one := range known {
		t.Run(fmt.Sprintf("%d/%d", one.Code, one.Subcode), func(t *testing.T) {
			t.Parallel()
			connector := over(t, refusing(graphtest.Refusal{
				Status: one.Status, Code: one.Code, Subcode: one.Subcode, Message: one.Message,
			}))
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
		_, err := over(t, refusing(refusal)).Send(t.Context(), to("100", send.Text("Hello")))
		require.ErrorContains(t, err, text)
	}
}

func TestRateLimit_TellsTheTime(t *testing.T) {
	t.Parallel()
	_, err := over(t, refusing(graphtest.Refusal{Status: 400, Code: 613, Minutes: 7})).Send(t.Context(), to("100", send.Text("Hello")))
	require.ErrorIs(t, err, boterr.ResourceExhausted)
	hint, ok := errors.AsType[*send.RetryAfterError](err)
	require.True(t, ok)
	require.Equal(t, send.RetryAfterError{After: 7 * time.Minute}, *hint)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(status int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func through(t *testing.T, f roundTrip) *alpha.Connector {
	t.Helper()
	return newConnector(t, alpha.Config{HTTPClient: &http.Client{Transport: f}, Timeout: 3 * time.Second})
}

func TestSend_WithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]roundTrip{
		"a failure":  func(*http.Request) (*http.Response, error) { return answered(502, nil, "<html>"), nil },
		"no JSON":    func(*http.Request) (*http.Response, error) { return answered(200, nil, "<html>"), nil },
		"no ids":     func(*http.Request) (*http.Response, error) { return answered(200, nil, `{"message_id":7}`), nil },
		"no network": func(r *http.Request) (*http.Response, error) { return nil, errors.New("no way to " + r.URL.String()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			_, err := through(t, func(r *http.Request) (*http.Response, error) {
				asked++
				return f(r)
			}).Send(t.Context(), to("100", send.Text("Hello")))
			require.Error(t, err)
			require.False(t, boterr.HasCode(err), "%v", err)
			require.Equal(t, 1, asked, "nothing is repeated")
			require.NotContains(t, err.Error(), token)
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
		}).Send(t.Context(), to("100", send.Text("Hello")))
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
	}).Send(t.Context(), to("100", send.Text("Hello")))
	require.ErrorContains(t, err, "redirect")
	require.Equal(t, 1, asked)
}

func TestSend_EndlessAnswer(t *testing.T) {
	t.Parallel()
	server := boundedtest.Serve(t, true, boundedtest.Answers("200 OK")+`{"message_id":"`, "x")
	connector := newConnector(t, alpha.Config{APIURL: "http://" + server.Address})
	_, err := connector.Send(t.Context(), to("100", send.Text("Hello")))
	require.Error(t, err)
	server.RequireHungUp(t, 1)
}

func TestLimited_KeepsTheDocumentedRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := alpha.Limited(through(t, func(*http.Request) (*http.Response, error) {
			return answered(200, nil, `{"recipient_id":"100","message_id":"m"}`), nil
		}))
		for response, want := range map[*send.Response]time.Duration{
			new(send.Text("Hello")):                 10 * time.Second / 300,
			new(send.Video("https://x.test/a.mp4")): time.Second,
		} {
			began := time.Now() //nolint:forbidigo // Virtual time.
			for range 11 {
				_, err := limited.Send(t.Context(), to("100", *response))
				require.NoError(t, err)
			}
			require.InDelta(t, want, time.Since(began), float64(10*time.Millisecond)) //nolint:forbidigo // Virtual time.
		}
	})
}

func TestOpen_FetchesWithoutTheToken(t *testing.T) {
	t.Parallel()
	var seen http.Header
	connector := through(t, func(r *http.Request) (*http.Response, error) {
		seen = r.Header
		return answered(200, nil, "picture"), nil
	})
	file, err := connector.Open(t.Context(), shop(), "https://scontent.xx.fbcdn.net/v/1.png?oh=1")
	require.NoError(t, err)
	bytes, err := io.ReadAll(file)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.Equal(t, "picture", string(bytes))
	require.Empty(t, seen.Get("Authorization"))
}

func TestOpen_Refuses(t *testing.T) {
	t.Parallel()
	connector := through(t, func(*http.Request) (*http.Response, error) { return answered(404, nil, ""), nil })
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
	connector := newConnector(t, alpha.Config{APIURL: "http://" + server.Address, MaxFileBytes: 1 << 20})
	file, err := connector.Open(t.Context(), shop(), "http://"+server.Address+"/file")
	require.NoError(t, err)
	read, err := io.ReadAll(file)
	require.ErrorContains(t, err, "more than 1048576 bytes")
	require.Len(t, read, 1<<20)
	server.RequireHungUp(t, 1)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for field, config := range map[string]alpha.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxFileBytes": {MaxFileBytes: -1}, "BodyTime": {BodyTime: -1},
	} {
		_, err := alpha.New(config)
		refused, ok := boterr.AsError(err)
		require.True(t, ok, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, field, refused.Field)
	}
}
