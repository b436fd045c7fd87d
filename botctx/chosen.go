package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/document"
)

// What answers an event that Accept kept is remembered with it, so that the run which is tried again goes
// where the one before went: what that one has changed, such as a live chat that it began, might lead
// elsewhere, and what it had not sent yet would never be sent. It costs no write of its own: it is stored
// with the first thing that the run has sent, or before the run begins or ends a live chat.

// RuleChosenBefore makes a candidate of a node that an attempt before at the same event had begun to run.
const RuleChosenBefore Rule = "chosen by an attempt before"

// memoryOfChoice is the key under which the nodes are remembered that answered, in their order.
const memoryOfChoice = "answered by"

// The fields of what is remembered. fieldNone tells that no node was left that answers.
const (
	fieldNodes = "nodes"
	fieldNone  = "none"
	fieldID    = "id"
	fieldTree  = "tree"
)

// hasOwnEvent reports whether an event of the inbox caused the run itself, not one that redirected to it.
func (r *run) hasOwnEvent() bool { return r.delivery != nil && r.outer == nil && r.agenda == nil }

// asBefore returns who may answer with what an attempt before has chosen: its nodes come first, and no
// other one where it had gone on to what answers when no node does.
func (r *run) asBefore(among *nodes, candidates []candidate) []candidate {
	if !r.hasOwnEvent() {
		return candidates
	}
	remembered, isKnown := r.delivery.Recall(memoryOfChoice)
	if !isKnown {
		return candidates
	}
	var first []candidate
	for _, item := range document.Get(remembered, fieldNodes, document.A()).All() {
		ref, _ := item.(document.Object)
		node := among.byRef[NodeRef{CompositeID: document.Get(ref, fieldID, ""), Tree: document.Get(ref, fieldTree, "")}]
		if node == nil || node.Trigger == nil {
			return candidates // The nodes are others now.
		}
		first = append(first, candidate{node, RuleChosenBefore})
	}
	if document.Get(remembered, fieldNone, false) {
		return first
	}
	rest := slices.DeleteFunc(slices.Clone(candidates), func(one candidate) bool {
		return slices.ContainsFunc(first, func(before candidate) bool { return before.node == one.node })
	})
	return append(first, rest...)
}

// noteChoice notes a node that answers, or with nil that no further one does.
func (r *run) noteChoice(ctx context.Context, one *candidate) {
	if !r.hasOwnEvent() || one != nil && one.rule == RuleChosenBefore {
		return
	}
	chosen, _ := r.delivery.Recall(memoryOfChoice)
	if one == nil {
		chosen = chosen.With(fieldNone, true)
	} else {
		ref := document.O(fieldID, one.node.ID, fieldTree, one.node.Tree)
		chosen = chosen.With(fieldNodes, document.Get(chosen, fieldNodes, document.A()).Append(ref))
	}
	if err := r.delivery.Note(memoryOfChoice, chosen); err != nil {
		r.runtime.logNotRemembered(ctx, r, err)
	}
}

// changesLiveChats reports whether an operation begins or ends a live chat, so that the same event would
// be answered by others after it.
func (op Op) changesLiveChats() bool {
	return op == OpCreateAssignment || op == OpEndLiveChat || op == OpInletEndLiveChat
}

// keepChoice stores what answers the run's event, before an operation after which others would.
func (r *run) keepChoice(ctx context.Context) error {
	if r == nil || !r.hasOwnEvent() {
		return nil
	}
	chosen, isKnown := r.delivery.Recall(memoryOfChoice)
	if !isKnown {
		return nil
	}
	return r.delivery.Remember(context.WithoutCancel(ctx), memoryOfChoice, chosen)
}
