package livechats

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// An operation writes what it wants of an assignment, by a transition, and reconciles it: the
// steps that are left take it there. A call that comes after a crash does the same, so it goes
// on where the other one stopped.

// machine takes assignments from where they are to where they should be.
type machine struct {
	*core

	router        *router
	tickets       *tickets
	conversations *conversations
}

// want is where a call wants an assignment to be.
type want string

// What calls want.
const (
	// wantOpen: all was sent, and the member is in live chat as the record says.
	wantOpen want = "open request"
	// wantConversation: the agent and the member can talk, and the tickets show that.
	wantConversation want = "conversation"
	// wantClosed: all that ends with it has ended, too.
	wantClosed want = "closed"
)

// step is one thing to do for an assignment.
type step struct {
	name string
	// want is what it is for.
	want want
	// in are the states in which it is due, if due says so for the call. nil: for each call.
	in  []livechat.State
	due func(*pass) bool
	// done reports whether the record notes that it was done. nil: nothing notes it, and
	// doing it again changes nothing.
	done func(*livechat.AssignmentRecord) bool
	// do does it.
	do func(*pass, context.Context) error
}

// steps returns the steps in their order: name, want, states, due, done, do.
func steps() []step {
	open := []livechat.State{livechat.Pending, livechat.Taken}
	return []step{
		{"send the tickets", wantOpen, []livechat.State{livechat.Sending, livechat.Pending}, (*pass).isSender, isSent, (*pass).send},
		{"store the group of the API", wantOpen, []livechat.State{livechat.Sending}, nil, hasGroupOfAPI, (*pass).storeGroupOfAPI},
		{"end the previous one", wantOpen, []livechat.State{livechat.Sending}, nil, isFirst, (*pass).endPrevious},
		{"open", wantOpen, []livechat.State{livechat.Sending}, nil, nil, (*pass).open},
		{"take over what was written", wantOpen, open, nil, isFirst, (*pass).takeOverKept},
		{"close the previous one", wantOpen, open, nil, isFirst, (*pass).finishPrevious},
		{"give it to who is in its group", wantOpen, open, nil, hasNobodyInGroup, (*pass).takeByItsGroup},
		{"let the member in", wantOpen, open, nil, nil, (*pass).letIn},
		{"send what was written before", wantOpen, []livechat.State{livechat.Taken}, nil, hasNothingBefore, (*pass).sendKept},

		{"open the conversation", wantConversation, []livechat.State{livechat.Taken}, nil, nil, (*pass).openConversation},
		{"watch idle time", wantConversation, []livechat.State{livechat.Taken}, nil, nil, (*pass).watch},
		{"let the member in", wantConversation, []livechat.State{livechat.Taken}, nil, nil, (*pass).letIn},
		{"send the summary", wantConversation, []livechat.State{livechat.Taken}, nil, hasNoSummaryLeft, (*pass).sendSummary},
		{"send what was written before", wantConversation, []livechat.State{livechat.Taken}, nil, hasNothingBefore, (*pass).sendKept},
		{"show it on the tickets", wantConversation, []livechat.State{livechat.Taken}, nil, nil, (*pass).showTaken},

		{"let the member out", wantClosed, []livechat.State{livechat.Ended}, nil, nil, (*pass).letOut},
		{"clear the member's group", wantClosed, []livechat.State{livechat.Ended}, nil, hasNoGroup, (*pass).clearGroup},
		{"put the groups out of use", wantClosed, []livechat.State{livechat.Ended}, nil, nil, (*pass).endGroups},
		{"tell who is left", wantClosed, []livechat.State{livechat.Ended}, (*pass).hasLastWords, nil, (*pass).sayLastWords},
		{"close the previous one", wantClosed, []livechat.State{livechat.Ended}, nil, isFirst, (*pass).finishPrevious},
		{"recall the tickets", wantClosed, []livechat.State{livechat.Ended}, (*pass).wantsRecall, nil, (*pass).recall},
		{"show that it is over", wantClosed, []livechat.State{livechat.Ended}, (*pass).isUntakenEnd, nil, (*pass).showOver},
		{"withdraw the next one", wantClosed, []livechat.State{livechat.Ended}, nil, wasHandedOn, (*pass).withdrawNext},
		{"close", wantClosed, []livechat.State{livechat.Ended}, (*pass).canClose, nil, (*pass).close},
	}
}

// pass takes one assignment through the steps, for one call.
type pass struct {
	*machine

	// r is the assignment as the last step left it. sender is the id of the call as the one that
	// sends it, "" where it does not.
	r      *livechat.AssignmentRecord
	sender string
	// asking is the member who asks, from whom messages are filled. nil where none is sent.
	asking *member.Member
	// isOut is whether the call wants the member out of live chat, nil where it does not say.
	isOut *bool
	// takenFrom is the broadcast group whose ticket was taken, "" where that is not known.
	takenFrom string
	// isRecalled is whether the call wants the tickets to be recalled.
	isRecalled bool
	// isTold is whether a side was told that the assignment has ended.
	isTold bool

	// outlet and group are where the agent talks, once the conversation is open. member is the
	// member as a step changed it last, nil where none did.
	outlet *channel.Channel
	group  *livechat.Group
	member *member.Member
	// unfinished and errs are what failed of what the rest does not depend on.
	unfinished unfinished
	errs       []error
}

// then says what to do about a want that is unfinished.
func (w want) then() string {
	if w == wantConversation {
		return "the agent has it, and the same call again does the rest"
	}
	return "the same call again recalls the rest"
}

// finish closes an assignment that has ended.
func (s *machine) finish(ctx context.Context, ended *livechat.AssignmentRecord) error {
	return (&pass{machine: s, r: ended}).reconcile(ctx, wantClosed)
}

// reconcile takes the assignment to where a call wants it to be, by the steps that are due
// and not done. A step that fails keeps those behind it from being done, but for what it notes
// as unfinished.
func (p *pass) reconcile(ctx context.Context, to want) error {
	defer p.releaseSender(ctx) // Also where a connector panics: nobody has to wait for it then.
	var failed error
	for _, step := range steps() {
		if failed == nil && p.isDue(step, to) {
			failed = step.do(p, ctx)
		}
	}
	return joined(append(p.errs, failed, p.unfinished.err(ctx, to.then()))...)
}

// isDue reports whether a step is due and not done.
func (p *pass) isDue(s step, to want) bool {
	return s.want == to && slices.Contains(s.in, p.r.State()) && p.r.ClosedAt.IsZero() &&
		(s.due == nil || s.due(p)) && (s.done == nil || !s.done(p.r))
}

// isSender reports whether the call is the one that sends the request.
func (p *pass) isSender() bool {
	return p.sender != "" && p.r.Sender != nil && p.r.Sender.ID == p.sender
}

// releaseSender lets others send the request. Where it fails, they may once the lease is over.
func (p *pass) releaseSender(ctx context.Context) {
	if p.isSender() {
		_, _ = p.assignments().Update(context.WithoutCancel(ctx), record.Patch{
			Filter:       document.O(record.FieldID, p.r.ID, fieldSender+".id", p.sender),
			Patch:        document.Unset(fieldSender),
			WithModifier: true,
		})
	}
}

// memberNow returns the member as it is after the pass.
func (p *pass) memberNow(ctx context.Context) (*member.Member, error) {
	if p.member != nil {
		return p.member, nil
	}
	return p.memberOf(ctx, p.r)
}
