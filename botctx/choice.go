package botctx

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// choosing records how the answer to an event is chosen. The methods of a nil *choosing do nothing.
type choosing struct {
	run     *run
	nodes   *nodes
	field   field
	outcome []string
}

// watchChoice returns a recorder for the choice, or nil if the host does not want Choices.
func (r *run) watchChoice(ctx context.Context, among *nodes, may field) *choosing {
	if r.runtime.config.OnChoice == nil && !r.runtime.config.Logger.Enabled(ctx, slog.LevelDebug) {
		return nil
	}
	return &choosing{run: r, nodes: among, field: may, outcome: make([]string, len(may.candidates))}
}

// refused records that the trigger of a candidate did not match.
func (c *choosing) refused(i int) {
	if c != nil {
		c.outcome[i] = whyRefused
	}
}

func (c *choosing) answeredBy(ctx context.Context, i int) {
	if c == nil {
		return
	}
	c.outcome[i] = whyAnswered
	choice, node := c.choice(AnswerNode), c.field.candidates[i].node
	choice.Node, choice.IsMute = node.Ref(), node.isMute()
	c.report(ctx, choice)
}

func (c *choosing) answeredByLogic(ctx context.Context, logic Action) {
	if c == nil {
		return
	}
	choice := c.choice(AnswerLogic)
	choice.Logic, choice.Others = functionName(logic), c.others()
	c.report(ctx, choice)
}

// answeredByNoNode reports that the live chat answers, or that nothing does.
func (c *choosing) answeredByNoNode(ctx context.Context, by Answer) {
	if c == nil {
		return
	}
	choice := c.choice(by)
	choice.Others = c.others()
	c.report(ctx, choice)
}

// report passes a choice to the logger and to Config.OnChoice.
func (c *choosing) report(ctx context.Context, choice Choice) {
	c.run.runtime.logChoice(ctx, choice)
	if given := c.run.runtime.config.OnChoice; given != nil {
		given(ctx, choice)
	}
}

// choice returns the Choice with everything that is known so far.
func (c *choosing) choice(by Answer) Choice {
	made := Choice{
		Scope: Scope(c.run.bot.scope), Answer: by,
		Position: c.field.position, Lost: c.lost(), Serving: c.field.within.name + c.field.within.since,
		IsInLiveChat: c.run.isInLiveChat.Load(),
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

// lost returns the reason why the member's position is ignored, or "".
func (c *choosing) lost() string {
	at := c.field.position
	switch {
	case at == NodeRef{}:
		return ""
	case c.nodes.byRef[at] == nil:
		return "no such node"
	case !c.field.within.has(at.Tree):
		return "its tree is none of " + c.field.within.name
	default:
		return ""
	}
}

// others returns the nodes that are not candidates, with the reasons.
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

// whyNot returns the reason why a node is not a candidate.
func (c *choosing) whyNot(node *Node) string {
	switch {
	case node.Trigger == nil:
		return "has no trigger: redirects and agendas run it"
	case c.run.byAgent && node.Priority >= FallbackPriority:
		return "is a fallback, and fallbacks do not answer agents"
	case !c.field.within.has(node.Tree):
		return fmt.Sprintf("is in the tree %q, which is none of %s", node.Tree, c.field.within.name)
	case node.Global == GlobalInTree:
		return fmt.Sprintf("needs a position in the tree %q", node.Tree)
	case node.Parent != "":
		return c.nodes.needs(node)
	case c.nodes.isAt(c.field.position, c.field.within):
		return "is a head node, for a member without a position"
	default:
		return "is not named by Flow.HeadNodes"
	}
}

// needs returns the position that a child needs.
func (n *nodes) needs(child *Node) string {
	text := fmt.Sprintf("needs the position %q", child.Parent)
	if !n.byRef[NodeRef{CompositeID: child.Parent, Tree: child.Tree}].SavesPosition {
		text += ", which no node saves"
	}
	return text
}

// Choice describes how an event is answered, and why. It is passed to Config.OnChoice and, at debug level, to
// Config.Logger. It contains ids and names of functions, but no text of members.
type Choice struct {
	// Scope is the app, the channel, the member and the group of the event.
	Scope Scope
	// Answer is the kind of the answer.
	Answer Answer
	// Node is the answering node, or zero if no node answers. IsMute is true for a mute node; then another
	// Choice follows.
	Node   NodeRef
	IsMute bool
	// Logic is the name of the function of HandleFunc if it answers, such as "shop.greet".
	Logic string
	// Position is the member's position, or zero if there is none. If the position is ignored and the member
	// counts as new, Lost is the reason.
	Position NodeRef
	Lost     string
	// Serving describes the nodes that may answer now, such as "the off trees, since the channel is not On".
	Serving string
	// IsInLiveChat is true if the member is in a live chat. Then only nodes of Flow.LiveChatTree may answer. If
	// none does, the message goes to the agent.
	IsInLiveChat bool
	// Candidates are the nodes that may answer, in the order in which their triggers are evaluated.
	Candidates []Candidate
	// Others are the nodes that may not answer. They are set only if no node answers.
	Others []Candidate
}

// Answer is the kind of answer to an event.
type Answer string

// The possible answers to an event.
const (
	// AnswerNode: a node answers.
	AnswerNode Answer = "node"
	// AnswerLogic: no node answers, and the function of HandleFunc runs.
	AnswerLogic Answer = "HandleFunc"
	// AnswerLiveChat: no node answers, and the message goes to the other side of a live chat.
	AnswerLiveChat Answer = "live chat"
	// AnswerNone: nothing answers.
	AnswerNone Answer = "nothing"
)

// Rule is the rule that makes a node a candidate.
type Rule string

// The rules by which a node is a candidate.
const (
	// RuleChild: the member's position is the node's parent.
	RuleChild Rule = "child"
	// RuleHead: the member has no position, and the node is a head node.
	RuleHead Rule = "head"
	// RuleGlobalInTree and RuleGlobalInChannel: the node's Global allows it.
	RuleGlobalInTree    Rule = "global in the tree"
	RuleGlobalInChannel Rule = "global in the channel"
	// RuleGlobalInGroup: the channel's priority group names the node as global.
	RuleGlobalInGroup Rule = "global by the priority group"
)

// plural returns the heading for the candidates of a rule.
func (r Rule) plural() string {
	switch r {
	case RuleChild:
		return "children"
	case RuleHead:
		return "heads"
	default:
		return string(r)
	}
}

// Candidate is a node in Choice.Candidates or Choice.Others.
type Candidate struct {
	Node     NodeRef
	Priority int
	// Rule is the rule by which the node may answer. It is "" in Choice.Others.
	Rule Rule
	// Why is the reason why the node answers or not, such as "trigger did not match".
	Why string
}

// The possible outcomes for a candidate.
const (
	whyAnswered = "answered"
	whyRefused  = "trigger did not match"
	whyNotAsked = "was not asked, because another node had answered"
)

// String returns one line with the answer and the reason. If no node answers, the line contains the reason for each
// node.
func (c Choice) String() string {
	switch c.Answer {
	case AnswerNode:
		return c.answered()
	case AnswerLogic:
		return "HandleFunc answers: " + c.Logic + c.refusals("; no node does: ")
	case AnswerLiveChat:
		return "the live chat takes it" + c.refusals("; no node answers: ")
	default:
		return "nothing answers: " + c.refusals("")
	}
}

// answered returns the line of String for AnswerNode.
func (c Choice) answered() string {
	i := slices.IndexFunc(c.Candidates, func(one Candidate) bool { return one.Node == c.Node })
	mute := ""
	if c.IsMute {
		mute = "mute "
	}
	if i < 0 {
		return mute + "node " + c.Node.String() + " answers"
	}
	text := fmt.Sprintf("%snode %s answers: %s, %s", mute, c.Node, c.Candidates[i].Rule, c.at())
	if refused := of(c.Candidates[:i], func(one Candidate) bool { return one.Why == whyRefused }); len(refused) > 0 {
		text += "; before it " + listed(refused)
	}
	return text
}

// refusals returns words, followed by the reasons why no node answers. It returns "" if there are no nodes.
func (c Choice) refusals(words string) string {
	if len(c.Candidates) == 0 && len(c.Others) == 0 {
		return ""
	}
	parts := c.byRule()
	if len(parts) == 0 {
		parts = []string{"no candidates among " + c.Serving}
	}
	others := c.Others[:min(len(c.Others), mostShown)]
	for _, one := range others {
		parts = append(parts, fmt.Sprintf("%q %s", one.Node.CompositeID, one.Why))
	}
	return words + c.at() + " - " + strings.Join(parts, "; ") + more(len(c.Others)-len(others))
}

// byRule lists the candidates of each rule.
func (c Choice) byRule() []string {
	var parts []string
	for _, rule := range [...]Rule{RuleChild, RuleHead, RuleGlobalInTree, RuleGlobalInChannel, RuleGlobalInGroup} {
		if found := of(c.Candidates, func(one Candidate) bool { return one.Rule == rule }); len(found) > 0 {
			parts = append(parts, rule.plural()+": "+listed(found))
		}
	}
	return parts
}

// at formats the position.
func (c Choice) at() string {
	text := "no position"
	if c.Position.CompositeID != "" {
		text = fmt.Sprintf("position %q", c.Position.CompositeID)
	}
	if c.Position.Tree != "" {
		text += fmt.Sprintf(" of the tree %q", c.Position.Tree)
	}
	if c.Lost != "" {
		text += " (" + c.Lost + ": as a new member)"
	}
	return text
}

// mostShown is the maximum number of nodes in each list of a line.
const mostShown = 8

// listed formats nodes with their reasons.
func listed(nodes []Candidate) string {
	shown := nodes[:min(len(nodes), mostShown)]
	names := make([]string, len(shown))
	for i, one := range shown {
		names[i] = fmt.Sprintf("%s (%s)", one.Node.CompositeID, one.Why)
	}
	return strings.Join(names, ", ") + more(len(nodes)-len(shown))
}

// more returns a note about n omitted nodes.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// of returns the candidates for which holds is true.
func of(candidates []Candidate, holds func(Candidate) bool) []Candidate {
	return slices.DeleteFunc(slices.Clone(candidates), func(one Candidate) bool { return !holds(one) })
}

// For an event that Accept stored, the answering nodes are stored with the event, so that a later attempt runs
// the same nodes. Otherwise the effects of the earlier attempt, such as a new live chat, could lead to a
// different choice, and the rest of the first answer would be lost. The choice is stored with the first message
// of the run or with its failure, which saves a write. It is written separately only before an operation that starts
// or ends a live chat, because the process may die after it.

// RuleChosenBefore means that an earlier attempt at the same event ran the node or a part of it.
const RuleChosenBefore Rule = "chosen by an attempt before"

// memoryOfChoice is the key under which the answering nodes are stored, in order.
const memoryOfChoice = "answered by"

// The fields of the stored answer. fieldNone is true if no node answered, and fieldInLiveChat if the event then went to
// its live chat.
const (
	fieldNodes      = "nodes"
	fieldNone       = "none"
	fieldInLiveChat = "inLiveChat"
	fieldID         = "id"
	fieldTree       = "tree"
)

// hasOwnEvent reports whether an event of the inbox started the run directly, without a redirect.
func (r *run) hasOwnEvent() bool { return r.delivery != nil && r.outer == nil && r.agenda == nil }

// asBefore returns the candidates after the choice of an earlier attempt. The nodes that ran in that attempt come
// first. If no further node answered in it, the other candidates are left out. If the event then went to a live chat that
// has ended since, that choice is forgotten.
func (r *run) asBefore(among *nodes, candidates []candidate) []candidate {
	if !r.hasOwnEvent() {
		return candidates
	}
	remembered, isKnown := r.delivery.Recall(memoryOfChoice)
	if !isKnown {
		return candidates
	}
	if document.Get(remembered, fieldInLiveChat, false) && !r.isInLiveChat.Load() {
		_ = r.delivery.Note(memoryOfChoice, document.O())
		return candidates
	}
	var first []candidate
	for _, item := range document.Get(remembered, fieldNodes, document.A()).All() {
		ref, _ := item.(document.Object)
		node := among.byRef[NodeRef{CompositeID: document.Get(ref, fieldID, ""), Tree: document.Get(ref, fieldTree, "")}]
		if node == nil || node.Trigger == nil {
			return candidates // The bot's nodes have changed since the earlier attempt.
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

// noteChoice records an answering node, or nil if no further node answers.
func (r *run) noteChoice(ctx context.Context, one *candidate) {
	if !r.hasOwnEvent() || one != nil && one.rule == RuleChosenBefore {
		return
	}
	chosen, _ := r.delivery.Recall(memoryOfChoice)
	if one == nil {
		chosen = chosen.With(fieldNone, true).With(fieldInLiveChat, r.isInLiveChat.Load())
	} else {
		ref := document.O(fieldID, one.node.ID, fieldTree, one.node.Tree)
		chosen = chosen.With(fieldNodes, document.Get(chosen, fieldNodes, document.A()).Append(ref))
	}
	if err := r.delivery.Note(memoryOfChoice, chosen); err != nil {
		r.logNotRemembered(ctx, err)
	}
}

// changesLiveChats reports whether an operation starts or ends a live chat. Afterwards, the same event could be
// answered differently.
func (op Op) changesLiveChats() bool {
	switch op {
	case OpCreateAssignment, OpAddNewTargetsToAssignment, OpReassignAssignment, OpRemovePendingAssignmentByMemberID,
		OpEndLiveChat, OpInletEndLiveChat, OpEndBravoLiveChat,
		OpUpdateAssignmentGroup, OpHandleAdminJoinedGroup, OpUpdateGroup, OpInactivateGroup:
		return true
	default:
		return false
	}
}

// keepChoice stores the answering nodes of the run's event. It is called before operations that could change
// the choice.
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
