package botctxtest

import (
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// agendaRules are the rules of the operations on agendas.
func agendaRules() []Rule {
	return slices.Concat(newAgendaRules, replaceRules, updateAgendaRules, deleteAgendaRules, agendaRunRules)
}

const (
	// later is when agendas run that no rule wants to run: the beginning of 2100.
	later document.Timestamp = 4_102_444_800_000
	// eachMinute is a pattern that means the same in every time zone.
	eachMinute = "* * * * *"
)

// schedule makes an agenda, without an error: of the home member, for a node, and later,
// unless the params say otherwise.
func (t *trial) schedule(p agenda.NewAgendaParams) *agenda.Agenda {
	t.Helper()
	made, err := t.home.NewAgenda(t.ctx(), t.scheduled(p))
	require.NoError(t, err)
	require.NotNil(t, made)
	return made
}

// scheduled returns the params of schedule.
func (t *trial) scheduled(p agenda.NewAgendaParams) agenda.NewAgendaParams {
	if p.MemberID == "" {
		p.MemberID = t.home.scope.Member
	}
	if p.NodeCompositeID == "" {
		p.NodeCompositeID = "node"
	}
	if p.NextRunAt == 0 && p.Pattern == "" {
		p.NextRunAt = later
	}
	return p
}

// reschedule updates agendas, without an error: those of the home member, unless the
// params say otherwise.
func (t *trial) reschedule(p agenda.UpdateAgendaParams) agenda.UpdateAgendaResult {
	t.Helper()
	if p.MemberID == "" {
		p.MemberID = t.home.scope.Member
	}
	result, err := t.home.UpdateAgenda(t.ctx(), p)
	require.NoError(t, err)
	return result
}

// open returns the open agendas of a member, which an update that gives nothing to change
// shows.
func (t *trial) open(m *member.Member) []*agenda.Agenda {
	t.Helper()
	shown, err := t.operationsFor(m).UpdateAgenda(t.ctx(), agenda.UpdateAgendaParams{MemberID: m.ID})
	require.NoError(t, err)
	return shown.Docs
}

// requireOpen checks which open agendas a member has, in any order.
func (t *trial) requireOpen(m *member.Member, want ...*agenda.Agenda) {
	t.Helper()
	require.ElementsMatch(t, textsOf(t, want), textsOf(t, t.open(m)), "the open agendas of the member")
}

// textsOf returns agendas as JSON.
func textsOf(t *trial, agendas []*agenda.Agenda) []string {
	t.Helper()
	texts := []string{}
	for _, a := range agendas {
		texts = append(texts, textOf(t, a))
	}
	return texts
}

// requireNextMinute checks that a time is what eachMinute gives first, after a member was
// made a short while ago.
func requireNextMinute(t *trial, m *member.Member, at document.Timestamp) {
	t.Helper()
	require.Greater(t, at, m.CreatedAt)
	require.LessOrEqual(t, at, m.CreatedAt+document.Timestamp(time.Hour/time.Millisecond))
	require.Zero(t, at%document.Timestamp(time.Minute/time.Millisecond), "a minute begins")
}
