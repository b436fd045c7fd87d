package script

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Action returns the script as an action of a node.
func (p *Program) Action() botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := p.run(ctx, bot, wantNothing)
		return err
	}
}

// Trigger returns the script as a trigger of a node, which matches if it returns what counts as true in JavaScript.
func (p *Program) Trigger() botctx.Trigger { return trigger{p} }

// trigger is a script that says whether a node answers.
type trigger struct{ program *Program }

// Matches runs the script.
func (t trigger) Matches(ctx context.Context, bot *botctx.Context) (bool, error) {
	value, err := t.program.run(ctx, bot, wantTruth)
	isTrue, _ := value.(bool)
	return isTrue, err
}

// String returns the name of the script.
func (t trigger) String() string { return t.program.name }

var _ botctx.Trigger = trigger{}

// Redirect returns the script as the redirect of a node. It returns where the run goes on: the id of
// a node, or an object with nodeCompositeId, treeId, redirectOptions and meta, as redirectMemberToNode
// takes them; nothing, null or false if the run ends. Anything else is an *Error with
// InvalidArgument behind it.
func (p *Program) Redirect() botctx.RedirectFunc {
	return func(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		value, err := p.Run(ctx, bot)
		if err != nil {
			return nil, err
		}
		redirect, err := redirectOf(value)
		if err != nil {
			return nil, &Error{File: p.name, Err: err}
		}
		return redirect, nil
	}
}

// redirectOf reads what the script of a redirect returned.
func redirectOf(value any) (*botctx.Redirect, error) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil, nil //nolint:nilnil // The run ends.
		}
		return &botctx.Redirect{NodeCompositeID: v}, nil
	case document.Object:
		var params botctx.RedirectMemberToNodeParams
		if err := document.Decode(v, &params); err != nil {
			return nil, boterr.PrefixField("result", err)
		}
		if params.NodeCompositeID == "" {
			return nil, boterr.Missing("result.nodeCompositeId", "the id of a node")
		}
		return &botctx.Redirect{
			NodeCompositeID: params.NodeCompositeID, TreeID: params.TreeID, Options: params.RedirectOptions, Meta: params.Meta,
		}, nil
	}
	if isTrue, isBool := value.(bool); value != nil && (isTrue || !isBool) {
		return nil, boterr.Invalid("result", "must be the id of a node, an object with nodeCompositeId, or nothing")
	}
	return nil, nil //nolint:nilnil // The run ends.
}
