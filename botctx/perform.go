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

// RunError has the place in a run at which an error arose. It is wrapped by the errors of Receive,
// RedirectMemberToNode and failed agendas; errors.AsType finds it.
type RunError struct {
	// Node is the node, or zero for the logic of HandleFunc.
	Node NodeRef
	// Part is the part of the node: "trigger", "pre-action 1", "response 2",
	// "post-action 1" or "redirect", counted from 1, or "logic".
	Part string
	// Action is the name of the action's function, or "" for other parts.
	Action string
	// Err is the error.
	Err error
}

const partLogic = "logic"

// Error names the node, part and action, or HandleFunc and its function. If Err has a Place method, as the
// error of a script does, that place replaces the name of the function. Credentials in the text of Err are
// redacted, see display.Redact.
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

// hasPlace reports whether an error has a place in a bot's source, such as the line of a script.
func hasPlace(err error) bool {
	_, ok := errors.AsType[interface {
		error
		Place() string
	}](err)
	return ok
}

// Unwrap returns Err, or nil for a nil pointer, which functions may return by mistake instead of no error.
func (e *RunError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// at adds a place to an error that has none. An error from a node to which an action redirected already names
// that node.
func at(err error, where RunError) error {
	if _, ok := errors.AsType[*RunError](err); ok {
		return err
	}
	where.Err = err
	return &where
}

// next is a node to run, with the parts of it to run.
type next struct {
	node    *Node
	options RedirectOptions
}

// perform runs a node and the nodes that it redirects to, and returns the messages of each.
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

// enter returns the step of the next node.
func (s *step) enter(ctx context.Context, node *Node) (*step, error) {
	entered := newStep(s.run, s)
	entered.node, entered.depth, entered.isJoined = node.Ref(), s.depth+1, s.isJoined
	if most := s.run.runtime.config.MaxRedirects + 1; entered.depth > most {
		s.run.logRedirects(ctx, entered)
		return nil, boterr.New(boterr.ResourceExhausted, "nodeCompositeId", "%w",
			endlessError(fmt.Sprintf("more than %d redirects, end them or raise Config.MaxRedirects: %s", most-1, entered.path())))
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

// path returns the path of nodes to this step, with the members of inner runs.
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

// node runs one node. It returns the messages sent and the next node, or nil if the run ends there.
func (r *run) node(ctx context.Context, to next) (sent NodeSendResult, further *next, err error) {
	if err := ctx.Err(); err != nil {
		return sent, nil, boterr.New(boterr.Canceled, "", "the run was ended before node %s: %w", to.node.Ref(), context.Cause(ctx))
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

// action runs an action. A panic in it becomes an error.
func (r *run) action(ctx context.Context, action Action) (err error) {
	defer r.recovered(ctx, r.bot.Node, &err)
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

// redirect returns the node at which the run continues, if any.
func (r *run) redirect(ctx context.Context, from *Node) (further *next, err error) {
	if from.Redirect == nil {
		return nil, nil
	}
	defer func() {
		if err != nil {
			err = at(err, RunError{Node: from.Ref(), Part: "redirect"})
		}
	}()
	defer r.recovered(ctx, from.Ref(), &err)
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

// functionName returns the name of a function without the path of its package, such as "coupon.Claim". It is
// "" for nil.
func functionName(function any) string {
	code := runtime.FuncForPC(reflect.ValueOf(function).Pointer())
	if code == nil {
		return ""
	}
	return code.Name()[strings.LastIndexByte(code.Name(), '/')+1:]
}

// Fetch sends an HTTP request through the guarded client, which refuses private addresses (see package
// outbound). No status of a response is an error. After a response of more than 256 kB the run holds memory
// for one until it ends, see outbound.Config.MaxBufferedBytes.
func (c *Context) Fetch(ctx context.Context, request outbound.Request) (response *outbound.Response, err error) {
	defer func() { err = boterr.Wrap(string(opFetch), err) }()
	if err := c.run.Refusal(); err != nil {
		return nil, err
	}
	return outbound.Fetch(outbound.WithOwner(ctx, c.owner()), c.runtime.config.HTTP, request)
}

// opFetch is the name of Fetch in errors and lines of the log.
const opFetch = Op("fetch")

// owner returns the owner of Fetch's responses: the run, or the outermost one if runs are nested, so that no
// run waits for memory held by an outer run. Outside runs, each call owns its response.
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

// owner returns the owner of the run's responses. It is created on demand, because most runs fetch nothing.
func (r *run) owner() *outbound.Owner {
	if owner := r.holds.Load(); owner != nil {
		return owner
	}
	r.holds.CompareAndSwap(nil, outbound.NewOwner(r.bot.scope.App, r.bot.scope.Channel))
	owner := r.holds.Load()
	if r.ended.Load() { // The run has ended without waiting for this logic.
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

// ownedHTTP is the host's HTTP client for live chats. The run owns its responses.
type ownedHTTP struct{ of *services }

func (h ownedHTTP) Do(request *http.Request) (*http.Response, error) {
	return h.of.runtime.chatHTTP.Do(request.WithContext(outbound.WithOwner(request.Context(), h.of.owner())))
}
