package connectortest

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

// Receiver describes a connector's handler. Run tests what every handler must do.
type Receiver struct {
	// Open returns a box of a connector. The connector must look its channel up through find, and limit the time to
	// read a body to bodyTime; 0 means the default.
	Open func(t *testing.T, find LookUp, bodyTime time.Duration) *Box
	// Request returns a request of the platform with a body.
	Request func(ctx context.Context, body string) *http.Request
	// Report is a body with one event. NoReports are bodies that the platform does not send.
	Report    string
	NoReports []string
	// Several returns a body with a message of each sender: m1, m2 and so on. Nil if a body has one event.
	Several func(senders ...string) string
	// MaxBytes is the largest body that the handler reads. 0 means inbound.DefaultMaxBytes.
	MaxBytes int
	// Forge makes a request one that must be refused before its body is read. Nil if the platform signs bodies only.
	Forge func(*http.Request)
	// Forged returns requests that the platform did not make, or not for a channel of this host. Each gets the same answer,
	// which does not reveal the reason, as a request for which there is no channel.
	Forged func(ctx context.Context) map[string]*http.Request

	// Unusable are infos of a channel with which no request can be verified. The handler must refuse the request, and count
	// and log that the channel's secret is missing or wrong.
	Unusable map[string]channel.Info

	// Refused is the status for a request without a channel. 0 means 401.
	Refused int
	// Failed is the status after an error without a code, and LookUpFailed after such an error of a look-up, or if the
	// connector has no function for look-ups. 0 means 500 and 503.
	Failed, LookUpFailed int
	// ReturnsInvalid is true if an event that can never be accepted is refused. Otherwise it must be dropped.
	ReturnsInvalid bool
	// NotFound is the status if Accept returns NotFound, so that the platform repeats the event. 0 means that it is dropped.
	// With ReturnsInvalid it is not used.
	NotFound int
	// HasNoOnError is true if the connector logs errors instead of passing them on.
	HasNoOnError bool
}

// Run tests the handler.
func (r Receiver) Run(t *testing.T) {
	t.Helper()
	for name, test := range map[string]func(*testing.T){
		"OtherRequests": r.otherRequests, "LongestBody": r.longestBody, "SlowBody": r.slowBody,
		"ForgedBodyIsNotRead": r.forgedBodyIsNotRead, "Forged": r.forged, "NotAccepted": r.notAccepted,
		"LookUps": r.lookUps, "UnusableChannels": r.unusableChannels, "RepeatsAreTheSame": r.repeatsAreTheSame,
		"GoesOnWhenThePlatformHangsUp": r.goesOnWhenThePlatformHangsUp,
		"OneOfSeveralIsNotAccepted":    r.oneOfSeveralIsNotAccepted, "StoreDoesNotAnswer": r.storeDoesNotAnswer,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t)
		})
	}
}

func (r Receiver) report(t *testing.T) *http.Request {
	t.Helper()
	return r.Request(t.Context(), r.Report)
}

func (r Receiver) otherRequests(t *testing.T) {
	t.Helper()
	box := r.Open(t, LookUp{}, 0)
	put := r.report(t)
	put.Method = http.MethodPut
	answer := box.Ask(put)
	require.Equal(t, http.StatusMethodNotAllowed, answer.Code)
	require.Contains(t, answer.Header().Get("Allow"), http.MethodPost)
	for _, body := range r.NoReports {
		require.Equal(t, http.StatusBadRequest, box.Ask(r.Request(t.Context(), body)).Code, "%.100s", body)
	}
	require.Empty(t, box.Got)
}

func (r Receiver) longestBody(t *testing.T) {
	t.Helper()
	box := r.Open(t, LookUp{}, 0)
	longest := strings.Repeat(" ", cmp.Or(r.MaxBytes, inbound.DefaultMaxBytes)-len(r.Report)) + r.Report
	require.Equal(t, http.StatusRequestEntityTooLarge, box.Ask(r.Request(t.Context(), " "+longest)).Code)
	require.Empty(t, box.Got)
	require.Equal(t, http.StatusOK, box.Ask(r.Request(t.Context(), longest)).Code)
	require.Len(t, box.Got, 1)
}

func (r Receiver) slowBody(t *testing.T) {
	t.Helper()
	RequireSlowBody(t, r.Open(t, LookUp{}, time.Nanosecond), r.report(t))
}

func (r Receiver) forgedBodyIsNotRead(t *testing.T) {
	t.Helper()
	if r.Forge == nil {
		return
	}
	forged := r.report(t)
	r.Forge(forged)
	RequireUnread(t, r.Open(t, LookUp{}, 0), forged, cmp.Or(r.Refused, http.StatusUnauthorized))
}

func (r Receiver) forged(t *testing.T) {
	t.Helper()
	if r.Forged == nil {
		return
	}
	unknown := r.Open(t, LookUp{FindsNothing: true}, 0).Ask(r.report(t))
	for name, request := range r.Forged(t.Context()) {
		box := r.Open(t, LookUp{}, 0)
		answer := box.Ask(request)
		require.Equal(t, cmp.Or(r.Refused, http.StatusUnauthorized), answer.Code, name)
		require.Equal(t, unknown.Body.String(), answer.Body.String(), name)
		require.Empty(t, box.Got, name)
		require.Zero(t, box.DroppedFor(send.DropInvalid), name)
	}
}

func (r Receiver) notAccepted(t *testing.T) {
	t.Helper()
	failed := cmp.Or(r.Failed, http.StatusInternalServerError)
	invalid := boterr.Invalid("hidden", "is hidden")
	whenInvalid, dropped := http.StatusOK, int64(1)
	if r.ReturnsInvalid {
		whenInvalid, dropped = botctx.HTTPStatus(invalid), 0
	}
	type outcome = struct {
		refuse  func() error
		status  int
		dropped int64
	}
	outcomes := map[string]outcome{
		"down":    {func() error { return boterr.New(boterr.Unavailable, "", "hidden") }, http.StatusServiceUnavailable, 0},
		"full":    {func() error { return boterr.New(boterr.ResourceExhausted, "", "hidden") }, http.StatusServiceUnavailable, 0},
		"unknown": {func() error { return errors.New("hidden") }, failed, 0},
		"panic":   {func() error { panic("hidden") }, failed, 0},
		"invalid": {func() error { return invalid }, whenInvalid, dropped},
	}
	if r.ReturnsInvalid {
		for _, code := range boterr.Codes() {
			failure := boterr.New(code, "hidden", "hidden")
			outcomes[string(code)] = outcome{func() error { return failure }, botctx.HTTPStatus(failure), 0}
		}
	} else {
		notFound := outcome{func() error { return boterr.New(boterr.NotFound, "", "hidden") }, http.StatusOK, 1}
		if r.NotFound != 0 {
			notFound.status, notFound.dropped = r.NotFound, 0
		}
		outcomes["not found"] = notFound
	}
	for name, c := range outcomes {
		box := r.Open(t, LookUp{}, 0)
		box.Refuse = func(botctx.Inbound) error { return c.refuse() }
		answer := box.Ask(r.report(t))
		require.Equal(t, c.status, answer.Code, name)
		require.Equal(t, c.status == http.StatusServiceUnavailable, answer.Header().Get("Retry-After") != "", name)
		require.NotContains(t, answer.Body.String(), "hidden", name)
		require.Equal(t, c.dropped, box.DroppedFor(send.DropInvalid), name)
		if !r.HasNoOnError {
			require.Len(t, box.Errs, 1, name)
			require.ErrorContains(t, box.Errs[0], "hidden", name)
			require.True(t, name != "panic" || errors.Is(box.Errs[0], boterr.Internal))
		}
		box.Refuse = nil
		require.Equal(t, http.StatusOK, box.Ask(r.report(t)).Code, name)
		require.Len(t, box.Got, 1, name)
	}
}

func (r Receiver) lookUps(t *testing.T) {
	t.Helper()
	refused, failed := cmp.Or(r.Refused, http.StatusUnauthorized), cmp.Or(r.LookUpFailed, http.StatusServiceUnavailable)
	for name, c := range map[string]struct {
		find   LookUp
		status int
		errs   int
	}{
		"down":         {LookUp{Err: boterr.New(boterr.Unavailable, "", "hidden")}, http.StatusServiceUnavailable, 1},
		"unknown":      {LookUp{Err: errors.New("hidden")}, failed, 1},
		"not set up":   {LookUp{IsMissing: true}, failed, 1},
		"no channel":   {LookUp{Err: boterr.New(boterr.NotFound, "", "hidden")}, refused, 0},
		"nothing":      {LookUp{FindsNothing: true}, refused, 0},
		"as it should": {LookUp{}, http.StatusOK, 0},
	} {
		box := r.Open(t, c.find, 0)
		answer := box.Ask(r.report(t))
		require.Equal(t, c.status, answer.Code, name)
		require.NotContains(t, answer.Body.String(), "hidden", name)
		require.Equal(t, c.status == http.StatusOK, len(box.Got) == 1, name)
		if !r.HasNoOnError {
			require.Len(t, box.Errs, c.errs, name)
		}
	}
}

func (r Receiver) unusableChannels(t *testing.T) {
	t.Helper()
	for name, info := range r.Unusable {
		box := r.Open(t, LookUp{Info: info}, 0)
		require.Equal(t, cmp.Or(r.Refused, http.StatusUnauthorized), box.Ask(r.report(t)).Code, name)
		require.Empty(t, box.Got, name)
		require.Empty(t, box.Errs, name)
		require.EqualValues(t, 1, box.Dropped("request", send.DropNoSecret), name)
	}
}

func (r Receiver) repeatsAreTheSame(t *testing.T) {
	t.Helper()
	box := r.Open(t, LookUp{}, 0)
	for range 2 {
		require.Equal(t, http.StatusOK, box.Ask(r.report(t)).Code)
	}
	require.Len(t, box.Got, 2, "the inbox of a Runtime recognises them, in all processes")
	require.Equal(t, box.Got[0], box.Got[1])
	require.NotEmpty(t, box.Got[0].Key+box.Got[0].Event.MessageID)
}

func (r Receiver) goesOnWhenThePlatformHangsUp(t *testing.T) {
	t.Helper()
	box := r.Open(t, LookUp{}, 0)
	ctx, hangUp := context.WithCancel(t.Context())
	box.Refuse = func(botctx.Inbound) error {
		hangUp()
		return nil
	}
	require.Equal(t, http.StatusOK, box.Ask(r.Request(ctx, r.Report)).Code)
	require.Len(t, box.Got, 1)
}

// oneOfSeveralIsNotAccepted requires that m3 does not overtake m2, which must come again, and that m5, which can never be
// accepted, is dropped. Others are not held up.
func (r Receiver) oneOfSeveralIsNotAccepted(t *testing.T) {
	t.Helper()
	if r.Several == nil {
		return
	}
	box := r.Open(t, LookUp{}, 0)
	notNow := boterr.ResourceExhausted
	if r.Failed == http.StatusServiceUnavailable {
		notNow = boterr.FailedPrecondition // This platform repeats no other answer.
	}
	refusals := map[string]error{"m2": boterr.New(notNow, "", "not now"), "m5": boterr.Invalid("Event.Type", "is wrong")}
	box.Refuse = func(in botctx.Inbound) error { return refusals[in.Event.MessageID] }
	answer := box.Ask(r.Request(t.Context(), r.Several("1", "2", "2", "1", "3")))
	require.Equal(t, http.StatusServiceUnavailable, answer.Code)
	require.NotEmpty(t, answer.Header().Get("Retry-After"))
	var ids []string
	for _, one := range box.Got {
		ids = append(ids, one.Event.MessageID)
	}
	require.Equal(t, []string{"m1", "m4"}, ids)
	require.EqualValues(t, 1, box.DroppedFor(send.DropInvalid))
	require.Len(t, box.Errs, 2)
}

// storeDoesNotAnswer requires that the handler leaves out the rest of a report, because each event would fail only after
// a long wait.
func (r Receiver) storeDoesNotAnswer(t *testing.T) {
	t.Helper()
	if r.Several == nil {
		return
	}
	box := r.Open(t, LookUp{}, 0)
	box.Refuse = func(botctx.Inbound) error { return boterr.New(boterr.Canceled, "", "the store did not answer") }
	require.Equal(t, http.StatusServiceUnavailable, box.Ask(r.Request(t.Context(), r.Several("1", "2"))).Code)
	require.Len(t, box.Errs, 1)
}

// LookUp is the outcome of looking up a channel. The zero LookUp finds it.
type LookUp struct {
	// Err is the error of the look-up.
	Err error
	// FindsNothing is true if there is neither a channel nor an error, and IsMissing if the connector's config has no
	// function for look-ups.
	FindsNothing, IsMissing bool
	// Info, if set, replaces the info of the channel.
	Info channel.Info
}

// Find returns find, or a function with the outcome of l. A look-up without a deadline fails, because a store that hangs
// must not hold a request.
func Find[From any](
	l LookUp, find func(context.Context, From) (*channel.Channel, error),
) func(context.Context, From) (*channel.Channel, error) {
	switch {
	case l.IsMissing:
		return nil
	case l.Err != nil || l.FindsNothing:
		return func(context.Context, From) (*channel.Channel, error) { return nil, l.Err }
	case l.Info != nil:
		return func(ctx context.Context, from From) (*channel.Channel, error) {
			in, err := find(ctx, from)
			if err != nil {
				return nil, err
			}
			changed := *in
			changed.Info = l.Info
			return &changed, nil
		}
	default:
		return func(ctx context.Context, from From) (*channel.Channel, error) {
			if _, isLimited := ctx.Deadline(); !isLimited {
				return nil, errors.New("the look-up has no deadline")
			}
			return find(ctx, from)
		}
	}
}

// Load is Find for a function that gets an app and a channel's id.
func (l LookUp) Load(
	load func(ctx context.Context, app, id string) (*channel.Channel, error),
) func(ctx context.Context, app, id string) (*channel.Channel, error) {
	find := Find(l, func(ctx context.Context, ids [2]string) (*channel.Channel, error) { return load(ctx, ids[0], ids[1]) })
	if find == nil {
		return nil
	}
	return func(ctx context.Context, app, id string) (*channel.Channel, error) {
		return find(ctx, [2]string{app, id})
	}
}

// RequireSlowBody requires that a handler answers 408 to a request whose body does not arrive. The handler's time limit
// must be short.
func RequireSlowBody(t *testing.T, handler http.Handler, request *http.Request) {
	t.Helper()
	slow := silence{httptest.NewRecorder(), make(chan struct{})}
	request.Body, request.ContentLength = slow, -1
	handler.ServeHTTP(slow, request)
	require.Equal(t, http.StatusRequestTimeout, slow.Code)
}

// silence is the body of a request, and takes the answer. Read blocks until SetReadDeadline is called.
type silence struct {
	*httptest.ResponseRecorder

	ended chan struct{}
}

func (s silence) Read([]byte) (int, error) {
	<-s.ended
	return 0, os.ErrDeadlineExceeded
}

func (s silence) Close() error { return nil }

func (s silence) SetReadDeadline(at time.Time) error {
	if at.Before(time.Now()) { //nolint:forbidigo // Deadlines use the machine's clock.
		close(s.ended)
	}
	return nil
}

// RequireUnread requires that a handler refuses a request without reading its body, and closes the connection.
func RequireUnread(t *testing.T, handler http.Handler, request *http.Request, status int) {
	t.Helper()
	request.Body = io.NopCloser(unread{t})
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	require.Equal(t, status, answer.Code)
	require.Equal(t, "close", answer.Header().Get("Connection"), "otherwise the server reads the body before it answers")
}

// unread is a body that fails the test if it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, io.EOF
}
