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

// Context is the argument of bot logic: it has the channel and the member of the run, and every operation as
// a method.
//
// Its fields belong to the run, like the fields of an http.Request: only one goroutine may change them. Its
// operations are safe for concurrent use. They work for the app, channel and member that the context was made
// for, whatever its fields hold later.
type Context struct {
	// Channel is the channel of the conversation.
	Channel *channel.Channel
	// Member is the member, the end user, of the conversation. In a run it may be changed,
	// see Action.
	Member *member.Member
	// Node is the node that runs, or zero outside of nodes.
	Node NodeRef
	// AgendaMeta is the meta of the agenda or redirect that caused this run, empty for other runs.
	AgendaMeta document.Object
	// Agenda is the agenda that caused this run, with its scheduled time, the number of the attempt, and the
	// key that identifies a repetition. It is nil for other runs.
	Agenda *agenda.Run
	// MessageEvent is the message that caused this run, or nil for other runs.
	MessageEvent *send.MessageEvent
	// Group is the live-chat group of the message: the group in which an agent wrote it, or the group of the
	// member's own live chat once an agent has taken it. It is nil outside of live chats. For the platform's
	// group in which a member wrote, see Scope().GroupExternalID.
	Group *livechat.Group
	// Values holds values that one piece of logic leaves for the next in the run. It is never nil.
	Values map[string]any

	services // These include its Runtime, run and scope.

	channelType channel.Type
}

// Scope returns the app, channel and member that the context works for.
func (c *Context) Scope() record.Scope { return c.scope }

// ChannelType returns the type of the channel that the context was made for, whatever Channel holds later. It
// is "" for a context of Runtime.Operations, which loads no channel.
func (c *Context) ChannelType() channel.Type { return c.channelType }

// Now returns the time by the Runtime's clock, which tests can move. A panic of Config.Now is not recovered
// here: within a run it becomes the error of the action.
func (c *Context) Now() time.Time { return c.runtime.env.Now() }

// Reply sends responses to the context's member, one after the other, as SendResponse does. It stops at the
// first that fails. {{path}} in a template is filled from Member as it is in the run, stored or not. On
// platforms with threads, a message in a thread is answered in that thread.
//
// If an agenda caused the run, directly or through redirects, nothing is sent to a member whose
// botMeta.subscribe is false.
func (c *Context) Reply(ctx context.Context, responses ...send.Response) error {
	for _, response := range responses {
		if _, err := c.reply(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

// reply sends one response and returns the results, or none if there was nothing to send.
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
		if _, wrong := send.Filled(response, c.Member); wrong != nil { // Its error also names placeholders without a value.
			err = boterr.Wrap(string(OpSendResponse), boterr.PrefixField("response", wrong))
		}
	}
	return sent.Results, err
}

//go:generate go run ../internal/generate

// Operations is the set of all operations, of all domains together. *Context implements it; FromCaller
// returns an implementation over JSON calls.
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

// A context has every operation. make generate writes a method that is missing.
var _ Operations = (*Context)(nil)

// Op is the name of an operation in the specification, such as OpGetMember. There is a constant for every
// operation, including the ones that return Unsupported.
type Op string

// tellUnfilled reports a response's placeholders without a value in the member to the host, if it wants them.
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

// Pause waits for d by the Runtime's clock, or until ctx ends, for example between two messages. In the fakes
// it takes almost no time. The run keeps the member's turn meanwhile: use an agenda for waits of minutes,
// since Config.MaxRun ends longer runs.
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
// which the compiler checks. For texts made at run time, use []send.Response{send.Text(text)}, or
// send.Text(text).WithPlaceholders() if it has placeholders.
func Say(texts ...send.Constant) []send.Response {
	responses := make([]send.Response, len(texts))
	for i, text := range texts {
		responses[i] = send.Template(text)
	}
	return responses
}

// GoTo returns a redirect to a node of the same tree, for the function of ToOneOf:
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
// For a node that always continues at the same node, use To.
func GoTo(nodeCompositeID string) (*Redirect, error) {
	return &Redirect{NodeCompositeID: nodeCompositeID}, nil
}

// Nodes refers to nodes of the same tree, for Node.Schedules:
//
//	&botctx.Node{ID: "coupon", Pre: botctx.Do(claim), Schedules: botctx.Nodes("reminder")}
func Nodes(nodeCompositeIDs ...string) []NodeRef {
	refs := make([]NodeRef, len(nodeCompositeIDs))
	for i, id := range nodeCompositeIDs {
		refs[i].CompositeID = id
	}
	return refs
}
