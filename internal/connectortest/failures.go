package connectortest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded/boundedtest"
	"github.com/botctx/go-sdk/send"
)

// Timeout is the time limit of the connectors that Failures.Over returns.
const Timeout = 3 * time.Second

// Failures describes a connector whose platform fails. Run tests it.
type Failures struct {
	// Over returns a connector whose requests go to a transport, with Timeout as its time limit. The transport
	// gets no requests for access tokens.
	Over func(t *testing.T, transport RoundTrip) send.Connector
	// At returns a connector and a message to a server at an address such as http://127.0.0.1:80.
	At func(t *testing.T, url string) (send.Connector, send.Message)
	// Message is the message to send with a connector from Over.
	Message send.Message
	// Unreadable has bodies of answers that leave open whether the message arrived. The keys describe their
	// faults.
	Unreadable map[string]string
	// Endless is the beginning of a JSON answer. It ends inside a string.
	Endless string
	// Secret is the channel's token. Errors must not contain it.
	Secret string
}

// Run requires that a connector reports a platform's failures as errors without a code, because the
// message may have arrived. It must not repeat the request, and must limit its time and memory.
func (f Failures) Run(t *testing.T) {
	t.Helper()
	t.Run("WithoutAnAnswer", f.withoutAnAnswer)
	t.Run("SilentPlatform", f.silentPlatform)
	t.Run("RedirectIsNotFollowed", f.redirectIsNotFollowed)
	t.Run("EndlessAnswer", f.endlessAnswer)
}

func (f Failures) withoutAnAnswer(t *testing.T) {
	t.Parallel()
	transports := map[string]RoundTrip{
		"a failure": Answer(http.StatusBadGateway, nil, "<html>"),
		"no JSON":   Answer(http.StatusOK, nil, "<html>"),
		"no network": func(r *http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("no way to %s with %s and %s", r.URL, r.Header, f.Secret)
		},
	}
	for name, body := range f.Unreadable {
		transports[name] = Answer(http.StatusOK, nil, body)
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, secrets := 0, []string{f.Secret}
			connector := f.Over(t, func(r *http.Request) (*http.Response, error) {
				asked++
				if credentials := strings.Fields(r.Header.Get("Authorization")); len(credentials) > 1 {
					secrets = append(secrets, credentials[1])
				}
				return transport(r)
			})
			_, err := connector.Send(t.Context(), f.Message)
			require.Error(t, err)
			require.False(t, boterr.HasCode(err), "%v", err)
			require.Equal(t, 1, asked, "nothing is repeated")
			for _, secret := range secrets {
				require.NotContains(t, err.Error(), secret)
			}
		})
	}
}

func (f Failures) silentPlatform(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now() //nolint:forbidigo // The clock of the bubble.
		connector := f.Over(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		_, err := connector.Send(t.Context(), f.Message)
		require.Error(t, err)
		require.False(t, boterr.HasCode(err))
		require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's context has not ended")
		require.Equal(t, Timeout, time.Since(began)) //nolint:forbidigo // The clock of the bubble.
	})
}

func (f Failures) redirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	asked := 0
	redirect := Answer(http.StatusTemporaryRedirect, http.Header{"Location": {"https://elsewhere.example/"}}, "")
	connector := f.Over(t, func(r *http.Request) (*http.Response, error) {
		asked++
		return redirect(r)
	})
	_, err := connector.Send(t.Context(), f.Message)
	require.ErrorContains(t, err, "redirect")
	require.Equal(t, 1, asked)

	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	t.Cleanup(elsewhere.Close)
	platform := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	t.Cleanup(platform.Close)
	connector, message := f.At(t, platform.URL)
	_, err = connector.Send(t.Context(), message)
	require.Error(t, err)
	require.Zero(t, followed.Load())
}

func (f Failures) endlessAnswer(t *testing.T) {
	t.Parallel()
	for name, said := range map[string]struct{ head, filler string }{
		"a success":   {boundedtest.Answers("200 OK") + f.Endless, "x"},
		"a refusal":   {boundedtest.Answers("400 Bad Request") + f.Endless, "x"},
		"a failure":   {boundedtest.Answers("500 Internal Server Error"), "x"},
		"its headers": {"HTTP/1.1 200 OK\r\n", "X-A: a\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := boundedtest.Serve(t, true, said.head, said.filler)
			connector, message := f.At(t, "http://"+server.Address)
			_, err := connector.Send(t.Context(), message)
			require.Error(t, err)
			server.RequireHungUp(t, 1)
		})
	}
}

// Fuzz requires that a connector does not panic for any answer, and that errors do not contain the secret. bodies are
// answers to begin with.
func (f Failures) Fuzz(fuzz *testing.F, bodies ...string) {
	fuzz.Helper()
	for _, body := range bodies {
		for _, status := range []int{http.StatusOK, http.StatusBadRequest, http.StatusInternalServerError} {
			fuzz.Add(status, body)
		}
	}
	fuzz.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		delivery, err := f.Over(t, Answer(status, http.Header{}, body)).Send(t.Context(), f.Message)
		if err != nil {
			require.Zero(t, delivery)
			for ; err != nil; err = errors.Unwrap(err) {
				require.NotContains(t, err.Error(), f.Secret)
			}
			return
		}
		require.NoError(t, delivery.Reply.Err())
	})
}
