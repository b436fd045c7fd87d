package chaostest

import "github.com/stretchr/testify/require"

// KillOne kills one of the processes, whatever it does, and starts another one in its place, to which
// or to others the platform sends again what was not answered.
func (p *Platform) KillOne() {
	p.t.Helper()
	victim := p.one()
	victim.isEnding = true
	require.NoError(p.t, victim.command.Process.Kill())
	for !victim.isGone {
		p.hear(<-p.lines)
	}
	p.replace(victim)
}

// note notes what was done to a process.
func (p *Platform) note(what kind, victim *process) {
	require.NoError(p.t, p.journal.note(entry{what: what, process: victim.id(), member: "-", more: "-"}))
}

// sendAgain sends again what a process has not answered.
func (p *Platform) sendAgain(victim *process) {
	for _, s := range p.members {
		if s.at == victim {
			p.sendTo(s)
		}
	}
}

// FreezeOne freezes one of the processes amid the run of an event, until others have handled the event and the
// member's next one. Meanwhile it calls harm. Then the process and the run go on, and FreezeOne returns when
// the run has ended.
func (p *Platform) FreezeOne(harm func()) {
	p.t.Helper()
	writer := p.members[p.random.IntN(len(p.members))]
	of := p.write(writer, amid)
	victim := p.await(wordAmid, of, func(by *process) bool {
		p.held = by
		return true
	})
	require.NoError(p.t, freeze(victim.command.Process))
	p.note(frozen, victim)
	victim.isFrozen = true
	p.sendAgain(victim)
	harm()
	p.await(wordEnded, p.write(writer, plain), func(by *process) bool { return by != victim })
	p.note(thawed, victim)
	require.NoError(p.t, thaw(victim.command.Process))
	victim.isFrozen, p.held = false, nil
	victim.tell(wordGo, of, "-")
	p.await(wordEnded, of, func(by *process) bool { return by == victim })
	p.late = append(p.late, lateRun{event: of, process: victim.id()})
}

// lateRun is a run that went on after others had handled its event.
type lateRun struct {
	event

	process int
}

// await waits until one of some processes says a word of an event, and returns it.
func (p *Platform) await(word string, of event, in func(*process) bool) (found *process) {
	p.t.Helper()
	p.onLine = func(said line) {
		if found == nil && said.word == word && said.of == of && in(said.from) {
			found = said.from
		}
	}
	p.until(func() bool { return found != nil }, nil)
	p.onLine = func(line) {}
	return found
}

// Stop lets the processes handle what waits, and ends them.
func (p *Platform) Stop() {
	p.t.Helper()
	for _, one := range p.processes {
		if !one.isGone {
			one.isEnding = true
			require.NoError(p.t, one.input.Close())
		}
	}
	p.until(func() bool {
		for _, one := range p.processes {
			if !one.isGone {
				return false
			}
		}
		return true
	}, nil)
	for _, one := range p.processes {
		if one.command.ProcessState == nil {
			require.NoError(p.t, one.command.Wait(), "%s", one.complaints())
		}
	}
}
