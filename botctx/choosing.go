package botctx

import (
	"context"
	"fmt"
	"log/slog"
)

// choosing keeps a record of the choice of what answers an event. A nil one, where nobody asks,
// does nothing.
type choosing struct {
	run     *run
	nodes   *nodes
	field   field
	outcome []string
}

// watchChoice returns what keeps a record of a choice, nil where nobody asks for it.
func (r *run) watchChoice(ctx context.Context, among *nodes, may field) *choosing {
	if r.runtime.config.OnChoice == nil && !r.runtime.config.Logger.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	return &choosing{run: r, nodes: among, field: may, outcome: make([]string, len(may.candidates))}
}

// refused notes that the trigger of a candidate did not match.
func (c *choosing) refused(i int) {
	if c != nil {
		c.outcome[i] = whyRefused
	}
}

// answeredBy reports that a candidate answers.
func (c *choosing) answeredBy(ctx context.Context, i int) {
	if c == nil {
		return
	}
	c.outcome[i] = whyAnswered
	choice, node := c.choice(AnswerNode), c.field.candidates[i].node
	choice.Node, choice.IsMute = node.Ref(), node.isMute()
	c.report(ctx, choice)
}

// answeredByLogic reports that the logic of HandleFunc answers.
func (c *choosing) answeredByLogic(ctx context.Context, logic Action) {
	if c == nil {
		return
	}
	choice := c.choice(AnswerLogic)
	choice.Logic, choice.Others = functionName(logic), c.others()
	c.report(ctx, choice)
}

// answeredByNoNode reports that the live chat or nothing answers.
func (c *choosing) answeredByNoNode(ctx context.Context, by Answer) {
	if c == nil {
		return
	}
	choice := c.choice(by)
	choice.Others = c.others()
	c.report(ctx, choice)
}

// report gives a choice to those who ask for it.
func (c *choosing) report(ctx context.Context, choice Choice) {
	c.run.runtime.logChoice(ctx, choice)
	if given := c.run.runtime.config.OnChoice; given != nil {
		given(ctx, choice)
	}
}

// choice returns what is known so far.
func (c *choosing) choice(by Answer) Choice {
	made := Choice{
		Scope: c.run.bot.scope, Answer: by, Position: c.field.position, Lost: c.lost(), Serving: c.field.within.name + c.field.within.since,
		IsInLiveChat: c.run.isInLiveChat,
		Candidates:   make([]Candidate, len(c.field.candidates)),
	}
	for i, one := range c.field.candidates {
		made.Candidates[i] = Candidate{Node: one.node.Ref(), Priority: one.node.Priority, Rule: one.rule, Why: c.outcome[i]}
		if c.outcome[i] == "" {
			made.Candidates[i].Why = whyNotAsked
		}
	}
	return made
}

// lost says why the position counts for nothing.
func (c *choosing) lost() string {
	at := c.field.position
	switch {
	case at == NodeRef{}:
		return ""
	case c.nodes.byRef[at] == nil:
		return "no such node"
	case !c.field.within.trees(at.Tree):
		return "its tree is none of " + c.field.within.name
	default:
		return ""
	}
}

// others returns the nodes that are no candidates, each with the reason.
func (c *choosing) others() []Candidate {
	isCandidate := map[*Node]bool{}
	for _, one := range c.field.candidates {
		isCandidate[one.node] = true
	}
	var others []Candidate
	for _, node := range c.nodes.list {
		if !isCandidate[node] {
			others = append(others, Candidate{Node: node.Ref(), Priority: node.Priority, Why: c.whyNot(node)})
		}
	}
	return others
}

// whyNot says why a node is no candidate.
func (c *choosing) whyNot(node *Node) string {
	switch {
	case node.Trigger == nil:
		return "has no trigger: redirects and agendas run it"
	case c.run.byAgent && node.Priority >= FallbackPriority:
		return "is a fallback, and those do not answer agents"
	case !c.field.within.trees(node.Tree):
		return fmt.Sprintf("is in the tree %q, which is none of %s", node.Tree, c.field.within.name)
	case node.Global == GlobalInTree:
		return fmt.Sprintf("needs a position in the tree %q", node.Tree)
	case node.Parent != "":
		return c.nodes.needs(node)
	case c.nodes.isAt(c.field.position, c.field.within):
		return "is a head node, for where the conversation stands at none"
	default:
		return "is not named by Flow.HeadNodes"
	}
}

// needs says which position a child needs.
func (n *nodes) needs(child *Node) string {
	text := fmt.Sprintf("needs the position %q", child.Parent)
	if !n.byRef[NodeRef{CompositeID: child.Parent, Tree: child.Tree}].SavesPosition {
		text += ", which no node saves"
	}
	return text
}
