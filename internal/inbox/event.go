package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Event is an event from a platform.
type Event struct {
	// App and Channel are the ids of the app and channel at which the event arrived. From is the sender's id
	// on the platform. Together they name the event's lane. Required.
	App, Channel, From string
	// Key is the platform's id of the event, or "" if there is none. It identifies the event within the app
	// and channel, so that a repetition is recognised.
	Key string
	// Body is passed to the handler. A body that cannot be stored is InvalidArgument.
	Body document.Object
	// Trace is stored with the event until it is handled. A hook may set it, for example to the trace context
	// of the acceptance.
	Trace string
}

// check returns an error for an event without a lane, or with an invalid body.
func (e Event) check() error {
	switch {
	case e.App == "":
		return boterr.Missing("app", "the id of the app")
	case e.Channel == "":
		return boterr.Missing("channel", "the id of the channel on which the event arrived")
	case e.From == "":
		return boterr.Missing("from", "the sender's id on the platform")
	}
	return boterr.PrefixField("body", e.Body.Err())
}

// Lane returns the name of the lane of a sender on a channel of an app.
func Lane(app, channel, from string) string {
	var room [quotedRoom]byte
	name := append(appendPlace(room[:0], app, channel), ' ')
	return string(strconv.AppendQuote(name, from))
}

// senderOf returns the value of fieldSender for a lane: a hash, which is short because many events store one.
// The chance that two of a million senders have the same hash is one in ten million.
func senderOf(lane string) int64 {
	sum := sha256.Sum256([]byte(lane))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// keyOf returns the app and the channel that are part of a lane's name.
func keyOf(lane string) (k fair.Key) {
	k.App, lane = cutQuoted(lane)
	k.Channel, _ = cutQuoted(strings.TrimPrefix(lane, " "))
	return k
}

// cutQuoted splits the quoted text at the start of a text, which it returns unquoted, from the rest. If there is
// none, unquoted is "".
func cutQuoted(text string) (unquoted, rest string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", text
	}
	unquoted, _ = strconv.Unquote(quoted) // QuotedPrefix has validated it.
	return unquoted, text[len(quoted):]
}

// identity returns the text from which DeriveID derives the id of an event with a Key.
func (e Event) identity() string {
	var room [quotedRoom]byte
	text := append(appendPlace(append(room[:0], "inbox "...), e.App, e.Channel), ' ')
	return string(append(text, e.Key...))
}

// quotedRoom is a number of bytes that is enough for most lane names and identities.
const quotedRoom = 160

// appendPlace appends an app and a channel. The result is unambiguous.
func appendPlace(text []byte, app, channel string) []byte {
	return strconv.AppendQuote(append(strconv.AppendQuote(text, app), ' '), channel)
}

// DeadLetter is an event that failed for good.
type DeadLetter struct {
	// ID is the id of the event in the inbox.
	ID    string
	Event Event
	// AcceptedAt is the time of acceptance. DiedAt is the time at which the event was given up.
	AcceptedAt, DiedAt time.Time
	// Failures is the number of failed attempts.
	Failures int
	// Code is the code of the last error. Error is the error's text without credentials.
	Code  boterr.Code
	Error string
}

// States of an event. A done event has no state.
const (
	statePending = "pending"
	stateDead    = "dead"
)

// The fields of the documents.
const (
	fieldID      = document.IDField
	fieldApp     = "app"
	fieldChannel = "channel"
	fieldFrom    = "from"
	fieldKey     = "key"
	fieldBody    = "body"
	fieldTrace   = "trace"
	fieldState   = "state"
	// fieldLane is the lane in which the event waits. An event that does not wait lacks it.
	fieldLane = "lane"
	// fieldAcceptedAt, fieldDoneAt and fieldDiedAt are the times at which the event was accepted, handled and
	// given up.
	fieldAcceptedAt = "acceptedAt"
	fieldDoneAt     = "doneAt"
	// fieldSender is the hash of the lane of an event that is done or dead. Erase uses it.
	fieldSender = "sender"
	fieldDiedAt = "diedAt"
	// fieldDeadKey is the position among the app's dead letters, see deadKey.
	fieldDeadKey = "deadKey"
	// fieldFailures is the number of failures. fieldRetryAt is the time of the next attempt.
	fieldFailures = "failures"
	fieldRetryAt  = "retryAt"
	// fieldPausedAt is the start of the pause before fieldRetryAt.
	fieldPausedAt = "pausedAt"
	// fieldLost is the number of runs of the event that never came back while other events ran. They do not
	// count as failures.
	fieldLost  = "lost"
	fieldCode  = "code"
	fieldError = "error"
	// fieldBegun is true while the event is being handled, in a store that one process has to itself.
	fieldBegun = "begun"
	// fieldMemory has the values that the handler remembers for the next attempt. fieldNoted has the values that the last
	// attempt only noted.
	fieldMemory = "memory"
	fieldNoted  = "noted"
)

// fieldsOfWaiting returns the fields that an event loses when it is done.
func fieldsOfWaiting() document.Object {
	b := document.NewBuilder(keptFields)
	for _, field := range []string{
		fieldState, fieldLane, fieldApp, fieldChannel, fieldFrom, fieldAcceptedAt, fieldKey, fieldBody, fieldTrace,
		fieldBegun, fieldFailures, fieldLost, fieldRetryAt, fieldPausedAt, fieldCode, fieldError, fieldDiedAt,
		fieldDeadKey, fieldMemory, fieldNoted,
	} {
		b.Set(field, true)
	}
	return b.Object()
}

type stored struct {
	Event

	id         string
	lane       string
	failures   int64
	lost       int64
	acceptedAt int64
	retryAt    int64
	pausedAt   int64
	memory     document.Array
	noted      document.Array
	// isOdd is true if the value of fieldFailures is not a count. isLostOdd is the same for fieldLost.
	isOdd, isLostOdd bool
	// hasBegun is the value of fieldBegun. neverCameBack is true if the last failure is ErrNeverCameBack.
	hasBegun, neverCameBack bool
}

// attempts returns the number of completed attempts, including runs that never came back.
func (e *stored) attempts() int64 { return e.failures + e.lost }

// asDocument returns the stored form of a new event.
func (e *stored) asDocument() document.Object {
	b := document.NewBuilder(keptFields)
	b.Set(fieldID, e.id)
	b.Set(fieldState, statePending)
	b.Set(fieldLane, e.lane)
	b.Set(fieldApp, e.App)
	b.Set(fieldChannel, e.Channel)
	b.Set(fieldFrom, e.From)
	b.Set(fieldAcceptedAt, e.acceptedAt)
	if e.Key != "" {
		b.Set(fieldKey, e.Key)
	}
	if !e.Body.IsZero() {
		b.Set(fieldBody, e.Body)
	}
	if e.Trace != "" {
		b.Set(fieldTrace, e.Trace)
	}
	if e.hasBegun {
		b.Set(fieldBegun, true)
	}
	return b.Object()
}

// keptFields is the number of fields of a typical new event, with key and body.
const keptFields = 10

func read(o document.Object) stored {
	var e stored
	for field, value := range o.All() {
		switch v := value.(type) {
		case string:
			e.readText(field, v)
		case int64:
			e.readNumber(field, v)
		case document.Object:
			if field == fieldBody {
				e.Body = v
			}
		case document.Array:
			switch field {
			case fieldMemory:
				e.memory = v
			case fieldNoted:
				e.noted = v
			}
		case bool:
			if field == fieldBegun {
				e.hasBegun = v
			}
		}
	}
	e.isOdd = e.failures == 0 && o.Has(fieldFailures)
	e.isLostOdd = (e.lost == 0 || e.lost == mostFailures) && o.Has(fieldLost)
	if e.lane == "" {
		e.lane = ownLane(o)
	}
	return e
}

func (e *stored) readText(field, text string) {
	switch field {
	case fieldID:
		e.id = text
	case fieldLane:
		e.lane = text
	case fieldApp:
		e.App = text
	case fieldChannel:
		e.Channel = text
	case fieldFrom:
		e.From = text
	case fieldKey:
		e.Key = text
	case fieldTrace:
		e.Trace = text
	case fieldError:
		e.neverCameBack = text == neverCameBackText
	}
}

func (e *stored) readNumber(field string, number int64) {
	switch field {
	case fieldFailures:
		e.failures = min(max(0, number), mostFailures)
	case fieldLost:
		e.lost = min(max(0, number), mostFailures)
	case fieldAcceptedAt:
		e.acceptedAt = number
	case fieldRetryAt:
		e.retryAt = number
	case fieldPausedAt:
		e.pausedAt = number
	}
}

// mostFailures is more than the number of failures that any event can have.
const mostFailures = 1 << 30

// clockSlack is the largest backward step of the store's clock, in milliseconds, that is ignored, because
// processes read the clock with some error.
const clockSlack = 1000

// isPaused reports whether the next attempt at an event is still in the future at now, by the store's clock. If now
// is before the start of the pause, the clock was set back; the rest of the pause is unknown, so the event is tried
// now.
func isPaused(retryAt, pausedAt, now int64) bool { return retryAt > now && pausedAt <= now+clockSlack }

func readDead(o document.Object) DeadLetter {
	e := read(o)
	return DeadLetter{
		ID: e.id, Event: e.Event, AcceptedAt: document.Timestamp(e.acceptedAt).Time(),
		DiedAt:   document.Get(o, fieldDiedAt, document.Timestamp(0)).Time(),
		Failures: int(e.failures), Code: boterr.Code(document.Get(o, fieldCode, "")), Error: document.Get(o, fieldError, ""),
	}
}

// collection is the name of the events' collection.
const collection = "inbox"

// purpose is the purpose of leases for handling events.
const purpose = "inbox"

// Operators may edit events in the database. Whatever they write, an event must not run endlessly, and its lane must
// continue. If the result of a run cannot be stored because the record does not match, the run counts as a failure. A
// record without a lane gets one.

// errEdited is the failure of a run during which the record was edited, so that its result cannot be stored.
var errEdited = boterr.New(boterr.Internal, "", "the record of the event changed during its run")

// settleEdited handles a result that matched no record. If the lease still holds, the record was edited during
// the run, and settleEdited stores a failure. If the event no longer waits, it is over. It returns ErrLost if
// the lease is lost.
func (b *Inbox) settleEdited(
	ctx context.Context, held *lease.Lease, e stored, failure error, part func(time.Duration) time.Duration,
) (outcome, error) {
	if err := held.Check(ctx); err != nil {
		return outcome{failure: failure}, err
	}
	which := document.O(fieldID, e.id, fieldState, statePending)
	found, err := b.find(ctx, which, store.FindOptions{Limit: 1})
	if err != nil || len(found) == 0 {
		return outcome{failure: failure, isOver: true}, err
	}
	b.report(ctx, slog.LevelWarn, "inbox: edited while it ran", e, failure)
	if failure == nil || isPostponed(failure) {
		failure = errEdited
	}
	e.failures = max(e.failures, read(found[0]).failures)
	result, err := b.failAs(ctx, which, e, failure, part)
	if isLost(err) {
		return outcome{failure: failure, isOver: true}, nil // The event was removed meanwhile.
	}
	return result, err
}

// ownLane returns the lane of an event by its app, channel and sender. It is for records without fieldLane.
func ownLane(o document.Object) string {
	return Lane(document.Get(o, fieldApp, ""), document.Get(o, fieldChannel, ""), document.Get(o, fieldFrom, ""))
}

// repairLanes sets fieldLane of the waiting events of a page that lack it.
func (s *distributed) repairLanes(ctx context.Context, page []document.Object) error {
	for _, o := range page {
		if hasLane(o) {
			continue
		}
		id, _ := o.Field(fieldID)
		which := document.O(fieldID, id, fieldState, statePending)
		found, err := s.find(ctx, which, store.FindOptions{Limit: 1})
		for _, broken := range found {
			err = s.setLane(ctx, which, ownLane(broken))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setLane sets the lane of an event that matches a filter.
func (s *distributed) setLane(ctx context.Context, which document.Object, lane string) error {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$set", document.O(fieldLane, lane)))
	if err != nil {
		return err
	}
	if _, err = s.update(ctx, filter, update, document.Object{}); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lanes.makeReady(s.lanes.get(lane))
	}
	return err
}

// endings creates contexts for writes, so that a store that does not respond cannot block a worker forever. Contexts
// created at about the same time share a timer.
type endings struct {
	// within is the minimum duration of a context. The maximum is twice as long.
	within time.Duration
	// newest is the context that ends further contexts, or nil if it would end too soon.
	newest atomic.Pointer[context.Context]
}

// after returns a context that has the values of another one, but not its end.
func (e *endings) after(of context.Context) context.Context {
	if shared := e.newest.Load(); shared != nil {
		return ending{Context: *shared, of: of}
	}
	return ending{Context: e.begin(), of: of}
}

// begin creates a shared context that ends after twice within. For the first half of this time, the contexts that
// the method after returns end with it.
func (e *endings) begin() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*e.within)
	context.AfterFunc(ctx, cancel)
	e.newest.Store(&ctx)
	time.AfterFunc(e.within, func() { e.newest.CompareAndSwap(&ctx, nil) })
	return ctx
}

// ending is a context with the values of one context and the end of another one, which has no values.
type ending struct {
	context.Context //nolint:containedctx // It is one.

	of context.Context //nolint:containedctx // only for its values
}

// Value implements context.Context. Package context uses an internal key to link cancellations; this key must be
// looked up in the context that ends.
func (e ending) Value(key any) any {
	if value := e.Context.Value(key); value != nil {
		return value
	}
	return e.of.Value(key)
}

// ErrShutdown is the context.Cause of a run whose inbox shuts down and no longer waits for it. The event is
// handled again, and the attempt does not count as a failure.
var ErrShutdown = boterr.New(boterr.Canceled, "", "the inbox is shutting down: the event will be handled again")

// ErrNeverCameBack is the failure of a start that never came back.
var ErrNeverCameBack = boterr.New(boterr.Internal, "",
	"the run of the event began and never finished: its process ended, or lost the lease")

// neverCameBackText is the stored text of ErrNeverCameBack.
var neverCameBackText = display.Brief(ErrNeverCameBack)

var errGoroutineEnded = boterr.New(boterr.Internal, "", "the handler ended its goroutine: return an error instead")

// The default pauses after failures.
const (
	firstPause  = time.Second
	pauseGrowth = 4
	maxPause    = time.Minute
)

// growing is the default back-off.
func growing(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < maxPause; failures-- {
		pause *= pauseGrowth
	}
	return min(pause, maxPause)
}

// jittered returns a random part of a pause, at least half of it, so that events that failed together are not all
// tried again at the same time.
func jittered(pause time.Duration) time.Duration {
	return pause - rand.N(pause/2+1) //nolint:gosec // Spreading load needs no secrecy.
}

func whole(pause time.Duration) time.Duration { return pause }

// pauseAfter returns the pause after a number of failures from the host's function. If that panics, the default
// applies.
func (b *Inbox) pauseAfter(ctx context.Context, failures int, part func(time.Duration) time.Duration) (chosen time.Duration) {
	if b.config.Backoff == nil {
		return part(growing(failures))
	}
	chosen = growing(failures) //nolint:wastedassign // It is the result after a panic.
	defer safelog.Recovered(ctx, b.log, "inbox: back-off panicked", nil)
	return max(0, b.config.Backoff(failures))
}

// isEnded reports whether a run failed after its context ended. Then the failure does not count.
func isEnded(ctx context.Context, failure error) bool {
	return failure != nil && ctx.Err() != nil && !errors.Is(failure, errGoroutineEnded)
}

// postponement is the error from Postpone.
type postponement struct{ pause time.Duration }

func (p *postponement) Error() string { return "postponed by " + p.pause.String() }

// Postpone returns an error for a Handler that cannot handle an event yet, for example during another run of
// the member. The handler gets the event again after the pause, and the attempt does not count as a failure.
// Meanwhile the lane waits.
func Postpone(pause time.Duration) error { return &postponement{pause: max(0, pause)} }

// isPostponed reports whether an error wraps one from Postpone.
func isPostponed(failure error) bool {
	_, ok := errors.AsType[*postponement](failure)
	return ok
}

// postpone stores the time of the next attempt at a postponed event.
func (b *Inbox) postpone(ctx context.Context, e stored, failure error) (outcome, error) {
	p, _ := errors.AsType[*postponement](failure)
	now, err := b.leases.CachedNow(ctx)
	if err != nil {
		return outcome{}, err
	}
	filter, err := query.CompileFilter(asClaimed(e))
	if err != nil {
		return outcome{}, err
	}
	b.report(ctx, slog.LevelDebug, "inbox: postponed", e, failure)
	at := now.Add(p.pause)
	set := document.O(fieldRetryAt, int64(document.TimestampOf(at)), fieldPausedAt, int64(document.TimestampOf(now)))
	changed, err := b.setAll(ctx, filter, set, document.O(fieldBegun, true))
	if err != nil {
		return outcome{}, err
	}
	return outcome{isPostponed: true, retryAt: at}, wasLost(changed)
}
