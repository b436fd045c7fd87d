package simulator

import (
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/internal/record"
)

// toldChoices tells why which node answered, the newest last.
func (b *branch) toldChoices() []shownChoice {
	told, all, writers := []shownChoice{}, b.platform.Choices(), map[record.Scope]string{}
	from := 0
	for number, m := range b.past() {
		to := m.chosen
		if number == b.at { // What is under way has chosen more.
			to = len(all)
		}
		to = min(to, len(all))
		for _, one := range all[min(from, to):to] {
			if _, isKnown := writers[one.Scope]; !isKnown {
				writers[one.Scope] = b.writerOf(one.Scope)
			}
			told = append(told, toldChoice(number, writers[one.Scope], one))
		}
		from = to
	}
	return slices.Clone(newest(told))
}

func toldChoice(number int, by string, made botctx.Choice) shownChoice {
	return shownChoice{
		Moment: number, By: by, Answer: made.Answer, Node: made.Node, IsMute: made.IsMute, Logic: made.Logic,
		Position: made.Position, Lost: made.Lost, Serving: made.Serving, IsInLiveChat: made.IsInLiveChat,
		Candidates: toldCandidates(made.Candidates), Others: toldCandidates(made.Others),
	}
}

// writerOf returns the id of the person who wrote in a scope, "" for nobody who is on the page.
func (b *branch) writerOf(scope record.Scope) string {
	i := slices.IndexFunc(b.people(), func(p *person) bool {
		if p.isAgent() {
			return p.agent.In(b.platform).Wrote(scope)
		}
		return p.actor.Scope() == scope
	})
	if i < 0 {
		return ""
	}
	return b.people()[i].id
}

func toldCandidates(all []botctx.Candidate) []shownCandidate {
	told := []shownCandidate{}
	for _, one := range all {
		told = append(told, shownCandidate{Node: one.Node, Rule: string(one.Rule), Why: one.Why})
	}
	return told
}
