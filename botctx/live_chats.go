package botctx

import (
	"context"
	"errors"
	"log/slog"
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

// LiveChat holds a host's settings for live chats; see Config.LiveChat. A zero field has its default value.
type LiveChat struct {
	// Pairing returns the ids of the outlets that serve the live chats of an inlet, in the order in which
	// requests go to them. The default is the pairing stored by Runtime.Pair.
	Pairing func(ctx context.Context, app, inlet string) ([]string, error)
	// CustomAPI returns the URL of a custom channel's live-chat API. If it returns "", requests go through the
	// connector. The default is liveChatApi in the channel's metadata.
	CustomAPI func(c *channel.Channel) (string, error)
	// HistoryURL returns the address of a page with the history of a conversation. If it is nil, a request that
	// asks to include the history returns Unsupported.
	HistoryURL func(a *livechat.Assignment) (string, error)
	// IdleTimeout is the time without messages after which a live chat ends. The default is
	// livechat.IdleTimeout.
	IdleTimeout time.Duration
	// Texts are the messages that live chats send without bot logic, such as the text that no agent is there
	// yet. The default is livechat.DefaultTexts. An empty text is not sent.
	Texts *livechat.Texts
}

// liveChats returns the SDK's own live chats of an app, outside of runs and without interceptors.
func (r *Runtime) liveChats(app string) *livechats.Service {
	return r.Operations(Scope{App: app}).ownLiveChats()
}

// SaveAdmin stores an agent of an app and returns the stored record. It replaces the agent with the same AdminID.
//
// It returns InvalidArgument if AdminID or ExternalID is missing or if the agent belongs to another app, and
// AlreadyExists if another agent of the app has this ExternalID. After an error, nothing is stored.
func (r *Runtime) SaveAdmin(ctx context.Context, app string, a livechat.Admin) (saved *livechat.Admin, err error) {
	return r.liveChats(app).SaveAdmin(ctx, a)
}

// CreateAssignment calls the operation of that name for a host. It does not call interceptors.
func (r *Runtime) CreateAssignment(
	ctx context.Context, app string, p livechat.CreateAssignmentParams,
) (result livechat.CreateAssignmentResult, err error) {
	return r.liveChats(app).CreateAssignment(ctx, p)
}

// TakeTicket assigns a live-chat request to the agent who takes it. A host calls it when the outlet's platform
// reports that an agent took a ticket. A tap on a ticket arrives through Accept instead. If several agents try at
// once, one of them gets the request.
//
// If the connector is a livechat.GroupCreator, it creates a group for the conversation. Otherwise the direct
// conversation with the agent is the group; an agent can have only one direct conversation in a channel. The summary
// is sent to the group. If the connector is a livechat.TicketUpdater, the other tickets show the taken message.
//
// If the same agent takes the request again, the call completes the steps that an earlier call did not finish, and
// does not repeat the others.
//
// Errors:
//   - InvalidArgument: a parameter is missing.
//   - NotFound: the app has no such assignment or channel.
//   - FailedPrecondition: another agent has the request or it has ended (see livechat.TooLateError); its tickets
//     are still being sent; it was not offered in the channel; or the agent is in another direct conversation
//     there.
//   - Unsupported: the host has no connector for the channel's type.
//   - Unavailable: the platform did not answer. GetAssignment shows whether the agent has the request. Repeat the
//     call to complete it.
//
// If the platform refuses to create the group, TakeTicket returns that error, and the request is open again.
func (r *Runtime) TakeTicket(ctx context.Context, app string, p livechat.TakeParams) (taken *livechat.TakeResult, err error) {
	return r.liveChats(app).Take(ctx, p)
}

// EndLiveChat calls the operation of that name for a host, for example when the outlet's platform reports that an
// agent closed the conversation. It does not call interceptors.
func (r *Runtime) EndLiveChat(
	ctx context.Context, app string, p livechat.EndParams,
) (ended livechat.EndResult, err error) {
	return r.liveChats(app).EndLiveChat(ctx, p)
}

// FindAssignments returns the assignments of an app that match a query. The result is never nil without an error.
// This call returns an agent's open assignments:
//
//	rt.FindAssignments(ctx, "shop", botctx.Query{Filter: document.O("assignee", agent, "endedAt", nil)})
//
// If a stored record is not an assignment, FindAssignments logs that, and the result has an assignment with only its
// ID. It returns InvalidArgument if q is invalid. Other errors come from the store.
func (r *Runtime) FindAssignments(ctx context.Context, app string, q Query) (found []*livechat.AssignmentRecord, err error) {
	return r.liveChats(app).ListAssignments(ctx, record.Query(q), r.unreadable.Warn)
}

// WaitingRequests returns the number of an app's live-chat requests that wait for an agent. If label is not "", it
// counts only requests with that label. It reads no other records. Errors come from the store.
func (r *Runtime) WaitingRequests(ctx context.Context, app, label string) (waiting int64, err error) {
	return r.liveChats(app).Waiting(ctx, label)
}

// LiveChatPosition returns the position of a request in the queue of the app's requests with the same label. It
// reads the same records as WaitingRequests. It returns NotFound if the app has no such assignment.
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
		InFlight:    recipients{p}.InFlight,
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
		Unreadable:  p.runtime.unreadable.Warn,
		IsStrict:    config.Strict,
	}
}

// The functions below use the SDK's own live chats, even if Config.Override replaces the operations on live chats:
// only the SDK's live chats have records in the Store.

// findGroup finds the live chat of the run's event and sets bot.Group, byAgent and isInLiveChat. The group is the one
// in which an agent wrote, or the group of the member's own live chat.
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
	// An agent may also be the member of another live chat. A message outside of the agent's group then belongs to that
	// live chat.
	if err != nil || group != nil && (!m.BotMeta.LiveChat() || group.ExternalID == event.To) {
		r.bot.Group, r.byAgent = group, group != nil
		return err
	}
	if !m.BotMeta.LiveChat() {
		return nil
	}
	isAsked, err := own.IsAskedHere(ctx, m.ID)
	if err != nil || !isAsked {
		return err
	}
	r.isInLiveChat.Store(true)
	group, err = own.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: r.bot.Channel.ID, MemberID: m.ID})
	if errors.Is(err, boterr.NotFound) {
		return nil // No agent has taken the request yet.
	}
	if err == nil && group.Active {
		r.bot.Group = group
	}
	return err
}

// passOn passes an event that no node answers to its live chat: a member's message to the agent, an agent's message
// to the member (also after the end of the live chat), or a tap on a ticket.
func (r *run) passOn(ctx context.Context) (livechats.Outcome, error) {
	event := *r.bot.MessageEvent
	if isTaken, err := r.takeByTap(ctx); isTaken || err != nil {
		return livechats.OutcomeAnswered, err
	}
	switch {
	case r.isInLiveChat.Load():
		return r.bot.ownLiveChats().RelayFromMember(ctx, r.bot.scope.Member, event)
	case r.byAgent || mayBeOutlet(r.bot.Channel):
		return r.bot.ownLiveChats().RelayFromAgent(ctx, r.bot.Channel.ID, event)
	default:
		return livechats.OutcomeNone, nil
	}
}

// mayBeOutlet reports whether agents may write in a channel. For other channels, no query for a live chat is needed.
func mayBeOutlet(c *channel.Channel) bool {
	return len(c.BroadcastGroups) > 0 || c.Type.Has(channel.OutletGroups) || c.Type.Has(channel.DirectRequests)
}

// takeByTap assigns a request to the agent if the event is a tap on a ticket, and reports whether it was. If
// Config.Override replaces live chats, a tap on an unknown ticket is left to them. An agent who taps too late gets a
// message. For an accepted event this is not an error, because another attempt could not succeed and no caller is
// waiting.
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
		r.runtime.logCode(ctx, slog.LevelInfo, "botctx: late tap", r.bot.scope, errors.Join(err, untold))
		return true, nil
	}
	return isTaken, err
}

// isTooLate reports whether err means that the request of a tapped ticket has ended or that another agent has it.
func isTooLate(err error) bool {
	if _, isLate := errors.AsType[*livechat.TooLateError](err); isLate {
		return true
	}
	e, ok := boterr.AsError(err)
	return ok && e.Code == boterr.NotFound && e.Field == "assignmentId"
}

// isOfLiveChat reports whether an agenda belongs to the SDK's live chats. It checks the tag and the node, because bot
// logic may use the same tags for agendas of other nodes.
func isOfLiveChat(a agenda.Agenda) bool {
	return strings.HasPrefix(a.Tag, agenda.LiveChatTagPrefix) && strings.HasPrefix(a.NodeCompositeID, agenda.LiveChatTagPrefix)
}

// LiveChatPosition returns the position of the member's live-chat request in the queue of requests with the same
// label. It is zero if the member has no request, and its Place is 0 if an agent has taken the request. It is not an
// operation, and always uses the SDK's own live chats.
func (c *Context) LiveChatPosition(ctx context.Context) (livechat.Position, error) {
	if c.scope.Member == "" {
		return livechat.Position{}, boterr.New(boterr.FailedPrecondition, "", "the context has no member: use the context of a run")
	}
	return c.ownLiveChats().PositionOfMember(ctx, c.scope.Member)
}
