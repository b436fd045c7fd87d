package botctx

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// RunError is the error of a part of a run. The errors of Receive, RedirectMemberToNode and failed agendas wrap it;
// use errors.AsType to get it.
type RunError struct {
	// Node is the node, or zero for the function of HandleFunc.
	Node NodeRef
	// Part is the part of the node, such as "trigger", "pre-action 1", "response 2", "post-action 1" or
	// "redirect". Numbers count from 1. For the function of HandleFunc it is "logic".
	Part string
	// Action is the name of the action's function, or "" for other parts.
	Action string
	// Err is the error that the part returned.
	Err error
}

const partLogic = "logic"

// Error returns the node, the part, the action and Err, with credentials redacted. If Err has a method Place, as the
// errors of scripts do, the action is left out, because the text of Err includes the place.
func (e *RunError) Error() string {
	if e == nil {
		return "internal: a nil *botctx.RunError was returned as an error: return nil itself"
	}
	var text strings.Builder
	switch {
	case e.Node != NodeRef{}:
		fmt.Fprintf(&text, "node %s: %s", e.Node, e.Part)
	case e.Part == partLogic:
		text.WriteString("HandleFunc")
	default:
		return display.Text(e.Err)
	}
	if e.Action != "" && !hasPlace(e.Err) {
		fmt.Fprintf(&text, " (%s)", e.Action)
	}
	text.WriteString(": " + display.Text(e.Err))
	return text.String()
}

// hasPlace reports whether an error has a place in the bot's source, such as a line of a script.
func hasPlace(err error) bool {
	_, ok := errors.AsType[interface {
		error
		Place() string
	}](err)
	return ok
}

// Unwrap returns Err.
func (e *RunError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// at wraps an error in a RunError unless it already wraps one: if an action redirected to another node, the error of
// that node names that node.
func at(err error, where RunError) error {
	if _, ok := errors.AsType[*RunError](err); ok {
		return err
	}
	where.Err = err
	return &where
}

// next is a node to run, with the options that select its parts.
type next struct {
	node    *Node
	options RedirectOptions
}

// perform runs a node and the nodes that it redirects to. The result has one element for each node.
func (s *step) perform(ctx context.Context, to next) ([]NodeSendResult, error) {
	var results []NodeSendResult
	for {
		entered, err := s.enter(ctx, to.node)
		if err != nil {
			return nil, err
		}
		sent, further, err := entered.run.node(store.WithRefuser(ctx, entered), to)
		if err != nil {
			return nil, err
		}
		results = append(results, sent)
		if further == nil {
			return results, nil
		}
		s, to = entered, *further
	}
}

// enter returns the step for a node, or ResourceExhausted after too many redirects.
func (s *step) enter(ctx context.Context, node *Node) (*step, error) {
	entered := &step{run: s.run, node: node.Ref(), caller: s, depth: s.depth + 1, isJoined: s.isJoined}
	if most := s.run.runtime.config.MaxRedirects + 1; entered.depth > most {
		s.run.logRedirects(ctx, entered)
		return nil, boterr.New(boterr.ResourceExhausted, "nodeCompositeId", "%w",
			endlessError(fmt.Sprintf("more than %d redirects; end the cycle or raise Config.MaxRedirects: %s", most-1, entered.path())))
	}
	if !entered.isJoined {
		s.run.current.Store(entered)
	}
	s.run.bot.Node = entered.node
	return entered, nil
}

// endlessError is the error for endless redirects.
type endlessError string

func (e endlessError) Error() string { return string(e) }

// path returns the nodes that led to this step, such as "a -> b -> member m2: c".
func (s *step) path() string {
	var names []string
	for at := s; at != nil; at = at.caller {
		if at.node == (NodeRef{}) {
			continue
		}
		name := at.node.String()
		if outer := at.run.outer; outer != nil && at.caller.caller == outer {
			name = "member " + at.run.bot.scope.Member + ": " + name
		}
		names = append(names, name)
	}
	slices.Reverse(names)
	return strings.Join(names, " -> ")
}

// node runs one node. It returns the messages sent and the next node, or nil if there is none.
func (r *run) node(ctx context.Context, to next) (sent NodeSendResult, further *next, err error) {
	if err := ctx.Err(); err != nil {
		return sent, nil, boterr.New(boterr.Canceled, "", "the run ended before node %s: %w", to.node.Ref(), context.Cause(ctx))
	}
	sent = NodeSendResult{OK: 1, Member: r.bot.scope.Member, Result: []send.Result{}}
	if isOn(to.options.RunPreAction) {
		if err := r.actions(ctx, "pre-action", to.node.Pre); err != nil {
			return sent, nil, err
		}
	}
	if isOn(to.options.SendResponse) {
		if sent.Result, err = r.responses(ctx, to.node.Responses); err != nil {
			return sent, nil, err
		}
	}
	if isOn(to.options.RunPostAction) {
		if err := r.actions(ctx, "post-action", to.node.Post); err != nil {
			return sent, nil, err
		}
	}
	if to.node.SavesPosition && r.bot.Member != nil {
		r.bot.Member.BotMeta.SetPosition(to.node.ID, to.node.Tree)
	}
	further, err = r.redirect(ctx, to.node)
	return sent, further, err
}

// actions runs actions one after the other, and stops at the first error.
func (r *run) actions(ctx context.Context, kind string, actions []Action) error {
	for i, action := range actions {
		if err := r.action(ctx, action); err != nil {
			return at(err, RunError{Node: r.bot.Node, Part: fmt.Sprintf("%s %d", kind, i+1), Action: functionName(action)})
		}
	}
	return nil
}

// action runs an action. A panic becomes an error.
func (r *run) action(ctx context.Context, action Action) (err error) {
	defer r.runtime.recovered(ctx, r.at(r.bot.Node), &err)
	return action(ctx, r.bot)
}

func (r *run) responses(ctx context.Context, responses []send.Response) ([]send.Result, error) {
	sent := make([]send.Result, 0, len(responses))
	for i, response := range responses {
		result, err := r.bot.reply(ctx, response)
		if err != nil {
			return nil, at(err, RunError{Node: r.bot.Node, Part: fmt.Sprintf("response %d", i+1)})
		}
		for _, one := range result {
			sent = append(sent, one.Full())
		}
	}
	return sent, nil
}

// redirect returns the next node after a node, or nil if the run ends.
func (r *run) redirect(ctx context.Context, from *Node) (further *next, err error) {
	if from.Redirect == nil {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = at(err, RunError{Node: from.Ref(), Part: "redirect"})
		}
	}()
	defer r.runtime.recovered(ctx, r.at(from.Ref()), &err)
	to, err := from.Redirect.Next(ctx, r.bot)
	if err != nil || to == nil {
		return nil, err
	}
	if err := to.Options.check(); err != nil {
		return nil, err
	}
	node, err := r.runtime.nodes.Load().redirected(from, to)
	if err != nil {
		return nil, err
	}
	if !to.Meta.IsZero() {
		r.bot.AgendaMeta = to.Meta
	}
	return &next{node: node, options: to.Options}, nil
}

// functionName returns the name of a function with its package, such as "coupon.Claim". It returns "" for nil.
func functionName(function any) string {
	code := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	if code == nil {
		return ""
	}
	return code.Name()[strings.LastIndexByte(code.Name(), '/')+1:]
}

// Fetch sends an HTTP request through the guarded client, which refuses private addresses; see package outbound. A
// response with an error status is not an error. Responses of more than 256 kB count towards
// outbound.Config.MaxBufferedBytes until the run ends.
func (c *Context) Fetch(ctx context.Context, request outbound.Request) (response *outbound.Response, err error) {
	defer func() { err = boterr.Wrap(string(opFetch), err) }()
	if err := c.run.Refusal(); err != nil {
		return nil, err
	}
	return outbound.Fetch(outbound.WithOwner(ctx, c.owner()), c.runtime.config.HTTP, request)
}

// opFetch is the name of Fetch in errors and in the log.
const opFetch = Op("fetch")

// owner returns the owner of the memory for responses of Fetch. It is the outermost run, because a run must not wait
// for memory that a waiting outer run holds. Outside of runs, each call has its own owner.
func (p *services) owner() *outbound.Owner {
	if p.run != nil {
		return p.run.outermost().owner()
	}
	owner := outbound.NewOwner(p.scope.App, p.scope.Channel)
	owner.Release()
	return owner
}

// outermost returns the outermost run that waits for this one, or the run itself.
func (r *run) outermost() *run {
	for r.outer != nil {
		r = r.outer.run
	}
	return r
}

// owner returns the owner of the run's responses. The first call creates it.
func (r *run) owner() *outbound.Owner {
	if owner := r.holds.Load(); owner != nil {
		return owner
	}
	r.holds.CompareAndSwap(nil, outbound.NewOwner(r.bot.scope.App, r.bot.scope.Channel))
	owner := r.holds.Load()
	if r.ended.Load() { // The run ended while its logic continued.
		owner.Release()
	}
	return owner
}

// end marks the run as ended, and releases the memory of its responses.
func (r *run) end() {
	r.ended.Store(true)
	if owner := r.holds.Load(); owner != nil {
		owner.Release()
	}
}

// ownedHTTP is the HTTP client for live chats. The run owns the memory for its responses.
type ownedHTTP struct{ of *services }

func (h ownedHTTP) Do(request *http.Request) (*http.Response, error) {
	return h.of.runtime.chatHTTP.Do(request.WithContext(outbound.WithOwner(request.Context(), h.of.owner())))
}
