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
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
)

// Event is an event from a platform, see botctx.InboxEvent. App, Channel and From name its lane. They are required.
type Event struct {
	App, Channel, From string
	Key                string
	Body               document.Object
	Trace              string
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

// DeadLetter is an event that failed for good, see botctx.DeadLetter.
type DeadLetter struct {
	ID                 string
	Event              Event
	AcceptedAt, DiedAt time.Time
	Failures           int
	Code               boterr.Code
	Error              string
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
	// isExact is true if the pause after a failure is not jittered.
	isExact bool
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
	e := stored{
		Event: Event{
			App: text(o, fieldApp), Channel: text(o, fieldChannel), From: text(o, fieldFrom), Key: text(o, fieldKey), Trace: text(o, fieldTrace),
		},
		id: text(o, fieldID), lane: ownLane(o), neverCameBack: text(o, fieldError) == neverCameBackText,
		failures: countIn(o, fieldFailures), lost: countIn(o, fieldLost),
		acceptedAt: number(o, fieldAcceptedAt), retryAt: number(o, fieldRetryAt), pausedAt: number(o, fieldPausedAt),
	}
	e.Body, _ = o.Value(fieldBody).(document.Object)
	e.memory, _ = o.Value(fieldMemory).(document.Array)
	e.noted, _ = o.Value(fieldNoted).(document.Array)
	e.hasBegun, _ = o.Value(fieldBegun).(bool)
	e.isOdd = e.failures == 0 && o.Has(fieldFailures)
	e.isLostOdd = (e.lost == 0 || e.lost == mostFailures) && o.Has(fieldLost)
	return e
}

// text returns the value of a field if it is a text, and else "".
func text(o document.Object, field string) string {
	value, _ := o.Value(field).(string)
	return value
}

// number returns the value of a field if it is an integer, and else 0.
func number(o document.Object, field string) int64 {
	value, _ := o.Value(field).(int64)
	return value
}

// countIn returns the value of a counter, limited to its possible values.
func countIn(o document.Object, field string) int64 {
	return min(max(0, number(o, field)), mostFailures)
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
func (b *Inbox) settleEdited(ctx context.Context, held *lease.Lease, e stored, failure error) (outcome, error) {
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
	result, err := b.failAs(ctx, which, e, failure)
	if isLost(err) {
		return outcome{failure: failure, isOver: true}, nil // The event was removed meanwhile.
	}
	return result, err
}

// ownLane returns the lane of an event. Only an edited record does not name it; then the app, the channel and the
// sender do.
func ownLane(o document.Object) string {
	if lane := text(o, fieldLane); lane != "" {
		return lane
	}
	return Lane(text(o, fieldApp), text(o, fieldChannel), text(o, fieldFrom))
}

// repairLanes sets fieldLane of the waiting events of a page that lack it.
func (s *distributed) repairLanes(ctx context.Context, page []document.Object) error {
	for _, o := range page {
		if text(o, fieldLane) != "" { // Only edited records lack a lane.
			continue
		}
		which := document.O(fieldID, o.Value(fieldID), fieldState, statePending)
		found, err := s.find(ctx, which, store.FindOptions{Limit: 1})
		for _, broken := range found {
			lane := ownLane(broken)
			if _, err = s.setAll(ctx, which, document.O(fieldLane, lane), document.O()); err == nil {
				s.markReady(lane)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// markReady makes a lane ready.
func (s *distributed) markReady(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lanes.makeReady(s.lanes.get(lane))
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

// pauseAfter returns the pause after a number of failures: from the host's function or, if there is none or it panics,
// the default. The default is jittered unless isExact is true.
func (b *Inbox) pauseAfter(ctx context.Context, failures int, isExact bool) (chosen time.Duration) {
	chosen = growing(failures)
	switch {
	case b.config.Backoff != nil:
	case isExact:
		return chosen
	default:
		return jittered(chosen)
	}
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
	b.report(ctx, slog.LevelDebug, "inbox: postponed", e, failure)
	at := now.Add(p.pause)
	set := document.O(fieldRetryAt, int64(document.TimestampOf(at)), fieldPausedAt, int64(document.TimestampOf(now)))
	changed, err := b.setAll(ctx, asClaimed(e), set, document.O(fieldBegun, true))
	if err != nil {
		return outcome{}, err
	}
	return outcome{isPostponed: true, retryAt: at}, wasLost(changed)
}
