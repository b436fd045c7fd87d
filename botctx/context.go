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
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Scope is the app, channel and member that a Context works for.
type Scope struct {
	// App, Channel and Member are the ids of the app, the channel and the member. Channel and Member may be empty for
	// operations that do not need them.
	App     string
	Channel string
	Member  string
	// GroupExternalID is the platform's id of the group in which the member talks to the bot, or "" in a private
	// chat.
	GroupExternalID string
}

// Context is the argument of bot logic: it holds the channel and the member of the run, and has every operation as a
// method. Each run has one. Outside of runs, Runtime.Context and Runtime.Operations return one, and in tests Actor.Context
// of package fakes. The methods of a zero Context panic.
//
// The operations are safe for concurrent use. They work for the app, channel and member that the context was created
// for, even if the fields change. The fields are not: do not change them while another goroutine uses them, sends a
// template or, in the run of an agenda, sends any message.
type Context struct {
	// Channel is the channel of the conversation.
	Channel *channel.Channel
	// Member is the member, the end user, of the conversation, as it was when the run began. Operations do not change
	// it: after EndLiveChat, for example, BotMeta.LiveChat stays true until the action replaces it by a record that an
	// operation returned. Actions may change it, but only some fields are stored; see Action.
	Member *member.Member
	// Node is the current node. It is zero while no node runs.
	Node NodeRef
	// AgendaMeta is the meta of the agenda or redirect that started this run. It is empty in other runs.
	AgendaMeta document.Object
	// Agenda is the agenda that started this run, with its scheduled time, the number of the attempt, and a
	// key that is the same for all attempts. It is nil in other runs.
	Agenda *agenda.Run
	// MessageEvent is the message that started this run. It is nil in other runs.
	MessageEvent *send.MessageEvent
	// Group is the live-chat group of the message: the group in which an agent wrote the message, or the
	// group of the member's live chat after an agent took the request. It is nil outside of live chats. If a
	// member wrote in a group of the platform, the id of that group is Scope().GroupExternalID.
	Group *livechat.Group
	// Values passes values from an action to later actions of the same run. It is never nil.
	Values map[string]any

	services // These include the Runtime, the run and the scope.

	channelType channel.Type
}

// Scope returns the app, channel and member that the context works for.
func (c *Context) Scope() Scope { return Scope(c.scope) }

// ChannelType returns the type of the channel that the context was created for, even if the field Channel
// changes. It is "" for a context from Runtime.Operations, which loads no channel.
func (c *Context) ChannelType() channel.Type { return c.channelType }

// Now returns the time by the Runtime's clock, which tests can move. It does not recover a panic of
// Config.Now; in a run, such a panic becomes the error of the action.
func (c *Context) Now() time.Time { return c.runtime.env.Now() }

// Reply sends responses to the context's member, one after the other, with SendResponse. It stops at the
// first error. {{path}} in a template is replaced by the value in Member, including changes that are not
// stored yet. The answer to a message in a thread goes to that thread.
//
// If an agenda started the run, directly or through redirects, and the member's botMeta.subscribe is false,
// Reply sends nothing and returns nil, as SendResponse does.
func (c *Context) Reply(ctx context.Context, responses ...send.Response) error {
	for _, response := range responses {
		if _, err := c.reply(ctx, response); err != nil {
			return err
		}
	}
	return nil
}

// reply sends one response and returns the results.
func (c *Context) reply(ctx context.Context, response send.Response) ([]send.Result, error) {
	filled := response
	if c.Member != nil {
		c.tellUnfilled(ctx, response)
		var err error
		if filled, err = send.Fill(response, c.Member); err != nil {
			return nil, boterr.Wrap(string(OpSendResponse), boterr.PrefixField("response", err))
		}
	}
	sent, err := c.SendResponse(ctx, send.SendResponseParams{Response: filled})
	if c.Member != nil && boterr.CodeOf(err) == boterr.InvalidArgument {
		if _, wrong := send.Filled(response, c.Member); wrong != nil { // This error also names placeholders without a value.
			err = boterr.Wrap(string(OpSendResponse), boterr.PrefixField("response", wrong))
		}
	}
	return sent.Results, err
}

//go:generate go run ../internal/generate

// Operations is the set of all operations of all domains. *Context implements it. FromCaller returns an
// implementation that makes JSON calls.
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

// If a method is missing, run make generate.
var _ Operations = (*Context)(nil)

// Op is the name of an operation in the specification, such as OpGetMember. There is a constant for every
// operation, including the ones that return Unsupported.
type Op string

// tellUnfilled reports the placeholders of a response without a value in the member to OnUnfilled and to the
// log at debug level.
func (c *Context) tellUnfilled(ctx context.Context, response send.Response) {
	config := &c.runtime.config
	isLogged := config.Logger.Enabled(ctx, slog.LevelDebug)
	if config.OnUnfilled == nil && !isLogged {
		return
	}
	where := place{scope: c.scope, node: NodeOf(c.within(ctx))} // Another goroutine may change c.Node by a redirect.
	for _, path := range send.Unfilled(response, c.Member) {
		if isLogged {
			config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: filled with nothing", append(where.attributes(), slog.String("path", path))...)
		}
		if config.OnUnfilled != nil {
			config.OnUnfilled(ctx, Scope(c.scope), path)
		}
	}
}

// Pause waits for d by the Runtime's clock, or until ctx ends, for example between two messages. In the fakes
// it takes almost no time. Other runs of the member wait meanwhile, and Config.MaxRun limits the whole run:
// for waits of minutes, use an agenda.
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

// Do returns its arguments as a list, for Node.Pre and Node.Post:
//
//	&botctx.Node{ID: "booked", Pre: botctx.Do(book, forget)}
func Do(actions ...Action) []Action { return actions }

// Say returns texts as responses, for Node.Responses:
//
//	&botctx.Node{ID: "greeting", Responses: botctx.Say("Hello {{firstName}}!", "What would you like?")}
//
// The texts are templates, as in send.Template: {{path}} is replaced by the member's value. They must be
// constants, which the compiler checks. For a text made at run time, use []send.Response{send.Text(text)}, or
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
// For a node that always redirects to the same node, use To.
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
