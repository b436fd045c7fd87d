package simulator

import (
	"slices"

	"github.com/botctx/go-sdk/botctx"
)

// toldChoices tells why which node answered, the newest last.
func (b *branch) toldChoices() []Choice {
	told, all := []Choice{}, b.platform.Choices()
	from := 0
	for number, m := range b.past() {
		to := m.chosen
		if number == b.at { // What is under way has chosen more.
			to = len(all)
		}
		to = min(to, len(all))
		for _, one := range all[min(from, to):to] {
			told = append(told, toldChoice(number, one))
		}
		from = to
	}
	return slices.Clone(newest(told))
}

func toldChoice(number int, made botctx.Choice) Choice {
	return Choice{
		Moment: number, Member: made.Scope.Member, Answer: made.Answer, Node: made.Node, IsMute: made.IsMute, Logic: made.Logic,
		Position: made.Position, Lost: made.Lost, Serving: made.Serving,
		Candidates: toldCandidates(made.Candidates), Others: toldCandidates(made.Others),
	}
}

func toldCandidates(all []botctx.Candidate) []Candidate {
	told := []Candidate{}
	for _, one := range all {
		told = append(told, Candidate{Node: one.Node, Rule: string(one.Rule), Why: one.Why})
	}
	return told
}
