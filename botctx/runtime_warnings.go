package botctx

import (
	"context"
	"errors"
	"log/slog"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
)

// warnOfNodes tells once what is likely to be a mistake in the nodes. It is called when something is
// run, and not by Handle, since a later Handle may bring what is missing.
func (r *Runtime) warnOfNodes(ctx context.Context) {
	handled := r.nodes.Load()
	if r.warned.Load() == handled || r.warned.Swap(handled) == handled {
		return
	}
	for _, warning := range handled.warnings(r.unseen()) {
		r.warn(ctx, place{node: warning.Node}, warning)
	}
}

// warn gives a warning to those who ask for it. That one of them panics is logged, and fails nothing.
func (r *Runtime) warn(ctx context.Context, where place, warning Warning) {
	defer func() { _ = r.orPanic(ctx, where, nil, recover()) }()
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

// agendasOfNodes are agendas that refuse a node which nobody handles. If other processes may handle it,
// they warn of it.
type agendasOfNodes struct {
	agenda.Operations

	bot *Context
}

// NewAgenda implements agenda.Operations.
func (a agendasOfNodes) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	if err := a.check(ctx, NodeRef{Tree: p.TreeID, CompositeID: p.NodeCompositeID}); err != nil {
		return nil, err
	}
	return a.Operations.NewAgenda(ctx, p)
}

// UpdateAgenda implements agenda.Operations.
func (a agendasOfNodes) UpdateAgenda(ctx context.Context, p agenda.UpdateAgendaParams) (agenda.UpdateAgendaResult, error) {
	if err := a.check(ctx, NodeRef{Tree: p.TreeID, CompositeID: p.NodeCompositeID}); err != nil {
		return agenda.UpdateAgendaResult{}, err
	}
	return a.Operations.UpdateAgenda(ctx, p)
}

// check refuses a node that an agenda would not find, or warns of it. A process without nodes knows none.
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
