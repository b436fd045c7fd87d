package botctx

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/send"
)

// In a run, every message, mail, file, payment and request to a platform has an id. A later attempt at the run uses
// the same ids, so that receivers can recognise a repetition. For the run of an accepted event, the results are also
// stored under these ids until the event is done (record.Once).
//
// An id is made from the run's key, the sending node, the recipient, and the number of earlier ids of that node for
// that recipient in the run. So it does not depend on sends to other recipients, nor on the order in which goroutines
// send to several recipients. The content is not part of the id, because it may contain the current time. The key of
// a run is
//   - for an agenda: its id and the scheduled time (agenda.Run.Key);
//   - for an event: the result of eventKey or, if that is "", the id of the event in the inbox;
//   - for a run that another run started: made like an id, from the key and the node of the other run, the member,
//     and the number of runs that the other run started for this member before.
//
// Runs without a key, such as a Receive of an event without a messageId, and calls outside of runs use new ids each
// time.

// If an interceptor calls next again after an error, the ids of the failed call are used again, because its answer may
// have been lost.

// slot identifies the sends that a node of a run makes to one recipient.
type slot struct {
	// run is the key of the run, or "".
	run  string
	node NodeRef
	// within is the key of the multi-step operation that the send belongs to, or "".
	within string
	to     string
}

// eventKey returns the key of an event's run, or "" if the event has neither a Key nor a messageId. The key includes
// the type and the data, and for a tap also the time, because some platforms report a tap with the id of the tapped
// message.
func eventKey(in Inbound) string {
	if in.Key != "" {
		return fmt.Sprintf("event %q %q %q", in.App, in.Channel, in.Key)
	}
	if in.Event.MessageID == "" {
		return ""
	}
	var tapped int64
	if in.Event.Type == send.TypePayload {
		tapped = int64(in.Event.Timestamp)
	}
	return fmt.Sprintf("event %q %q %q %q %q %q %d %s",
		in.App, in.Channel, in.GroupExternalID, in.Event.From, in.Event.MessageID, in.Event.Type, tapped, in.Event.Data.String())
}

// keyTo returns the key of a step's next message or redirect to a recipient, or "" if the run has no key.
//
// Sends in a multi-step operation (send.KeyOf) are counted separately. A later attempt may skip that operation, and
// this must not change the keys of other sends.
func (s *step) keyTo(ctx context.Context, to string) string {
	if s == nil || s.run.key == "" {
		return ""
	}
	at := s.slotTo(ctx, to)
	return tryOf(ctx).key(at, func() string { return s.run.nextKey(at) })
}

// slotTo returns the slot of a send to a recipient. s may be nil.
func (s *step) slotTo(ctx context.Context, to string) slot {
	at := slot{within: send.KeyOf(ctx), to: to}
	if s != nil {
		at.run, at.node = s.run.key, s.node
	}
	return at
}

func (r *run) nextKey(at slot) string {
	r.sending.Lock()
	defer r.sending.Unlock()
	before := r.sent[at]
	if r.sent == nil {
		r.sent = map[slot]int{}
	}
	r.sent[at]++
	key := at.run + " | " + strconv.Quote(at.node.Tree) + " " + strconv.Quote(at.node.CompositeID) + " " + at.to + " " + strconv.Itoa(before)
	if at.within != "" {
		key += " within " + at.within
	}
	return key
}

// keys are the keys of the sends in the calls of an interceptor's next, since the last one that succeeded. A call after
// a failed one takes them again.
type keys struct {
	mu        sync.Mutex
	all       []slotKey
	hasFailed bool
}

type slotKey struct {
	at  slot
	key string
}

// bySlot returns the keys of failed calls by slot, in their order, or nil if no call has failed.
func (k *keys) bySlot() map[slot][]string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.hasFailed {
		return nil
	}
	found := map[slot][]string{}
	for _, one := range k.all {
		found[one.at] = append(found[one.at], one.key)
	}
	return found
}

// try is the context of one call of next. outer is the try that the call is part of, or nil. left are the keys of failed
// calls that this one has not taken.
type try struct {
	context.Context //nolint:containedctx // It is a context.

	outer *try
	of    *keys
	left  map[slot][]string
}

type tryKey struct{}

// Value implements context.Context.
func (t *try) Value(key any) any {
	if key == (tryKey{}) {
		return t
	}
	return t.Context.Value(key)
}

// tryOf returns the innermost try that ctx belongs to, or nil.
func tryOf(ctx context.Context) *try {
	t, _ := ctx.Value(tryKey{}).(*try)
	return t
}

// key returns the key of the next send in a slot: the one of a failed try, if there is one, and otherwise a new one.
func (t *try) key(at slot, newKey func() string) string {
	if t == nil {
		return newKey()
	}
	t.of.mu.Lock()
	defer t.of.mu.Unlock()
	if left := t.left[at]; len(left) > 0 {
		t.left[at] = left[1:]
		return left[0]
	}
	key := t.outer.key(at, newKey)
	t.of.all = append(t.of.all, slotKey{at, key})
	return key
}

// repeated is the next of an interceptor.
type repeated struct {
	next Next
	mu   sync.Mutex
	// current are the keys of the calls since the last success, or nil. first are the keys before any success.
	current *keys
	first   keys
}

// repeatable returns next for an interceptor: a call after a failed one uses the same ids.
func repeatable(next Next) Next {
	r := &repeated{next: next}
	r.current = &r.first
	return r.call
}

func (r *repeated) call(ctx context.Context) (any, error) {
	r.mu.Lock()
	if r.current == nil {
		r.current = new(keys)
	}
	of := r.current
	r.mu.Unlock()
	result, err := r.next(&try{Context: ctx, outer: tryOf(ctx), of: of, left: of.bySlot()}) //nolint:contextcheck // It contains ctx.
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.current == of {
		r.current = nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.hasFailed = of.hasFailed || err != nil
	return result, err
}

// sendID implements record.Env.SendID. It returns the id of a send in the step of ctx.
func (r *Runtime) sendID(ctx context.Context, to string) string {
	at := r.stepOf(ctx)
	at.noteSpoken(to)
	key := at.keyTo(ctx, to)
	if key == "" {
		return tryOf(ctx).key(at.slotTo(ctx, to), r.env.NewID)
	}
	return r.config.DeriveID(key)
}

// noteSpoken sets hasSpoken if a send during a live chat goes to the run's member, or to the group in which the
// member wrote.
func (s *step) noteSpoken(to string) {
	if s == nil || !s.run.isInLiveChat.Load() {
		return
	}
	bot := s.run.bot
	whom := bot.scope.GroupExternalID
	if whom == "" && bot.Member != nil {
		whom = bot.Member.ExternalID
	}
	if strings.HasPrefix(to, "message "+strconv.Quote(bot.scope.Channel)+" "+strconv.Quote(whom)) {
		s.run.hasSpoken.Store(true)
	}
}

// SendID returns an id for a request of bot logic, such as the Idempotency-Key of a Fetch. Each call returns a different
// id. If the run of an agenda or event is tried again, the same call returns the same id. to names the recipient or the
// subject of the request, such as the id of a customer.
func (c *Context) SendID(ctx context.Context, to string) string {
	return c.runtime.sendID(c.within(ctx), fmt.Sprintf("own %q", to))
}

// derivedUUID is the default of Config.DeriveID.
func derivedUUID(of string) string {
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(of), 8).String()
}
