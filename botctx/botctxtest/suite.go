// Package botctxtest holds every implementation of botctx.Operations to the same
// rules: one small function for each, which quotes the rule where an implementation
// breaks it.
//
//   - To test an implementation, call [RunConformance] with what makes a [Harness] for it.
//   - To test it over JSON as well, wrap that in [FromCaller].
//   - To leave out what it does not offer, name each [Capability] in Lacks of the [Harness].
//
// Both in one test:
//
//	func TestOperations(t *testing.T) {
//		botctxtest.RunConformance(t, newHarness)
//		botctxtest.RunConformance(t, botctxtest.FromCaller(newHarness))
//	}
//
// A Harness says how to reach the implementation, and Harness.Lacks what it does not
// offer.
//
// The name of a rule begins with that of its operation. The rules that all operations have
// alike, such as UpdateGroupRefusesBadInput, are made of a table with one row for each.
package botctxtest

import (
	"slices"
	"testing"

	"github.com/botctx/go-sdk/internal/conformance"
)

// T is what a rule needs of *testing.T.
type T = conformance.T

// Rule is one rule of the operations.
type Rule struct {
	// Name is short, in the form of a test's name.
	Name string
	// Text is the rule in words.
	Text string
	// Needs are what an implementation must offer for the rule to apply.
	Needs []Capability

	check func(*trial)
}

// RunConformance checks an implementation against every rule, each in a subtest of its
// own with a new harness. What the harness lacks is left out, and must be answered
// with Unsupported.
func RunConformance(t *testing.T, newHarness func(t *testing.T) *Harness) {
	t.Helper()
	for _, rule := range Rules(newHarness(t).lacks()...) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// Rules returns the rules for an implementation that lacks these capabilities: those
// that need none of them, and for each of them the rule that its use is answered with
// Unsupported.
func Rules(lacks ...Capability) []Rule {
	rules := slices.Concat(
		in(Channels, channelRules), in(Members, memberRules()), in(DataSources, dataRules()), in(Agendas, agendaRules()),
		in(Nodes, nodeRules()), in(Sends, sendRules()),
		in(LiveChats, liveChatRules()), in(Utilities, slices.Concat(mailRules, uploadRules)), operationRules(), everyOperationRules,
	)
	rules = slices.DeleteFunc(rules, func(rule Rule) bool { return rule.needsOneOf(lacks) })
	for _, lack := range lacks {
		if rule, ok := unsupportedRule(lack); ok && !rule.needsOneOf(lacks) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// in returns rules that all need a capability.
func in(domain Capability, rules []Rule) []Rule {
	inDomain := make([]Rule, len(rules))
	for i, rule := range rules {
		rule.Needs = append([]Capability{domain}, rule.Needs...)
		inDomain[i] = rule
	}
	return inDomain
}

// memberRules are the rules of the operations on members.
func memberRules() []Rule {
	return slices.Concat(
		getMemberRules, findMemberRules, returningRules(countingMember), optionRules(countingMember),
		patchMembersRules, updateMemberRules, memberScopeRules, memberConcurrencyRules,
	)
}

// dataRules are the rules of the operations on data sources.
func dataRules() []Rule {
	return slices.Concat(
		findDataRules, returningRules(countingData), optionRules(countingData), upsertRules, countRules, fetchRules,
		distinctRules, geoRules, patchDataRules, optionRules(countingPatch), dataScopeRules, dataConcurrencyRules,
	)
}

// sendRules are the rules of the operations that send.
func sendRules() []Rule {
	return slices.Concat(
		sendResponseRules, recipientRules, platformRules(), sendAlphaRules, sendHotelRules,
		sendDeltaRules, broadcastRules, attachmentRules, threadRules, labelRules, commentRules, archiveConversationRules,
		updateMessageRules, tagRules,
	)
}

// needsOneOf reports whether the rule needs one of the capabilities.
func (r Rule) needsOneOf(lacks []Capability) bool {
	return slices.ContainsFunc(r.Needs, func(c Capability) bool { return slices.Contains(lacks, c) })
}

// Check checks an implementation against the rule. The rule works in apps of its own,
// whose ids nobody has used before.
func (r Rule) Check(t T, h *Harness) {
	t.Helper()
	tr := newTrial(t, r, h)
	defer func() { tr.reportPanic(recover()) }()
	r.check(tr)
}
