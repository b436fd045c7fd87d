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

// Warning is a likely mistake, which may be intended.
type Warning struct {
	// Kind is its subject.
	Kind WarningKind `json:"kind"`
	// Node is the node that the warning is about.
	Node NodeRef `json:"node"`
	// Text states the problem and the remedy.
	Text string `json:"text"`
}

// String returns the text.
func (w Warning) String() string { return w.Text }

// WarningKind is the subject of a Warning.
type WarningKind string

// The kinds of warnings.
const (
	// WarningUnreached: no node leads to the node.
	WarningUnreached WarningKind = "unreached"
	// WarningPosition: the node has children, but never saves the position.
	WarningPosition WarningKind = "position"
	// WarningMissing: the node leads to one that does not exist, or an agenda was created for a node that
	// does not exist.
	WarningMissing WarningKind = "missing"
)

// unseen describes the ways to reach nodes that the graph does not show.
type unseen struct {
	// hasLogic is true if there is a HandleFunc, which may redirect anywhere.
	hasLogic bool
	// hasHeads is true if Flow.HeadNodes is set, which may name any node as a head.
	hasHeads bool
}

// unseen describes the ways to reach the Runtime's nodes that the graph does not show.
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

// missing returns warnings for targets of a node in trees that have no nodes yet.
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

// reached returns the nodes that have a trigger or an entry, and the nodes reachable from these. It is nil if
// that is unknown.
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

// unasked returns the children of a node whose triggers are never evaluated, because the node does not save
// the position and has no function that could set it.
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

// hasFunctions reports whether a function is called when the node runs.
func (n *Node) hasFunctions() bool {
	_, isFixed := n.Redirect.(always)
	return len(n.Pre)+len(n.Post) > 0 || n.Redirect != nil && !isFixed
}

// Logged returns an interceptor that writes a line for each operation: at debug if it succeeds, at error if
// its code is Internal, and at warn if it fails otherwise. The line has the operation, the scope, the
// duration by the Runtime's clock, the code of an error and the parameter at fault. It has no values, inner
// fields of parameters, results or error texts, because these may contain texts of members. A nil logger
// writes nothing.
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

// levelOf returns the level of the line about an operation.
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

// appendCode appends the code of an error, without its sentence, and a field.
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

// outermost returns the first name in the path of an error's field. Names after it may have been chosen by
// members.
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

// parameterOf returns the name of the parameter that an error's field belongs to, or "" if it belongs to none.
func parameterOf(params any, err error) string {
	name := outermost(err)
	if name == "" || params == nil || !hasField(reflect.TypeOf(params), name) {
		return ""
	}
	return name
}

// hasField reports whether a struct, or a pointer to one, has a field with a JSON name.
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

// place is the place of an event in a log line, as far as known.
type place struct {
	scope record.Scope
	node  NodeRef
	op    Op
}

// attributes returns the attributes of a place for a log line.
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

// recovered sets err to the error of a panic. It logs a panic behind err, even if a service has already recovered
// from it. It is deferred, as are the methods below.
func (r *Runtime) recovered(ctx context.Context, where place, err *error) {
	if cause := recover(); cause != nil {
		*err = boterr.Recovered(cause)
	}
	r.logPanic(ctx, where, *err)
}

// logPanic logs a panic that became an error, once.
func (r *Runtime) logPanic(ctx context.Context, where place, err error) {
	panicked, ok := errors.AsType[*boterr.PanicError](err)
	if !ok || !panicked.FirstSeen() || !r.config.Logger.Enabled(ctx, slog.LevelError) {
		return
	}
	r.config.Logger.LogAttrs(ctx, slog.LevelError, "botctx: panic", append(where.attributes(),
		slog.String("panic", display.Text(panicked.Cause)), slog.String("stack", string(panicked.Stack)))...)
}

// recovered is Runtime.recovered for an operation.
func (c *Context) recovered(ctx context.Context, op Op, err *error) {
	if cause := recover(); cause != nil {
		*err = boterr.Recovered(cause)
	}
	if *err != nil {
		c.runtime.logPanic(ctx, place{scope: c.scope, op: op}, *err)
	}
}

// recovered is Runtime.recovered for a part of a node.
func (r *run) recovered(ctx context.Context, node NodeRef, err *error) {
	if cause := recover(); cause != nil {
		*err = boterr.Recovered(cause)
	}
	if *err != nil {
		r.runtime.logPanic(ctx, place{scope: r.bot.scope, node: node}, *err)
	}
}

// logLostChanges logs that a run's changes to its member are not stored.
func (r *Runtime) logLostChanges(ctx context.Context, scope record.Scope, err error) {
	if err == nil || !r.config.Logger.Enabled(ctx, slog.LevelWarn) {
		return
	}
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: member not written back",
		appendCode(place{scope: scope}.attributes(), err, outermost(err))...)
}

// logNotRemembered logs that a retried run will repeat messages that it has already sent.
func (r *Runtime) logNotRemembered(ctx context.Context, in *run, err error) {
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: not remembered what was sent",
		appendCode(place{scope: in.bot.scope}.attributes(), err, outermost(err))...)
}

// logNotReleased logs that other processes cannot run a member until a lease has expired.
func (r *Runtime) logNotReleased(ctx context.Context, lane *lease.Lease, err error) {
	r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: lease not released",
		slog.String("lane", lane.Lane()), slog.String("error", display.Text(err)))
}

// logRedirects logs that a step exceeds the limit of redirects.
func (r *run) logRedirects(ctx context.Context, to *step) {
	logger := r.runtime.config.Logger
	if !logger.Enabled(ctx, slog.LevelWarn) {
		return
	}
	where := place{scope: r.bot.scope, node: to.node}
	logger.LogAttrs(ctx, slog.LevelWarn, "botctx: too many redirects", append(where.attributes(), slog.String("path", to.path()))...)
}

// logLateTap logs that an agent has tapped on a ticket too late.
func (r *run) logLateTap(ctx context.Context, err error) {
	logger := r.runtime.config.Logger
	if !logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	logger.LogAttrs(ctx, slog.LevelInfo, "botctx: tapped too late", appendCode(place{scope: r.bot.scope}.attributes(), err, outermost(err))...)
}

// logChoice logs a chosen answer to an event and the reasons.
func (r *Runtime) logChoice(ctx context.Context, choice Choice) {
	if !r.config.Logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	where := place{scope: choice.Scope, node: choice.Node}
	r.config.Logger.LogAttrs(ctx, slog.LevelDebug, "botctx: choice", append(where.attributes(),
		slog.String("answer", string(choice.Answer)), slog.String("why", choice.String()))...)
}

// warnOfNodes reports likely mistakes in the nodes, once. It is called when something runs, and not by
// Handle, because a later Handle may add a missing node.
func (r *Runtime) warnOfNodes(ctx context.Context) {
	handled := r.nodes.Load()
	if r.warned.Load() == handled || r.warned.Swap(handled) == handled {
		return
	}
	for _, warning := range handled.warnings(r.unseen()) {
		r.warn(ctx, place{node: warning.Node}, warning)
	}
}

// warn passes a warning to the logger and to Config.OnWarning. A panic of these is logged and has no other
// effect.
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

// agendas returns the agendas in force, as bot logic calls them.
func (c *Context) agendas() agenda.Operations { return agendasOfNodes{c.services.agendas(), c} }

// agendasOfNodes wraps the operations on agendas to refuse unhandled nodes, or to warn if other processes may
// handle them.
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

// check returns an error, or a warning, for a node that an agenda would not find. A process without nodes
// accepts any.
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
	runtime.warn(ctx, place{scope: a.bot.scope, node: a.bot.Node}, Warning{
		Kind: WarningMissing, Node: wanted, Text: "the agenda may fail: " + messageOf(err),
	})
	return nil
}
