package livechats

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// A member's messages are kept in the assignment while no agent can read them: until an agent takes the request, and
// during a hand-over. The agent then gets them in order, below a heading. Each message is removed after it is sent.
// A crash loses none; a message that was sent but not removed is sent again with the same id.

// errChanged means that the assignment has changed since it was read.
var errChanged = errors.New("the assignment has changed")

// mostTries is the number of attempts of a call whose assignment other calls keep changing.
const mostTries = 10

// keep adds a message to the kept ones, with an id. The result is OutcomeKept or OutcomeFull. All calls of a run with
// the same id, in all its attempts, add the message once. It returns errChanged if the assignment was taken or ended
// meanwhile, or got a different group.
func (s *Service) keep(ctx context.Context, r *livechat.AssignmentRecord, id string, response send.Response) (Outcome, error) {
	if err := response.Validate(); err != nil {
		return OutcomeNone, boterr.PrefixField(fieldResponse, err)
	}
	type done struct{ Result Outcome }
	// The message is sent later under its own id, so this is another one.
	came, err := record.Once(ctx, s.env, id+"-kept", func(ctx context.Context) (done, error) {
		kept := livechat.KeptMessage{ID: id, At: document.TimestampOf(s.env.Now()), Response: response.Object()}
		if slices.ContainsFunc(r.Kept, func(k livechat.KeptMessage) bool { return k.ID == kept.ID }) {
			return done{OutcomeKept}, nil
		}
		if !hasRoomFor(r, kept) {
			return done{OutcomeFull}, nil
		}
		same := document.O(fieldEndedAt, isAbsent, fieldKept+"."+strconv.Itoa(livechat.MostKept-1), isAbsent).
			With(fieldGroup, orAbsent(r.Group)).With(fieldAssignee, orAbsent(r.Assignee))
		changed, err := s.modify(ctx, r.ID, same, document.Push(fieldKept, kept))
		if err == nil && changed == nil {
			err = errChanged
		}
		return done{OutcomeKept}, err
	})
	return came.Result, err
}

// hasRoomFor reports whether another message can be kept.
func hasRoomFor(r *livechat.AssignmentRecord, kept livechat.KeptMessage) bool {
	size := len(kept.Response.String())
	for _, k := range r.Kept {
		size += len(k.Response.String())
	}
	return len(r.Kept) < livechat.MostKept && size <= livechat.MostKeptBytes
}

// orAbsent returns a condition that a field equals text. If text is "", the field must be absent.
func orAbsent(text string) any {
	if text == "" {
		return isAbsent
	}
	return text
}

// TellWaiting tells a member that no agent has taken the request yet, after an outcome of RelayFromMember: once per
// request for OutcomeKept, and each time for OutcomeFull. For other outcomes, and if an agent can now read the
// member's messages, it does nothing. Call it if the bot did not answer.
//
// Errors come from the send. If the member can no longer be reached, the request ends without an error.
func (s *Service) TellWaiting(ctx context.Context, memberID string, outcome Outcome) error {
	if outcome != OutcomeKept && outcome != OutcomeFull {
		return nil
	}
	r, err := s.current(ctx, memberID)
	if err != nil || r == nil {
		return err
	}
	if g, err := s.openGroup(ctx, r); err != nil || g != nil {
		return err
	}
	text, id := s.texts.Full, s.env.SendID(ctx, "full "+r.ID)
	if outcome == OutcomeKept {
		text, id = s.texts.Waiting, r.ID+"/waiting"
		if !r.WaitingToldAt.IsZero() {
			return nil
		}
	}
	if text == "" {
		return nil
	}
	if text, err = s.withPosition(ctx, r, text); err != nil {
		return err
	}
	err = s.tellMember(ctx, r, id, text)
	switch {
	case send.IsGone(err):
		_, err = s.endGone(ctx, r, livechat.EndedByMemberGone, err)
		return err
	case err != nil || outcome == OutcomeFull:
		return err
	}
	_, err = s.modify(context.WithoutCancel(ctx), r.ID, document.O(), document.Set(fieldWaitingToldAt, document.TimestampOf(s.env.Now())))
	return err
}

// withPosition fills the placeholders for the position in the queue.
func (s *Service) withPosition(ctx context.Context, r *livechat.AssignmentRecord, text string) (string, error) {
	if !strings.Contains(text, positionPlaceholder) && !strings.Contains(text, waitingPlaceholder) {
		return text, nil
	}
	at, err := s.positionOf(ctx, r)
	if err != nil {
		return "", err
	}
	return strings.NewReplacer(
		positionPlaceholder, strconv.FormatInt(at.Place, 10), waitingPlaceholder, strconv.FormatInt(at.Waiting, 10),
	).Replace(text), nil
}

// tellMember sends a text to the member of an assignment, or to the group in which the member made the
// request.
func (s *Service) tellMember(ctx context.Context, r *livechat.AssignmentRecord, id, text string) error {
	message, err := s.toInlet(ctx, r, inletGroupID(r), send.Text(text))
	if err != nil {
		return err
	}
	message.ID = id
	_, err = s.deliver(ctx, message)
	return err
}

// tellAgent sends a text to the conversation with an agent.
func (s *Service) tellAgent(ctx context.Context, g *livechat.Group, id, text string) error {
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return err
	}
	return s.tellIn(ctx, outlet, g.ExternalID, id, text)
}

// tellIn sends a text to a group or agent in an outlet.
func (s *Service) tellIn(ctx context.Context, outlet *channel.Channel, to, id, text string) error {
	message, err := s.messageTo(outlet, to, nil, send.Text(text))
	if err != nil {
		return err
	}
	message.ID = id
	_, err = s.deliver(ctx, message)
	return err
}

// openGroup returns the live group in which an agent reads the member's messages, or nil.
func (s *Service) openGroup(ctx context.Context, r *livechat.AssignmentRecord) (*livechat.Group, error) {
	if r.State() != livechat.Taken || r.Group == "" {
		return nil, nil
	}
	return s.liveGroup(ctx, r.Group)
}

// hasNothingBefore reports whether there are no kept messages for the agent, neither in this assignment nor
// in one that it replaces.
func hasNothingBefore(r *livechat.AssignmentRecord) bool { return isFirst(r) && len(r.Kept) == 0 }

// takeOverKept moves the kept messages of the previous assignment to this one.
func (p *pass) takeOverKept(ctx context.Context) error {
	now, err := p.adoptKept(ctx, p.r)
	if now != nil {
		p.r = now
	}
	return err
}

// adoptKept moves the kept messages of the previous assignment to the next one, in front of those already
// there. It stores them before it removes them, so that a crash loses none. The result is the next assignment
// after the move, or nil if there was nothing to move.
func (s *Service) adoptKept(ctx context.Context, next *livechat.AssignmentRecord) (*livechat.AssignmentRecord, error) {
	if isFirst(next) {
		return nil, nil
	}
	previous, err := s.findAssignment(ctx, next.ParentAssignment)
	if err != nil || previous == nil || len(previous.Kept) == 0 || previous.State() != livechat.Ended {
		return nil, err
	}
	for range mostTries {
		now, err := s.loadAssignment(ctx, next.ID)
		if err != nil {
			return nil, err
		}
		isHere := func(k livechat.KeptMessage) bool {
			return slices.ContainsFunc(now.Kept, func(own livechat.KeptMessage) bool { return own.ID == k.ID })
		}
		all, isCut := bounded(append(slices.DeleteFunc(slices.Clone(previous.Kept), isHere), now.Kept...))
		unchanged := document.O(record.FieldVersion, now.Version, fieldEndedAt, isAbsent)
		stored, err := s.modify(ctx, next.ID, unchanged, document.Set(fieldKept, all))
		switch {
		case err != nil:
			return nil, err
		case stored != nil:
			_, err := s.modify(ctx, previous.ID, document.O(), document.Unset(fieldKept))
			if err == nil && isCut {
				err = s.tellFull(ctx, stored)
			}
			return stored, err
		case now.State() == livechat.Ended:
			return nil, nil
		}
	}
	return nil, boterr.New(boterr.Conflict, fieldAssignmentID, "the assignment %s kept changing: try again", next.ID)
}

// bounded returns the oldest messages, up to the maximum for one request. isCut is true if some were omitted.
func bounded(all []livechat.KeptMessage) (kept []livechat.KeptMessage, isCut bool) {
	var r livechat.AssignmentRecord
	for _, k := range all {
		if !hasRoomFor(&r, k) {
			return r.Kept, true
		}
		r.Kept = append(r.Kept, k)
	}
	return all, false
}

// tellFull sends the text Full to the member, because the two assignments of a hand-over together kept more
// messages than one may. It is not an error if the member can no longer be reached.
func (s *Service) tellFull(ctx context.Context, r *livechat.AssignmentRecord) error {
	if s.texts.Full == "" {
		return nil
	}
	text, err := s.withPosition(ctx, r, s.texts.Full)
	if err != nil {
		return err
	}
	if err = s.tellMember(ctx, r, r.ID+"/full", text); send.IsGone(err) {
		return nil
	}
	return err
}

// sendKept sends the kept messages to the agent. If another call is sending them, it waits until that call has sent
// them or, after a crash, until its lease has expired. If that fails, the later steps continue, and a repeated call
// sends the rest. If the conversation is gone, the live chat ends.
func (p *pass) sendKept(ctx context.Context) error {
	err := p.untilFree(ctx, func() (isFree bool, err error) {
		isBusy, err := p.passOnKept(ctx, p.r)
		return !isBusy, err
	})
	lost, isLost := errors.AsType[*lostError](err)
	if !isLost {
		p.unfinished.add("kept messages", err)
		return nil
	}
	_, err = p.endGone(ctx, p.r, livechat.EndedByAgentGone, lost.cause)
	return joined(endedMeanwhile(p.r), err)
}

// lostError wraps the error of a send whose recipient is gone. It distinguishes this error from NotFound for a
// missing record.
type lostError struct{ cause error }

func (l *lostError) Error() string { return l.cause.Error() }

func (l *lostError) Unwrap() error { return l.cause }

// passOnKept sends the kept messages of an assignment to its conversation, oldest first, and removes each one after
// it was sent. If several calls run concurrently, only one sends, and the others return true as isBusy. It returns a
// lostError if the conversation is gone. A later attempt of a run takes over from the earlier one at once, because it has
// the same id as a sender.
func (s *Service) passOnKept(ctx context.Context, r *livechat.AssignmentRecord) (isBusy bool, err error) {
	if _, err := s.adoptKept(ctx, r); err != nil {
		return false, err
	}
	g, err := s.openGroup(ctx, r)
	if err != nil || g == nil {
		return false, err
	}
	outlet, err := s.ports.Channels.Load(ctx, g.Outlet)
	if err != nil {
		return false, err
	}
	holder := s.env.SendID(ctx, "sender of kept "+r.ID)
	now, err := s.claimLease(ctx, r.ID, fieldKeptSender, holder, document.O(fieldKept+".0", isPresent))
	if err != nil {
		return false, err
	}
	if now == nil { // There are none, or another call sends them.
		now, err = s.findAssignment(ctx, r.ID)
		return now != nil && now.State() != livechat.Ended && len(now.Kept) > 0, err
	}
	mine := document.O(fieldKeptSender+".id", now.KeptSender.ID)
	defer func() { // Other calls may continue at once, or if this fails, once the lease has expired.
		_, _ = s.modify(context.WithoutCancel(ctx), r.ID, mine, document.Unset(fieldKeptSender))
	}()
	if s.texts.Before != "" && len(now.Kept) > 0 {
		heading := strings.ReplaceAll(s.texts.Before, countPlaceholder, strconv.Itoa(len(now.Kept)))
		if err := s.tellIn(ctx, outlet, g.ExternalID, now.Kept[0].ID+"/before", heading); err != nil {
			return false, orLost(err)
		}
	}
	return false, s.drainKept(ctx, now, outlet, g)
}

// drainKept sends the kept messages of an assignment. The call must be the assignment's KeptSender.
func (s *Service) drainKept(ctx context.Context, now *livechat.AssignmentRecord, outlet *channel.Channel, g *livechat.Group) error {
	id, mine := now.ID, document.O(fieldKeptSender+".id", now.KeptSender.ID)
	for now != nil && now.State() != livechat.Ended { // now is nil if another call has taken over.
		if len(now.Kept) == 0 {
			done, err := s.modify(ctx, id, mine.With(fieldKept+".0", isAbsent), document.Unset(fieldKept, fieldKeptSender))
			if err != nil || done != nil {
				return err
			}
		} else if err := s.sendToAgent(ctx, now, outlet, g, now.Kept[0]); err != nil {
			return err
		}
		until, err := s.leaseEnd(ctx)
		if err != nil {
			return err
		}
		update := document.O("$set", document.O(fieldKeptSender+".until", until))
		if len(now.Kept) > 0 {
			update = update.With("$pull", document.O(fieldKept, document.O("id", now.Kept[0].ID)))
		}
		if now, err = s.modify(context.WithoutCancel(ctx), id, mine, update); err != nil {
			return err
		}
	}
	return nil
}

// sendToAgent sends a member's message to the conversation with an agent, and the text Unshown if the platform cannot
// show it. It returns a lostError if the conversation is gone.
func (s *Service) sendToAgent(
	ctx context.Context, r *livechat.AssignmentRecord, outlet *channel.Channel, g *livechat.Group, said livechat.KeptMessage,
) error {
	message, err := s.messageTo(outlet, g.ExternalID, nil, send.Raw(said.Response))
	if err == nil {
		message.ID, message.AuthorID = said.ID, r.Member
		err = s.sendRelayed(ctx, message)
	}
	switch {
	case !isUnshowable(err):
		return err
	case s.texts.Unshown == "":
		return nil
	}
	return orLost(s.tellIn(ctx, outlet, g.ExternalID, said.ID+"/unshown", s.texts.Unshown))
}

// orLost wraps the error of a send in a lostError if the recipient is gone.
func orLost(err error) error {
	if send.IsGone(err) {
		return &lostError{cause: err}
	}
	return err
}

// Placeholders of Texts.
const (
	positionPlaceholder = "[position]"
	waitingPlaceholder  = "[waiting]"
	countPlaceholder    = "[count]"
)
