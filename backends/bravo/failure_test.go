package bravo_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bravo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/graph/graphtest"
	"github.com/botctx/go-sdk/send"
)

// through returns a connector whose requests go to a transport.
func through(t *testing.T, transport connectortest.RoundTrip) *bravo.Connector {
	t.Helper()
	return connectortest.New(t, bravo.New, bravo.Config{HTTPClient: &http.Client{Transport: transport}, Timeout: connectortest.Timeout})
}

func TestError_OfEachKnownCode(t *testing.T) {
	t.Parallel()
	var known []struct {
		Status  int
		Code    int64
		Means   string
		Message string
	}
	connectortest.Facts(t, "bravo", "errors.json", &known)
	require.NotEmpty(t, known)
	meant := map[string]string{ // Entries whose first word is not the expected code.
		"FailedPrecondition by webhook; NotFound where it is an answer": "NotFound", "NotFound -> InvalidArgument elementName": "InvalidArgument",
		"no code (ResourceExhausted minutes)": "no code", "no code (media download of what a user sent)": "no code",
	}
	for _, one := range known {
		t.Run(strconv.FormatInt(one.Code, 10), func(t *testing.T) {
			t.Parallel()
			_, err := over(t, graphtest.Refusal{Status: one.Status, Code: one.Code, Message: one.Message}).
				Send(t.Context(), to(ada, send.Text("Hello")))
			require.Error(t, err)
			want, isListed := meant[one.Means]
			if !isListed {
				want, _, _ = strings.Cut(one.Means, " ")
				if strings.HasPrefix(one.Means, "no code") {
					want = "no code"
				}
			}
			if want == "no code" {
				require.False(t, boterr.HasCode(err), "%v", err)
				return
			}
			require.Equal(t, want, string(boterr.CodeOf(err)), "%v", err)
			_, tellsTime := errors.AsType[*send.RetryAfterError](err)
			require.Equal(t, want == "ResourceExhausted", tellsTime)
		})
	}
}

func TestRateLimit_OfARecipient(t *testing.T) {
	t.Parallel()
	for code, want := range map[int64]send.RetryAfterError{
		131056: {After: 6 * time.Second, OfRecipient: true}, 130429: {After: time.Second}, 80007: {After: 9 * time.Minute},
	} {
		refusal := graphtest.Refusal{Status: 400, Code: code}
		if code == 80007 {
			refusal.Minutes = 9
		}
		_, err := over(t, refusal).Send(t.Context(), to(ada, send.Text("Hello")))
		connectortest.RequireWait(t, err, want)
	}
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
			return connectortest.New(t, bravo.New, bravo.Config{APIURL: url}), to(ada, send.Text("Hello"))
		},
		Message: to(ada, send.Text("Hello")), Unreadable: map[string]string{"no id": `{"messages":[]}`},
		Endless: `{"messages":"`, Secret: token,
	}.Run(t)
}

func TestSend_PrivateAddressOfAChannel(t *testing.T) {
	t.Parallel()
	connectortest.RequirePublic(t, connectortest.New(t, bravo.New, bravo.Config{}), func(address string) send.Message {
		hello := to(ada, send.Text("Hello"))
		info := hello.Channel.Info.(channel.BravoInfo)
		info.APIPath = address
		hello.Channel.Info = info
		return hello
	})
}

func TestLimited_ARecipientHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		limited := bravo.Limited(through(t, func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			asked[string(body)]++
			if strings.Contains(string(body), ada) && asked[string(body)] == 1 {
				return connectortest.Response(400, nil, `{"error":{"code":131056}}`), nil
			}
			return connectortest.Response(200, nil, `{"messages":[{"id":"w"}]}`), nil
		}))
		began := time.Now() //nolint:forbidigo // Virtual time.
		done := make(chan time.Duration, 1)
		go func() {
			_, err := limited.Send(t.Context(), to(ada, send.Text("Hello")))
			if err != nil {
				t.Error(err)
			}
			done <- time.Since(began) //nolint:forbidigo // Virtual time.
		}()
		synctest.Wait()
		_, err := limited.Send(t.Context(), to(bob, send.Text("Hello")))
		require.NoError(t, err)
		require.Less(t, time.Since(began), time.Second) //nolint:forbidigo // Virtual time.
		require.Equal(t, 6*time.Second, <-done)
	})
}

func TestLimited_KeepsTheRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limited := bravo.Limited(through(t, connectortest.Answer(200, nil, `{"messages":[{"id":"w"}]}`)))
		connectortest.RequireRate(t, limited, to(ada, send.Text("Hello")), 47, 12*time.Second) // 45 at once, then one in 6 seconds.
	})
}

func TestOpen_SendsTheTokenToThePlatformAlone(t *testing.T) {
	t.Parallel()
	for address, isOwn := range map[string]bool{
		"https://lookaside.fbsbx.com/whatsapp/1": true, "https://media.whatsapp.net/1": true, "https://graph.facebook.com/1": true,
		"https://evil.example/1": false, "http://lookaside.fbsbx.com/1": false, "https://fbsbx.com.evil.example/": false,
		"https://a:b@lookaside.fbsbx.com/": false, "": false,
	} {
		var hosts []string
		connector := through(t, func(r *http.Request) (*http.Response, error) {
			hosts = append(hosts, r.URL.Hostname()+" "+r.Header.Get("Authorization"))
			if len(hosts) == 1 {
				require.Equal(t, shopNumber, r.URL.Query().Get("phone_number_id"))
				return connectortest.Response(200, nil, fmt.Sprintf(`{"id":"7","url":%q}`, address)), nil
			}
			return connectortest.Response(200, nil, "picture"), nil
		})
		file, err := connector.Open(t.Context(), shop(), "7")
		if !isOwn {
			require.ErrorIs(t, err, boterr.InvalidArgument, address)
			require.Len(t, hosts, 1, address)
			continue
		}
		connectortest.RequireFile(t, file, err, "picture")
		require.Contains(t, hosts[1], "Bearer "+token)
	}
}

func TestOpen_OverThePlatform(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddFile("77", "a picture")
	connector := connectortest.New(t, bravo.New, bravo.Config{APIURL: "http://platform.example/v23.0", HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: p}}})
	file, err := connector.Open(t.Context(), shop(), "77")
	connectortest.RequireFile(t, file, err, "a picture")
	_, err = connector.Open(t.Context(), shop(), "78")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Open(t.Context(), shop(), "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	connectortest.RequireRefused(t, bravo.New, map[string]bravo.Config{
		"APIURL": {APIURL: "ftp://x"}, "Timeout": {Timeout: -1}, "MaxFileBytes": {MaxFileBytes: -1}, "BodyTime": {BodyTime: -1},
		"GroupTimeout": {GroupTimeout: -1}, "ListButton": {ListButton: strings.Repeat("x", 21)},
	})
}
