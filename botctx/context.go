package botctx

import (
	"context"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Context is the argument of bot logic: it has the place and the member of the run, and every operation as a
// method.
//
// Its fields belong to the run, like the fields of an http.Request: one goroutine changes them. Its
// operations are safe for concurrent use. They work for the app, channel and member that the context was made
// for, whatever the fields hold later.
type Context struct {
	// Channel is the channel of the conversation.
	Channel *channel.Channel
	// Member is the member, the end user, of the conversation. In a run it may be changed,
	// see Action.
	Member *member.Member
	// Node is the node that runs, zero outside of nodes.
	Node NodeRef
	// AgendaMeta is the meta of the agenda or redirect that caused this run, empty if
	// there is none.
	AgendaMeta document.Object
	// Agenda is the agenda that caused this run, with its scheduled time, the number of the attempt, and the
	// key that identifies a repetition. It is nil if none did.
	Agenda *agenda.Run
	// MessageEvent is the message that caused this run, nil if none did.
	MessageEvent *send.MessageEvent
	// Group is the live-chat group of the message: the group in which an agent wrote it, or the group of the
	// member's own live chat once an agent has taken it. It is nil outside of live chats. The platform's
	// group in which a member wrote is Scope().GroupExternalID.
	Group *livechat.Group
	// Values is a bag for the run: what one piece of logic leaves for the next. It is
	// never nil.
	Values map[string]any

	services // Its Runtime, run and scope among them.

	channelType channel.Type
}

// Scope returns the app, channel and member that the context works for.
func (c *Context) Scope() record.Scope { return c.scope }

// ChannelType returns the type of the channel that the context was made for, whatever
// Channel holds later. It is "" for a context of Runtime.Operations, which loads no channel.
func (c *Context) ChannelType() channel.Type { return c.channelType }

// Now returns the time by the Runtime's clock, which tests move. A panic of Config.Now is not recovered here:
// within a run it is the error of the action.
func (c *Context) Now() time.Time { return c.runtime.env.Now() }

// Reply sends responses to the context's member, one after the other, by
// SendResponse. It stops at the first that fails. {{path}} of a template is filled from Member as it
// is in the run, whether that is stored or not. What was written in a thread is answered in it, on platforms that have
// threads.
//
// In a run that an agenda caused, or one that such a run redirected to, a member whose
// botMeta.subscribe is false is sent nothing.
func (c *Context) Reply(ctx context.Context, responses ...send.Response) error {
	for _, response := range responses {
		if _, err := c.reply(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

// reply sends one response, and returns the results: none if nothing had to be sent.
func (c *Context) reply(ctx context.Context, response send.Response) ([]send.Result, error) {
	filled := response
	if c.Member != nil {
		if c.run != nil && c.run.agenda != nil && !c.Member.BotMeta.Subscribe() {
			return nil, nil
		}
		c.tellUnfilled(ctx, response)
		var err error
		if filled, err = send.Fill(response, c.Member); err != nil {
			return nil, boterr.Wrap(string(OpSendResponse), boterr.PrefixField("response", err))
		}
	}
	sent, err := c.SendResponse(ctx, send.SendResponseParams{Response: filled})
	if c.Member != nil && boterr.CodeOf(err) == boterr.InvalidArgument {
		if _, wrong := send.Filled(response, c.Member); wrong != nil { // It knows the placeholders.
			err = boterr.Wrap(string(OpSendResponse), boterr.PrefixField("response", wrong))
		}
	}
	return sent.Results, err
}

//go:generate go run ../internal/generate

// Operations is every operation that there is, of all domains together. *Context
// implements it; FromCaller makes one of a door that takes JSON.
type Operations interface {
	channel.Operations
	member.Operations
	datasource.Operations
	agenda.Operations
	NodeOperations
	livechat.Operations
	send.Operations
	utility.Operations
}

// A context has every operation. A method that is missing here is written by make generate.
var _ Operations = (*Context)(nil)

// Op is the name of an operation in the specification, such as OpGetMember. The
// constants name all of them, those that answer Unsupported included.
type Op string

// tellUnfilled reports the placeholders of a response that the member has no value for, if the host wants
// that.
func (c *Context) tellUnfilled(ctx context.Context, response send.Response) {
	config := &c.runtime.config
	isLogged := config.Logger.Enabled(ctx, slog.LevelDebug)
	if config.OnUnfilled == nil && !isLogged {
		return
	}
	where := place{scope: c.scope, node: c.Node}
	for _, path := range send.Unfilled(response, c.Member) {
		if isLogged {
			config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: filled with nothing", append(where.attributes(), slog.String("path", path))...)
		}
		if config.OnUnfilled != nil {
			config.OnUnfilled(ctx, c.scope, path)
		}
	}
}

// Pause waits for a while by the Runtime's clock, or until ctx ends: between two messages, for example.
// In the fakes it takes next to no time. The member's turn stays the run's meanwhile: for what is to
// come in minutes, an agenda is better, and Config.MaxRun ends longer runs.
func (c *Context) Pause(ctx context.Context, d time.Duration) { c.runtime.config.Pause(ctx, d) }

// pause waits by the machine's clock.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Do returns the actions of a node, in order:
//
//	&botctx.Node{ID: "booked", Pre: botctx.Do(book, forget)}
func Do(actions ...Action) []Action { return actions }

// Say returns the responses of a node, each one a text:
//
//	&botctx.Node{ID: "greeting", Responses: botctx.Say("Hello {{firstName}}!", "What would you like?")}
//
// The texts are templates, as in send.Template: {{path}} is filled from the member. They must be constants,
// which the compiler checks. A text made at run time is []send.Response{send.Text(text)}, or
// send.Text(text).WithPlaceholders() if it has placeholders.
func Say(texts ...send.Constant) []send.Response {
	responses := make([]send.Response, len(texts))
	for i, text := range texts {
		responses[i] = send.Template(text)
	}
	return responses
}

// GoTo is for the function of ToOneOf, to continue at a node of the same tree:
//
//	func route(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
//		if bot.Member.Email == "" {
//			return botctx.GoTo("email?")
//		}
//		return botctx.GoTo("order")
//	}
//
//	&botctx.Node{ID: "buy", Redirect: botctx.ToOneOf(route, "email?", "order")}
//
// A node that always continues at the same one has the Redirector To.
func GoTo(nodeCompositeID string) (*Redirect, error) {
	return &Redirect{NodeCompositeID: nodeCompositeID}, nil
}

// Nodes names nodes of the same tree, for Node.Schedules:
//
//	&botctx.Node{ID: "coupon", Pre: botctx.Do(claim), Schedules: botctx.Nodes("reminder")}
func Nodes(nodeCompositeIDs ...string) []NodeRef {
	refs := make([]NodeRef, len(nodeCompositeIDs))
	for i, id := range nodeCompositeIDs {
		refs[i].CompositeID = id
	}
	return refs
}
