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
func (c *Context) agendas() agenda.Operations { return agendasOfNodes{c.parts.agendas(), c} }

// agendasOfNodes are agendas that are made all the same where their node is not there, with a
// warning: another process may handle it.
type agendasOfNodes struct {
	agenda.Operations

	bot *Context
}

// NewAgenda implements agenda.Operations.
func (a agendasOfNodes) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	made, err := a.Operations.NewAgenda(ctx, p)
	if err == nil && made != nil {
		a.warnOf(ctx, *made)
	}
	return made, err
}

// UpdateAgenda implements agenda.Operations.
func (a agendasOfNodes) UpdateAgenda(ctx context.Context, p agenda.UpdateAgendaParams) (agenda.UpdateAgendaResult, error) {
	updated, err := a.Operations.UpdateAgenda(ctx, p)
	if err == nil && p.NodeCompositeID != "" && len(updated.Docs) > 0 {
		a.warnOf(ctx, *updated.Docs[0])
	}
	return updated, err
}

// warnOf warns of an agenda whose node is not there.
func (a agendasOfNodes) warnOf(ctx context.Context, made agenda.Agenda) {
	handled := a.bot.runtime.nodes.Load()
	if len(handled.list) == 0 {
		return
	}
	_, err := handled.find(made.Tree, made.NodeCompositeID, "")
	if !errors.Is(err, boterr.NotFound) {
		return
	}
	missing := NodeRef{CompositeID: made.NodeCompositeID, Tree: made.Tree}
	a.bot.runtime.warn(ctx, place{scope: a.bot.scope, node: a.bot.Node}, Warning{
		Kind: WarningMissing, Node: missing, Text: "the agenda will fail: " + messageOf(err),
	})
}
