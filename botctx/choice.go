package botctx

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/internal/record"
)

// Choice tells what was chosen to answer an event, and why. Config.OnChoice is given it, and at
// debug level Config.Logger. It holds ids and names of functions, and nothing that members write.
type Choice struct {
	// Scope is the app, the channel, the member and the group of the event.
	Scope record.Scope
	// Answer is what answers.
	Answer Answer
	// Node is the node that answers, zero where none does. IsMute tells that it is mute, so that
	// another choice follows.
	Node   NodeRef
	IsMute bool
	// Logic is the name of the function of HandleFunc where it answers, such as "shop.greet".
	Logic string
	// Position is where the conversation stood, zero for a new member. Lost says why it counts as
	// that of a new member although it has a position, "" where it does not.
	Position NodeRef
	Lost     string
	// Serving is what may answer now, such as "the off trees, since the
	// channel is not On".
	Serving string
	// IsInLiveChat is true if the member was in a live chat: then only nodes of Flow.LiveChatTree
	// may answer, and else the message goes to the agent.
	IsInLiveChat bool
	// Candidates are the nodes that might answer, in the order in which they are asked.
	Candidates []Candidate
	// Others are the other nodes. They are there only where no node answers.
	Others []Candidate
}

// Answer is what answers an event.
type Answer string

// What can answer an event.
const (
	AnswerNode     Answer = "node"
	AnswerLogic    Answer = "HandleFunc"
	AnswerLiveChat Answer = "live chat"
	AnswerNone     Answer = "nothing"
)

// Rule is what makes a node a candidate.
type Rule string

// The rules by which a node is a candidate.
const (
	RuleChild           Rule = "child"
	RuleHead            Rule = "head"
	RuleGlobalInTree    Rule = "global in the tree"
	RuleGlobalInChannel Rule = "global in the channel"
	RuleGlobalInGroup   Rule = "global by the priority group"
)

// plural names several candidates of a rule.
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

// Candidate is a node that might answer, or one of Choice.Others, which could not.
type Candidate struct {
	Node     NodeRef
	Priority int
	// Rule is what makes it a candidate, "" where it is none.
	Rule Rule
	// Why says what came of it, such as "trigger did not match".
	Why string
}

// What may come of a candidate.
const (
	whyAnswered = "answered"
	whyRefused  = "trigger did not match"
	whyNotAsked = "was not asked, since another one answered"
)

// String returns the choice as one line: what answers and why, or what each node refused.
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

// answered is String where a node answers.
func (c Choice) answered() string {
	i := slices.IndexFunc(c.Candidates, func(one Candidate) bool { return one.Node == c.Node })
	mute := ""
	if c.IsMute {
		mute = "mute "
	}
	text := fmt.Sprintf("%snode %s answers: %s at %s", mute, c.Node, c.Candidates[i].Rule, c.at())
	if refused := of(c.Candidates[:i], func(one Candidate) bool { return one.Why == whyRefused }); len(refused) > 0 {
		text += "; before it " + listed(refused)
	}
	return text
}

// refusals says why no node answers, behind some words. It is "" where there are no nodes.
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
	return words + "at " + c.at() + " - " + strings.Join(parts, "; ") + more(len(c.Others)-len(others))
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

// at names the position.
func (c Choice) at() string {
	text := fmt.Sprintf("%q", c.Position.CompositeID)
	if c.Position.Tree != "" {
		text += fmt.Sprintf(" of the tree %q", c.Position.Tree)
	}
	if c.Lost != "" {
		text += " (" + c.Lost + ": as a new member)"
	}
	return text
}

// mostShown is how many nodes of a kind a line names.
const mostShown = 8

// listed names nodes, each with what came of it.
func listed(nodes []Candidate) string {
	shown := nodes[:min(len(nodes), mostShown)]
	names := make([]string, len(shown))
	for i, one := range shown {
		names[i] = fmt.Sprintf("%s (%s)", one.Node.CompositeID, one.Why)
	}
	return strings.Join(names, ", ") + more(len(nodes)-len(shown))
}

// more tells how many are left out.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// of returns the candidates that meet a condition.
func of(candidates []Candidate, holds func(Candidate) bool) []Candidate {
	return slices.DeleteFunc(slices.Clone(candidates), func(one Candidate) bool { return !holds(one) })
}
