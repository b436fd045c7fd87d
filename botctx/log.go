package botctx

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Warning is a likely mistake in the nodes of a bot. Bots with warnings work; the mistake may be intended.
type Warning struct {
	// Kind is the kind of mistake.
	Kind WarningKind `json:"kind"`
	// Node is the node that the warning is about.
	Node NodeRef `json:"node"`
	// Text states the problem and the remedy.
	Text string `json:"text"`
}

// String returns the text.
func (w Warning) String() string { return w.Text }

// WarningKind is the kind of a Warning.
type WarningKind string

// The kinds of warnings.
const (
	// WarningUnreached: nothing leads to the node.
	WarningUnreached WarningKind = "unreached"
	// WarningPosition: the node has children, but never saves the position.
	WarningPosition WarningKind = "position"
	// WarningMissing: the node redirects to or schedules a node that does not exist, or an agenda was created
	// for a node that does not exist.
	WarningMissing WarningKind = "missing"
)

// unseen describes ways to reach nodes that the edges of the graph do not include.
type unseen struct {
	// hasLogic is true if HandleFunc has set a function, which may redirect anywhere.
	hasLogic bool
	// hasHeads is true if Flow.HeadNodes is set, which may name any node as a head.
	hasHeads bool
}

func (r *Runtime) unseen() unseen {
	return unseen{hasLogic: r.logic.Load() != nil, hasHeads: r.config.Flow.HeadNodes != nil}
}

// warnings returns likely mistakes, in the order of the nodes.
func (n *nodes) warnings(by unseen) []Warning {
	var found []Warning
	reached := n.reached(by)
	for _, node := range n.list {
		found = append(found, n.missing(node)...)
		if reached != nil && !reached[node] {
			found = append(found, Warning{WarningUnreached, node.Ref(), fmt.Sprintf("nothing leads to the node %s: "+
				"it has no Trigger, no Redirect leads to it, and no Schedules name it; give it a Trigger, name it in Schedules of "+
				"the node whose action schedules it, or set Entry where RedirectMemberToNode or the host runs it", node.Ref())})
		}
		if mute := n.unasked(node, by); len(mute) > 0 {
			found = append(found, Warning{WarningPosition, node.Ref(), fmt.Sprintf("the node %s never saves the position, so that "+
				"its children are never asked: %s; set SavesPosition, or Entry where an action sets the position there",
				node.Ref(), display.List(len(mute), func(i int) string { return mute[i].ID }))})
		}
	}
	return found
}

// missing returns warnings for a node's targets in trees that have no nodes yet.
func (n *nodes) missing(node *Node) []Warning {
	var found []Warning
	for _, to := range node.targets() {
		if n.mayCome(to.NodeRef) {
			found = append(found, Warning{WarningMissing, node.Ref(), fmt.Sprintf("the node %s %s %s, but there is no node in that tree: "+
				"give its nodes to Handle, too", node.Ref(), to.does, to.NodeRef)})
		}
	}
	return found
}

// reached returns the nodes that have a trigger or are an Entry, and the nodes that they lead to, directly or
// indirectly. It returns nil if a function may redirect to any node.
func (n *nodes) reached(by unseen) map[*Node]bool {
	if by.hasLogic {
		return nil
	}
	reached := map[*Node]bool{}
	var open []*Node
	reach := func(node *Node) {
		if node != nil && !reached[node] {
			reached[node], open = true, append(open, node)
		}
	}
	for _, node := range n.list {
		if node.Trigger != nil || node.Entry {
			reach(node)
		}
	}
	for len(open) > 0 {
		node := open[0]
		if open = open[1:]; node.leadsAnywhere() {
			return nil
		}
		for _, to := range node.targets() {
			reach(n.byRef[n.resolved(to.NodeRef, node)])
		}
	}
	return reached
}

// unasked returns the children of a node whose triggers are never evaluated, because the node does not save the
// position and has no function that could set the position.
func (n *nodes) unasked(parent *Node, by unseen) []*Node {
	if parent.SavesPosition || parent.Entry || parent.hasFunctions() || by != (unseen{}) {
		return nil
	}
	var found []*Node
	for _, child := range n.children[parent.Ref()] {
		if child.Trigger != nil && child.Global == GlobalNowhere && !child.Entry {
			found = append(found, child)
		}
	}
	return found
}

// hasFunctions reports whether the node has actions or a redirect with a function.
func (n *Node) hasFunctions() bool {
	_, isFixed := n.Redirect.(always)
	return len(n.Pre)+len(n.Post) > 0 || n.Redirect != nil && !isFixed
}

// Logged returns an interceptor that logs each operation: at debug level if it succeeds, at error if it returns
// Internal, and at warn for other errors. The record contains the operation, the scope, the duration by the Runtime's
// clock, the code of the error and the name of the parameter at fault. It leaves out values of parameters, results
// and messages of errors, because these may contain texts of members. A nil logger logs nothing.
func Logged(logger *slog.Logger) Interceptor {
	logger = safelog.New(logger)
	return func(ctx context.Context, call *Call, next Next) (any, error) {
		begun := call.Context.Now()
		result, err := next(ctx)
		level := levelOf(err)
		if !logger.Enabled(ctx, level) {
			return result, err
		}
		attributes := append(make([]slog.Attr, 0, 7), slog.String("op", string(call.Op)))
		attributes = appendScope(attributes, call.Context.scope)
		attributes = append(attributes, slog.Duration("duration", call.Context.Now().Sub(begun)))
		logger.LogAttrs(ctx, level, "botctx: operation", appendCode(attributes, err, parameterOf(call.Params, err))...)
		return result, err
	}
}

// levelOf returns the level for logging an operation that returned err.
func levelOf(err error) slog.Level {
	switch boterr.CodeOf(err) {
	case "":
		return slog.LevelDebug
	case boterr.Internal:
		return slog.LevelError
	default:
		return slog.LevelWarn
	}
}

// appendScope appends the non-empty ids of a scope.
func appendScope(attributes []slog.Attr, scope record.Scope) []slog.Attr {
	for _, id := range [...]slog.Attr{
		slog.String("app", scope.App), slog.String("channel", scope.Channel), slog.String("member", scope.Member),
	} {
		if id.Value.String() != "" {
			attributes = append(attributes, id)
		}
	}
	return attributes
}

// appendCode appends the code of an error and a field, but not the message.
func appendCode(attributes []slog.Attr, err error, field string) []slog.Attr {
	if err == nil {
		return attributes
	}
	attributes = append(attributes, slog.String("code", string(boterr.CodeOf(err))))
	if field != "" {
		attributes = append(attributes, slog.String("field", field))
	}
	return attributes
}

// outermost returns the first name in the path of an error's field. Later names may contain texts of members.
func outermost(err error) string {
	e, ok := boterr.AsError(err)
	if !ok {
		return ""
	}
	if end := strings.IndexAny(e.Field, ".["); end >= 0 {
		return e.Field[:end]
	}
	return e.Field
}

// parameterOf returns the name of the parameter that an error's field belongs to, or "" if there is none.
func parameterOf(params any, err error) string {
	name := outermost(err)
	if name == "" || params == nil || !hasField(reflect.TypeOf(params), name) {
		return ""
	}
	return name
}

// hasField reports whether a struct or a pointer to a struct has a field with a JSON name.
func hasField(t reflect.Type, name string) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for _, field := range reflect.VisibleFields(t) {
		if known, _, _ := strings.Cut(field.Tag.Get("json"), ","); known == name {
			return true
		}
	}
	return false
}

// place describes for the log where something happened. Unknown fields are zero.
type place struct {
	scope record.Scope
	node  NodeRef
	op    Op
}

func (p place) attributes() []slog.Attr {
	attributes := appendScope(nil, p.scope)
	if p.node != (NodeRef{}) {
		attributes = append(attributes, slog.String("node", p.node.String()))
	}
	if p.op != "" {
		attributes = append(attributes, slog.String("op", string(p.op)))
	}
	return attributes
}

// recovered recovers from a panic, sets *err to its error and logs it. It also logs a panic that a service has
// recovered from, if *err wraps it. Defer recovered.
func (r *Runtime) recovered(ctx context.Context, where place, err *error) {
	if cause := recover(); cause != nil {
		*err = boterr.Recovered(cause)
	}
	panicked, ok := errors.AsType[*boterr.PanicError](*err)
	if !ok || !panicked.FirstSeen() || !r.config.Logger.Enabled(ctx, slog.LevelError) {
		return
	}
	r.config.Logger.LogAttrs(ctx, slog.LevelError, "botctx: panic", append(where.attributes(),
		slog.String("panic", display.Text(panicked.Cause)), slog.String("stack", string(panicked.Stack)))...)
}

// at returns the place of a node of the run.
func (r *run) at(node NodeRef) place { return place{scope: r.bot.scope, node: node} }

// logCode logs the code of an error in the run of a scope.
func (r *Runtime) logCode(ctx context.Context, level slog.Level, text string, scope record.Scope, err error) {
	if r.config.Logger.Enabled(ctx, level) {
		r.config.Logger.LogAttrs(ctx, level, text, appendCode(place{scope: scope}.attributes(), err, outermost(err))...)
	}
}

// logNotRemembered logs that a later attempt of a run may repeat messages, because they could not be recorded.
func (r *run) logNotRemembered(ctx context.Context, err error) {
	r.runtime.logCode(ctx, slog.LevelWarn, "botctx: sent messages not recorded; another attempt may repeat them", r.bot.scope, err)
}

// logNotReleased logs that other processes must wait until the lease of a lane expires.
func (r *Runtime) logNotReleased(ctx context.Context, lane *lease.Lease, err error) {
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: lease not released",
		slog.String("lane", lane.Lane()), slog.String("error", display.Text(err)))
}

// logRedirects logs that a run exceeded Config.MaxRedirects.
func (r *run) logRedirects(ctx context.Context, to *step) {
	logger := r.runtime.config.Logger
	if !logger.Enabled(ctx, slog.LevelWarn) {
		return
	}
	logger.LogAttrs(ctx, slog.LevelWarn, "botctx: too many redirects",
		append(r.at(to.node).attributes(), slog.String("path", to.path()))...)
}

func (r *Runtime) logChoice(ctx context.Context, choice Choice) {
	if !r.config.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	where := place{scope: record.Scope(choice.Scope), node: choice.Node}
	r.config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: choice", append(where.attributes(),
		slog.String("answer", string(choice.Answer)), slog.String("why", choice.String()))...)
}

// warnOfNodes reports the warnings of the nodes, once for each change of the nodes. Handle does not call it, because a
// later Handle may add a missing node.
func (r *Runtime) warnOfNodes(ctx context.Context) {
	handled := r.nodes.Load()
	if r.warned.Load() == handled || r.warned.Swap(handled) == handled {
		return
	}
	for _, warning := range handled.warnings(r.unseen()) {
		r.warn(ctx, place{node: warning.Node}, warning)
	}
}

// warn passes a warning to the logger and to Config.OnWarning. It logs a panic of OnWarning and continues.
func (r *Runtime) warn(ctx context.Context, where place, warning Warning) {
	var panicked error
	defer r.recovered(ctx, where, &panicked)
	if r.config.Logger.Enabled(ctx, slog.LevelWarn) {
		r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: warning",
			append(where.attributes(), slog.String("kind", string(warning.Kind)), slog.String("text", warning.Text))...)
	}
	if r.config.OnWarning != nil {
		r.config.OnWarning(ctx, warning)
	}
}

// agendas returns the operations on agendas that bot logic calls.
func (c *Context) agendas() agenda.Operations { return agendasOfNodes{c.services.agendas(), c} }

// agendasOfNodes wraps the operations on agendas. It refuses unknown nodes, or warns of them if Config.OtherNodes is
// set.
type agendasOfNodes struct {
	agenda.Operations

	bot *Context
}

func (a agendasOfNodes) NewAgenda(ctx context.Context, p agenda.NewParams) (*agenda.Agenda, error) {
	if err := a.check(ctx, NodeRef{Tree: p.TreeID, CompositeID: p.NodeCompositeID}); err != nil {
		return nil, err
	}
	return a.Operations.NewAgenda(ctx, p)
}

func (a agendasOfNodes) UpdateAgenda(ctx context.Context, p agenda.UpdateParams) (agenda.UpdateResult, error) {
	if err := a.check(ctx, NodeRef{Tree: p.TreeID, CompositeID: p.NodeCompositeID}); err != nil {
		return agenda.UpdateResult{}, err
	}
	return a.Operations.UpdateAgenda(ctx, p)
}

// check returns an error for a node that this process does not have, or only warns if Config.OtherNodes is set. A
// process without nodes accepts any node. If several trees have the node, the tree of the member or the agenda decides.
func (a agendasOfNodes) check(ctx context.Context, wanted NodeRef) error {
	runtime := a.bot.runtime
	handled := runtime.nodes.Load()
	if wanted.CompositeID == "" || len(handled.list) == 0 {
		return nil
	}
	_, err := handled.find(wanted.Tree, wanted.CompositeID, "")
	if !errors.Is(err, boterr.NotFound) {
		return nil
	}
	if !runtime.config.OtherNodes {
		return err
	}
	runtime.warn(ctx, place{scope: a.bot.scope, node: NodeOf(ctx)}, Warning{
		Kind: WarningMissing, Node: wanted, Text: "the agenda may fail: " + messageOf(err),
	})
	return nil
}
