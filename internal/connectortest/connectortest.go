// Package connectortest has the parts that the tests of connectors share: transports that need no network, the
// events that a handler accepts, and the rules for platforms that fail. Package sendtest has the suite for any
// connector; the rules here are for connectors that make HTTP requests.
package connectortest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

// Directly is a transport that answers requests with a handler.
type Directly struct{ http.Handler }

// RoundTrip implements http.RoundTripper.
func (d Directly) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	if err := r.Context().Err(); err != nil { // The handler waited for the end of the request.
		return nil, err
	}
	return answer.Result(), nil
}

// RoundTrip is a function that is used as a transport.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Response returns a platform's response.
func Response(status int, header http.Header, body string) *http.Response {
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

// Answer returns a transport that gives every request the same response.
func Answer(status int, header http.Header, body string) RoundTrip {
	return func(*http.Request) (*http.Response, error) { return Response(status, header, body), nil }
}

// Facts reads a JSON file of facts about a platform, which is stored outside the repository. It skips the test
// if the file is missing. The test's package is two folders below the root of the repository.
func Facts(t *testing.T, platform, name string, into any) {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "platforms", platform, name)
	text, err := os.ReadFile(path) //nolint:gosec // Tests name the file.
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("the facts about %s (%s) are not next to this repository; the other tests do without", platform, name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// Box is a connector's handler with the events that it accepts.
type Box struct {
	// Handler is the connector's handler. It must pass its events to Accept.
	http.Handler
	// Drops counts the events that the connector drops.
	Drops *send.Drops
	// Refuse returns the error for an event, or nil to accept it. If Refuse is nil, all events are accepted.
	Refuse func(botctx.Inbound) error
	// Got holds the accepted events, and Errs the errors given to OnError. Read them after requests.
	Got  []botctx.Inbound
	Errs []error

	mu sync.Mutex
}

// NewBox returns a box without a handler.
func NewBox() *Box {
	return &Box{Drops: &send.Drops{Logger: slog.New(slog.DiscardHandler)}}
}

// Accept is the accept function of a connector's handler.
func (b *Box) Accept(ctx context.Context, in botctx.Inbound) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.Refuse != nil {
		if err := b.Refuse(in); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b.Got = append(b.Got, in)
	return nil
}

// RequireComplete requires that each accepted event has a sender and a type, and data that can be written as JSON.
func (b *Box) RequireComplete(t *testing.T) {
	t.Helper()
	for _, one := range b.Got {
		require.NotEmpty(t, one.Event.From)
		require.NotEmpty(t, one.Event.Type)
		_, err := document.AppendJSON(nil, one.Event.Data)
		require.NoError(t, err)
	}
}

// Texts returns the texts of the accepted events.
func (b *Box) Texts() (texts []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.Got {
		texts = append(texts, one.Event.Text())
	}
	return texts
}

// OnError is the OnError function of a connector.
func (b *Box) OnError(_ context.Context, _ botctx.Inbound, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.Errs = append(b.Errs, err)
}

// Ask gives the handler a request and returns its answer.
func (b *Box) Ask(r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, r)
	return answer
}

// Dropped returns the number of events of a kind that were dropped for a reason.
func (b *Box) Dropped(kind string, reason send.DropReason) int64 {
	for _, count := range b.Drops.Counts() {
		if count.Kind == kind && count.Reason == reason {
			return count.Count
		}
	}
	return 0
}

// DroppedFor returns the number of events that were dropped for a reason.
func (b *Box) DroppedFor(reason send.DropReason) (count int64) {
	for _, one := range b.Drops.Counts() {
		if one.Reason == reason {
			count += one.Count
		}
	}
	return count
}

// RequireKeys requires that the accepted events have a number of different keys, each a number of times.
func (b *Box) RequireKeys(t *testing.T, different, times int) {
	t.Helper()
	keys := map[string]int{}
	for _, one := range b.Got {
		keys[one.Key]++
	}
	require.Len(t, keys, different)
	for key, n := range keys {
		require.Equal(t, times, n, key)
	}
}

// Receptions returns how a handler receives each report. give passes a report to the handler of a new box, and returns the
// status of the answer.
func Receptions[Report any](reports map[string]Report, give func(Report) (*Box, int)) (all []sendtest.Reception) {
	for name, report := range reports {
		box, status := give(report)
		one := sendtest.Reception{Name: name, Status: status}
		for _, accepted := range box.Got {
			one.Accepted = append(one.Accepted, accepted.Event)
		}
		for _, drop := range box.Drops.Counts() {
			one.Dropped += drop.Count
		}
		all = append(all, one)
	}
	return all
}

// Lines returns a line for each accepted event, and one for each kind of dropped event. unit is the unit of the times.
func (b *Box) Lines(unit document.Timestamp) (lines []string) {
	for _, one := range b.Got {
		e, group := one.Event, ""
		if one.GroupExternalID != "" {
			group = fmt.Sprintf(" in %q", one.GroupExternalID)
		}
		lines = append(lines, fmt.Sprintf("%s/%s %s %s>%s%s at %d id %q %s",
			one.App, one.Channel, e.Type, e.From, e.To, group, e.Timestamp/unit, e.MessageID, e.Data))
	}
	for _, drop := range b.Drops.Counts() {
		lines = append(lines, fmt.Sprintf("drop %q %s", drop.Kind, drop.Reason))
	}
	return lines
}

// RequireRefused requires that create, usually New of a connector, refuses each configuration. The key of a
// configuration is the field that the error must name.
func RequireRefused[Config, Made any](t *testing.T, create func(Config) (Made, error), configs map[string]Config) {
	t.Helper()
	for field, config := range configs {
		_, err := create(config)
		refused, ok := boterr.AsError(err)
		require.True(t, ok, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, field, refused.Field)
	}
}

// RequireNoCode requires an error without a code, which leaves open whether a request had an effect.
func RequireNoCode(t *testing.T, err error) {
	t.Helper()
	require.Error(t, err)
	require.False(t, boterr.HasCode(err), "%v", err)
}
