package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/outbound"
)

// doer answers requests in the place of the network.
type doer func(*http.Request) (*http.Response, error)

func (d doer) Do(req *http.Request) (*http.Response, error) { return d(req) }

// answers returns a doer that notes when it was asked, and gives one answer.
func answers(at *[]time.Duration, status int, header http.Header) outbound.Doer {
	started := time.Now() //nolint:forbidigo // The clock of synctest.
	return doer(func(req *http.Request) (*http.Response, error) {
		*at = append(*at, time.Since(started)) //nolint:forbidigo // The clock of synctest.
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("")), Request: req}, nil
	})
}

func TestRetry_WaitsGrow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		retry := webhook.Retry{Attempts: 6, Within: time.Hour, First: time.Second, Longest: 4 * time.Second}
		longest := make([]time.Duration, 5)
		for range 200 {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusBadGateway, nil), Retry: retry})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			requireNoCode(t, err)
			require.Len(t, at, 6)
			for i := range longest {
				longest[i] = max(longest[i], at[i+1]-at[i])
			}
		}
		for i, most := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second} {
			require.LessOrEqual(t, longest[i], most)
			require.Greater(t, longest[i], most/2) // Of 200 random ones, none above half is out of the question.
		}
	})
}

func TestRetryAfter_Obeyed(t *testing.T) {
	t.Parallel()
	for name, after := range map[string]func() string{
		"seconds": func() string { return "7" },
		"date": func() string {
			return time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat) //nolint:forbidigo // The clock of synctest.
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Each begins at a whole second, since dates have no parts of one.
			for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
				synctest.Test(t, func(t *testing.T) {
					var at []time.Duration
					connector := newConnector(t, webhook.Config{
						HTTP:  answers(&at, status, http.Header{"Retry-After": {after()}}),
						Retry: webhook.Retry{Attempts: 2, First: 1},
					})
					_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
					require.Error(t, err)
					require.Len(t, at, 2)
					require.GreaterOrEqual(t, at[1], 7*time.Second)
					require.LessOrEqual(t, at[1], 7*time.Second+1) // First is a nanosecond.
				})
			}
		})
	}
}

// The wait is no time of the call, and each attempt has all of that.
func TestRetryAfter_DoesNotCountAsTimeOfTheCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		connector := newConnector(t, webhook.Config{
			HTTP:  answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {"7"}}),
			Retry: webhook.Retry{Attempts: 3},
		})
		ctx := (&timelimit.Rule{Most: 5 * time.Second, Over: boterr.New(boterr.Unavailable, "", "late"), IsPausable: true}).Begin(t.Context())
		_, err := connector.Send(ctx, hello(webchat("https://example.com")))
		require.ErrorContains(t, err, "no answer after 3 attempts")
		require.Len(t, at, 3)
		require.Error(t, ctx.End(err))
	})
}

func TestRetryAfter_TooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []string{"30", "3600", "4294967295", "99999999999"} {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusTooManyRequests, http.Header{"Retry-After": {after}})})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			require.ErrorIs(t, err, boterr.ResourceExhausted)
			require.Equal(t, []time.Duration{0}, at)
		}
	})
}

func TestRetryAfter_Unreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, after := range []string{"", "soon", "-5", "1.5", "Mon, 01 Jan 1990 00:00:00 GMT"} {
			var at []time.Duration
			connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {after}})})
			_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
			requireNoCode(t, err)
			require.Len(t, at, 4)
		}
	})
}

func TestRetry_SignsAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var timestamps []string
		connector := newConnector(t, webhook.Config{
			Retry: webhook.Retry{Attempts: 2},
			HTTP: doer(func(req *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(req.Body)
				require.NoError(t, err)
				timestamp := req.Header.Get("Webhook-Timestamp")
				require.Equal(t, signature([]byte(secret), "msg_1", timestamp, body), req.Header.Get("Webhook-Signature"))
				timestamps = append(timestamps, timestamp)
				header := http.Header{"Retry-After": {"3"}}
				return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: header, Body: http.NoBody}, nil
			}),
		})
		_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
		requireNoCode(t, err)
		require.Equal(t, []string{"946684800", "946684803"}, timestamps)
	})
}

func TestRetry_ContextEndsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var at []time.Duration
		connector := newConnector(t, webhook.Config{HTTP: answers(&at, http.StatusServiceUnavailable, http.Header{"Retry-After": {"5"}})})
		_, err := connector.Send(ctx, hello(webchat("https://example.com")))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, at, 1)
	})
}

func TestRetry_ReceiverNeverAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		started := time.Now() //nolint:forbidigo // The clock of synctest.
		connector := newConnector(t, webhook.Config{
			Retry: webhook.Retry{Within: 3 * time.Second},
			HTTP: doer(func(req *http.Request) (*http.Response, error) {
				<-req.Context().Done()
				return nil, req.Context().Err()
			}),
		})
		_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
		requireNoCode(t, err)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(started)) //nolint:forbidigo // The clock of synctest.
	})
}

func TestRetry_NotForClientErrors(t *testing.T) {
	t.Parallel()
	count := 0
	connector := newConnector(t, webhook.Config{HTTP: doer(func(*http.Request) (*http.Response, error) {
		count++
		return nil, boterr.Invalid("url", "is refused")
	})})
	_, err := connector.Send(t.Context(), hello(webchat("https://example.com")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Equal(t, 1, count)
}

func TestSend_ContextEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	connector := newConnector(t, webhook.Config{HTTP: doer(func(*http.Request) (*http.Response, error) {
		cancel()
		return nil, errors.New("broken")
	})})
	_, err := connector.Send(ctx, hello(webchat("https://example.com")))
	require.ErrorIs(t, err, context.Canceled)
}
