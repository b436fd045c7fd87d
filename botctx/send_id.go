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

// The ids of what leaves a run: messages, mails, files, payments, what platforms are asked for. A run that
// is tried again sends under the same ids as before, so that who receives them can tell a repetition; what
// a run of an accepted event has sent is remembered under them until the event is done (record.Once).
//
// Such an id is made of the run's key, the node that sends, to whom, and how many the node has
// sent there before in this run. What a run sends to others does not change it, nor does the
// order in which goroutines send to several. What it says is not in the id: a text with the time
// in it is a repetition, too. The key of a run is
//
//   - that of its agenda: the id and the scheduled time (agenda.Run.Key), also where bot logic
//     schedules the agenda anew for the same instant;
//   - of an event, see eventKey; where it has no messageId, that of the inbox, where the inbox has it, or
//     of the run that received it;
//   - in another member's run that a redirect began, made as an id is: of the run that
//     redirected, its node, the member and how many redirects there went to her before.
//
// A run without a key, such as that of Receive for an event without a messageId, and calls outside of
// runs have new ids each time.

// slot is what a node of a run sends to.
type slot struct {
	node NodeRef
	// within is the key of what is done in several steps, of which this is one; "" where it is none.
	within string
	to     string
}

// eventKey returns the key of the run for an event, "" where it has neither a Key nor a messageId. The type and
// the data are in it, and of a tap the time as well, since some platforms report a tap under
// the id of the message that was tapped.
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

// keyTo returns the key of the next thing that a step sends, or redirects, to somebody. It is
// "" where the run has none.
//
// What is sent within something that is done once (send.KeyOf) is counted apart, so that what is sent
// after it has the same keys where it is not done again.
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

// sendID makes the id of what the step of a ctx sends. It is record.Env.SendID.
func (r *Runtime) sendID(ctx context.Context, to string) string {
	at := r.stepOf(ctx)
	at.noteSpoken(to)
	key := at.keyTo(ctx, to)
	if key == "" {
		return r.env.NewID()
	}
	return r.config.DeriveID(key)
}

// noteSpoken notes that the run sends something to its member, or to the group in which the member
// wrote, during a live chat.
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

// SendID returns an id for what bot logic sends by itself, such as the Idempotency-Key of a Fetch,
// made as those of messages are: different with each call, and in a run that is tried again, for an
// agenda or an event, what the same call gave before. to names whom or what it is for, such as the
// customer.
func (c *Context) SendID(ctx context.Context, to string) string {
	return c.runtime.sendID(c.within(ctx), fmt.Sprintf("own %q", to))
}

// derivedUUID is the default of Config.DeriveID.
func derivedUUID(of string) string {
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte(of), 8).String()
}
