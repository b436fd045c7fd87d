package botctx

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/send"
)

// Every message, mail, file, payment and request to a platform of a run has an id. A run that is tried again
// uses the same ids as before, so that receivers can recognise a repetition; for a run of an accepted event,
// their results are stored under these ids until the event is done (record.Once).
//
// An id is made of the run's key, the sending node, the recipient, and the number of ids that the node has
// used for that recipient before in this run. So it depends neither on sends to others nor on the order in
// which goroutines send to several. The content is not part of the id: a text with the time in it is a
// repetition, too. The key of a run is
//   - the key of its agenda: the id and the scheduled time (agenda.Run.Key), even if bot logic schedules the
//     agenda again for the same time;
//   - the key of its event, see eventKey; for an event without a messageId, the inbox's id of the event, or
//     if the inbox does not have it, the id of the run that received it;
//   - for another member's run that a redirect began, made like an id from the redirecting run, its node, the
//     member and the number of earlier redirects to the member.
//
// A run without a key, such as a run of Receive for an event without a messageId, uses new ids each time, and
// so do calls outside runs.

// slot is a recipient of a node of a run.
type slot struct {
	node NodeRef
	// within is the key of the multi-step operation that the send belongs to; "" if there is none.
	within string
	to     string
}

// eventKey returns the key of an event's run, or "" if the event has neither a Key nor a messageId. The key
// includes the type and the data, and for a tap also the time, because some platforms report a tap under the id
// of the tapped message.
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

// keyTo returns the key of a step's next message or redirect to a recipient. It is "" if the run has no key.
//
// Sends within an operation that is done once (send.KeyOf) are counted separately, so that later sends keep
// their keys if that operation is not repeated.
func (s *step) keyTo(ctx context.Context, to string) string {
	if s == nil || s.run.key == "" {
		return ""
	}
	s.run.sending.Lock()
	defer s.run.sending.Unlock()
	at := slot{node: s.node, within: send.KeyOf(ctx), to: to}
	before := s.run.sent[at]
	if s.run.sent == nil {
		s.run.sent = map[slot]int{}
	}
	s.run.sent[at]++
	key := fmt.Sprintf("%s | %q %q %s %d", s.run.key, s.node.Tree, s.node.CompositeID, to, before)
	if at.within != "" {
		key += " within " + at.within
	}
	return key
}

// sendID returns the id of a send in the step of a ctx. It implements record.Env.SendID.
func (r *Runtime) sendID(ctx context.Context, to string) string {
	at := r.stepOf(ctx)
	at.noteSpoken(to)
	key := at.keyTo(ctx, to)
	if key == "" {
		return r.env.NewID()
	}
	return r.config.DeriveID(key)
}

// noteSpoken records that the run sends something to its member, or to the group in which the member wrote,
// during a live chat.
func (s *step) noteSpoken(to string) {
	if s == nil || !s.run.isInLiveChat {
		return
	}
	bot := s.run.bot
	whom := bot.scope.GroupExternalID
	if whom == "" {
		whom = bot.Member.ExternalID
	}
	if strings.HasPrefix(to, "message "+strconv.Quote(bot.scope.Channel)+" "+strconv.Quote(whom)) {
		s.run.hasSpoken.Store(true)
	}
}

// SendID returns an id for bot logic's own requests, such as the Idempotency-Key of a Fetch. It is made like
// the ids of messages: different for each call, and the same for the same call when an agenda's or event's
// run is tried again. to names the recipient or the subject, such as the customer.
func (c *Context) SendID(ctx context.Context, to string) string {
	return c.runtime.sendID(c.within(ctx), fmt.Sprintf("own %q", to))
}

// derivedUUID is the default of Config.DeriveID.
func derivedUUID(of string) string {
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(of), 8).String()
}
