package chaostest

import (
	"runtime/debug"

	"github.com/stretchr/testify/require"
)

// Poisoned is the id of the member whose messages end the process that runs them.
const Poisoned = "poisoned"

// overflow ends the process as bot logic does that calls itself for ever.
func overflow() {
	const enough = 1 << 20
	debug.SetMaxStack(enough)
	recurse(0)
}

// recurse calls itself for ever.
func recurse(depth int) int {
	var room [64]int
	room[depth%len(room)] = depth
	return recurse(depth+1) + room[(depth+1)%len(room)] //nolint:revive,staticcheck // The stack is to overflow.
}

// Poison has the member Poisoned send a message that ends each process that runs it, and another one behind
// it, while the other members write. It returns once the first is a dead letter. Processes that end are
// replaced.
func (p *Platform) Poison() {
	p.t.Helper()
	if p.poisoned == nil {
		p.poisoned = &sender{name: Poisoned}
		p.members = append(p.members, p.poisoned)
	}
	of := p.write(p.poisoned, poison)
	p.write(p.poisoned, plain) // Once the first is stored: of two that are accepted at once, either may come first.
	p.sendWhile(func() { p.until(func() bool { return p.dead[of] }, nil) }, func(line) {})
}

// replace starts a process in the place of one that has ended, to which or to others the platform sends
// again what was not answered.
func (p *Platform) replace(ended *process) {
	_ = ended.command.Wait() // Its error is that it was killed.
	p.note(killed, ended)
	p.Start(1)
	p.sendAgain(ended)
}

// requireDead checks that the poisonous events are dead letters, and no others.
func (p *Platform) requireDead(keys []string) {
	p.t.Helper()
	var want []string
	for of := range p.dead {
		want = append(want, of.id())
	}
	require.ElementsMatch(p.t, want, keys, "the dead letters")
	if p.poisoned != nil {
		for i, asked := range p.poisoned.asked {
			of := event{Poisoned, i + 1}
			require.Equal(p.t, asked == poison, p.dead[of], "whether %v is dead", of)
		}
	}
}
