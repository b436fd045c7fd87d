package botctx

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// LiveChat has a host's settings for live chats. The zero value of each field means its default.
type LiveChat struct {
	// Pairing returns the ids of the outlets that serve the live chats of an inlet of an app, in the order in
	// which they are asked. The default is the pairs stored by Runtime.Pair.
	Pairing func(ctx context.Context, app, inlet string) ([]string, error)
	// CustomAPI returns the URL of a custom channel's live-chat API, or "" if it has none: then requests go
	// through the connector. The default is liveChatApi in the channel's metadata.
	CustomAPI func(c *channel.Channel) (string, error)
	// HistoryURL returns the address at which the history of a conversation can be read. Without it, a
	// request with its history is Unsupported.
	HistoryURL func(a *livechat.Assignment) (string, error)
	// IdleTimeout is the time without a message after which a conversation ends. The default is
	// livechat.IdleTimeout.
	IdleTimeout time.Duration
	// Texts are the messages that live chats send without bot logic, such as the text for a missing
	// agent. nil means livechat.DefaultTexts; an empty text is not sent.
	Texts *livechat.Texts
}

// liveChats returns the SDK's own live chats of an app, outside runs. Interceptors and the host's own live
// chats are not involved.
func (r *Runtime) liveChats(app string) *livechats.Service {
	return r.Operations(record.Scope{App: app}).ownLiveChats()
}

// SaveAdmin stores an agent of an app and returns the stored record. An agent with the same AdminID is
// replaced. It is for hosts, whose platforms know their agents.
//
// InvalidArgument: AdminID or ExternalID is missing, or the agent belongs to another app. AlreadyExists:
// another agent of the app has this ExternalID. In both cases nothing is stored.
func (r *Runtime) SaveAdmin(ctx context.Context, app string, a livechat.Admin) (saved *livechat.Admin, err error) {
	return r.liveChats(app).SaveAdmin(ctx, a)
}

// CreateAssignment asks for a person on behalf of the member named in p, as the operation does. Interceptors
// are not called.
func (r *Runtime) CreateAssignment(
	ctx context.Context, app string, p livechat.CreateAssignmentParams,
) (result livechat.CreateAssignmentResult, err error) {
	return r.liveChats(app).CreateAssignment(ctx, p)
}

// TakeTicket gives a request to the agent who takes it. A host calls it when the outlet's platform reports
// that; a tap on a ticket arrives through Accept instead. If several agents try at once, one gets it. Then a
// group is created if the connector is a livechat.GroupCreator; otherwise the conversation with the agent is
// the group, and an agent has at most one of these in a channel. The summary is sent into the group, and the
// other tickets show the taken message if the connector is a livechat.TicketUpdater.
//
// If the same agent takes the request again, the call completes the work that an earlier call left undone,
// and repeats nothing.
//
// InvalidArgument: a parameter is missing. NotFound: the app has no such assignment or channel.
// FailedPrecondition: another agent has it, or it has ended, see livechat.TooLateError; it is still being
// sent; it was not offered in the channel; or the agent is in another direct conversation there. Unsupported:
// the host has no connector for the channel's type. If the platform refuses to create the group, its error is
// returned, and the request is open again. Unavailable: the platform did not answer. Then GetAssignment shows
// whether the agent has the request, and a repeated call completes it.
func (r *Runtime) TakeTicket(ctx context.Context, app string, p livechat.TakeParams) (taken *livechat.TakeResult, err error) {
	return r.liveChats(app).Take(ctx, p)
}

// EndLiveChat ends a live chat of an app from the outlet's side, as the operation does. A host calls it when
// the outlet's platform reports that. Interceptors are not called.
func (r *Runtime) EndLiveChat(
	ctx context.Context, app string, p livechat.EndParams,
) (ended livechat.EndResult, err error) {
	return r.liveChats(app).EndLiveChat(ctx, p)
}

// FindAssignments returns the assignments of an app that match a query, as stored, or an empty slice. For
// example, an agent's open assignments are
//
//	rt.FindAssignments(ctx, "shop", botctx.Query{Filter: document.O("assignee", agent, "endedAt", nil)})
//
// InvalidArgument: the filter, the order or a number is wrong. FailedPrecondition: a stored record is not an
// assignment. Other errors come from the store.
func (r *Runtime) FindAssignments(ctx context.Context, app string, q Query) (found []*livechat.AssignmentRecord, err error) {
	return r.liveChats(app).FindAssignments(ctx, record.Query(q))
}

// WaitingRequests returns the number of an app's requests that wait for an agent, with a label, or all of
// them for "". It reads only these. Errors come from the store.
func (r *Runtime) WaitingRequests(ctx context.Context, app, label string) (waiting int64, err error) {
	return r.liveChats(app).Waiting(ctx, label)
}

// LiveChatPosition returns the place of a request among the app's requests with the same label. It reads as
// many records as WaitingRequests does. NotFound: the app has no such assignment.
func (r *Runtime) LiveChatPosition(ctx context.Context, app, assignmentID string) (at livechat.Position, err error) {
	return r.liveChats(app).Position(ctx, assignmentID)
}

// liveChatPorts returns the ports of the SDK's own live chats.
func (p *services) liveChatPorts() livechats.Ports {
	config := p.runtime.config
	pairing := func(ctx context.Context, inlet string) ([]string, error) {
		paired, err := channels.New(p.runtime.guarded, p.scope).Pairing(ctx, inlet)
		if err != nil {
			return nil, err
		}
		return paired.Outlets, nil
	}
	if own := config.LiveChat.Pairing; own != nil {
		pairing = func(ctx context.Context, inlet string) ([]string, error) { return own(ctx, p.scope.App, inlet) }
	}
	return livechats.Ports{
		Members:     effective{p},
		Channels:    p.loaded,
		Pairing:     pairing,
		Agendas:     effective{p},
		Connectors:  config.Connectors,
		HTTP:        ownedHTTP{p},
		CustomAPI:   config.LiveChat.CustomAPI,
		HistoryURL:  config.LiveChat.HistoryURL,
		IdleTimeout: config.LiveChat.IdleTimeout,
		Texts:       config.LiveChat.Texts,
		Pause:       config.Pause,
		IsStrict:    config.Strict,
	}
}

// Events go to the SDK's own live chats, whose records are in the Store, even if the host wraps or replaces
// the operations. A host's own live chats have no records there.

// findGroup finds the live chat of the run's event and its group: the group in which an agent wrote it, or
// the group of the member's own live chat.
func (r *run) findGroup(ctx context.Context) error {
	m, event := r.bot.Member, r.bot.MessageEvent
	if !m.BotMeta.LiveChat() {
		hasGroup, err := livechats.HasLiveGroup(ctx, r.runtime.guarded, r.bot.scope, r.bot.Channel.ID, *event)
		if err != nil || !hasGroup {
			return err
		}
	}
	own := r.bot.ownLiveChats()
	group, err := own.GroupOf(ctx, r.bot.Channel.ID, *event)
	// An agent who also asks for a person writes to the bot in their own live chat.
	if err != nil || group != nil && (!m.BotMeta.LiveChat() || group.ExternalID == event.To) {
		r.bot.Group, r.byAgent = group, group != nil
		return err
	}
	if !m.BotMeta.LiveChat() {
		return nil
	}
	if r.isInLiveChat, err = own.IsAskedHere(ctx, m.ID); err != nil || !r.isInLiveChat {
		return err
	}
	group, err = own.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: r.bot.Channel.ID, MemberID: m.ID})
	if errors.Is(err, boterr.NotFound) {
		return nil // The request has not been taken yet.
	}
	if err == nil && group.Active {
		r.bot.Group = group
	}
	return err
}

// passOn hands an event that no node answers to its live chat: a member's message to the agent, an agent's
// message to the member (also after the end), or a tap on a ticket.
func (r *run) passOn(ctx context.Context) (livechats.Outcome, error) {
	event := *r.bot.MessageEvent
	if isTaken, err := r.takeByTap(ctx); isTaken || err != nil {
		return livechats.OutcomeAnswered, err
	}
	switch {
	case r.isInLiveChat:
		return r.bot.ownLiveChats().RelayFromMember(ctx, r.bot.Member.ID, event)
	case r.byAgent || mayBeOutlet(r.bot.Channel):
		return r.bot.ownLiveChats().RelayFromAgent(ctx, r.bot.Channel.ID, event)
	default:
		return livechats.OutcomeNone, nil
	}
}

// mayBeOutlet reports whether agents may write in a channel. Other channels need no look-up.
func mayBeOutlet(c *channel.Channel) bool {
	return len(c.BroadcastGroups) > 0 || c.Type.Has(channel.OutletGroups) || c.Type.Has(channel.DirectRequests)
}

// takeByTap gives a request to the agent whose event is a tap on its ticket. It reports whether the event was
// one. A tap on an unknown ticket belongs to the host's own live chats, if it has any. An agent who taps too
// late gets a message. For an accepted event a late tap is not an error: no caller waits for it, and neither
// another attempt nor an operator could change it.
func (r *run) takeByTap(ctx context.Context) (bool, error) {
	if r.bot.MessageEvent.Type != send.TypePayload {
		return false, nil
	}
	isTaken, err := r.bot.ownLiveChats().TakeByTap(ctx, r.bot.Channel.ID, *r.bot.MessageEvent)
	if errors.Is(err, boterr.NotFound) && r.bot.host.LiveChats != nil {
		return false, nil
	}
	if !isTooLate(err) {
		return isTaken, err
	}
	untold := r.bot.ownLiveChats().TellLate(ctx, r.bot.Channel.ID, *r.bot.MessageEvent, err)
	if r.hasOwnEvent() {
		r.logLateTap(ctx, errors.Join(err, untold))
		return true, nil
	}
	return isTaken, err
}

// isTooLate reports whether an agent tapped on the ticket of a request that has ended or that another agent
// has.
func isTooLate(err error) bool {
	if _, isLate := errors.AsType[*livechat.TooLateError](err); isLate {
		return true
	}
	e, ok := boterr.AsError(err)
	return ok && e.Code == boterr.NotFound && e.Field == "assignmentId"
}

// isOfLiveChat reports whether live chats set an agenda, judging by its tag and node. Bot logic may set
// agendas with such tags for other nodes.
func isOfLiveChat(a agenda.Agenda) bool {
	return strings.HasPrefix(a.Tag, agenda.LiveChatTagPrefix) && strings.HasPrefix(a.NodeCompositeID, agenda.LiveChatTagPrefix)
}

// LiveChatPosition returns the place of the member's request for a person among the requests that wait for an
// agent with the same label. It is zero if the member has made none, and its Place is 0 once an agent has
// taken the request. It is not an operation, and uses the SDK's own live chats.
func (c *Context) LiveChatPosition(ctx context.Context) (livechat.Position, error) {
	if c.scope.Member == "" {
		return livechat.Position{}, boterr.New(boterr.FailedPrecondition, "", "this context has no member whose request could wait")
	}
	return c.ownLiveChats().PositionOfMember(ctx, c.scope.Member)
}

// expire ends an agenda's live chat if it is idle.
func (r *run) expire(ctx context.Context, due agenda.Agenda) error {
	return r.bot.ownLiveChats().Expire(ctx, due)
}
