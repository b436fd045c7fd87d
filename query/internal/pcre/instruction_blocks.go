package pcre

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
)

type (
	// loopStartStep begins a loop, which counts its turns in one register, and has in the
	// next one where the last turn began.
	loopStartStep struct{ register int }
	// loopStep decides upon another turn.
	loopStep struct {
		register, least, most, exit int
		lazy                        bool
	}
	// iterateStep begins a turn.
	iterateStep struct{ register int }
	// markStep notes the height of the stack and the place in two registers.
	markStep struct{ register int }
	// cutStep forgets the choices since a mark.
	cutStep struct{ register int }
	// unwindStep goes back to a mark, and takes back all that was done since.
	unwindStep struct{ register int }
	// returnToStep goes back to the place of a mark.
	returnToStep struct{ register int }
	// groupTestStep fails unless one of the groups has caught something.
	groupTestStep groupTest
	// callTestStep fails outside of a call, or of a call of one of the groups.
	callTestStep callTest
	// callStep matches the code of a group.
	callStep struct{ group, to int }
	// returnStep ends the code of a group that is called.
	returnStep struct{}
)

// errTooManyCalls is the error of groups that call one another too deep.
var errTooManyCalls = boterr.New(boterr.ResourceExhausted, "", "the pattern calls its groups too often: let each call "+
	"take some text first, or match shorter texts")

func (s loopStartStep) step(m *machine) bool {
	m.set(s.register, 0)
	m.set(s.register+1, none)
	return true
}

// step ends a loop without a most where its last turn took nothing.
func (s *loopStep) step(m *machine) bool {
	count, isEmpty := m.registers[s.register], m.registers[s.register+1] == m.pos
	switch {
	case count < s.least:
	case count == s.most, s.most == unbounded && isEmpty:
		m.pc = s.exit
	case s.lazy:
		m.push(choiceEntry, m.pc, m.pos, 0)
		m.pc = s.exit
	default:
		m.push(choiceEntry, s.exit, m.pos, 0)
	}
	return true
}

func (s iterateStep) step(m *machine) bool {
	m.set(s.register, m.registers[s.register]+1)
	m.set(s.register+1, m.pos)
	return true
}

func (s markStep) step(m *machine) bool {
	m.push(registerEntry, s.register, m.registers[s.register], 0)
	m.push(registerEntry, s.register+1, m.registers[s.register+1], 0)
	m.registers[s.register], m.registers[s.register+1] = len(m.stack), m.pos
	return true
}

func (s cutStep) step(m *machine) bool {
	m.cut(m.registers[s.register])
	return true
}

func (s unwindStep) step(m *machine) bool {
	m.unwind(m.registers[s.register])
	m.pos = m.registers[s.register+1]
	return true
}

func (s returnToStep) step(m *machine) bool {
	m.pos = m.registers[s.register+1]
	return true
}

func (s *groupTestStep) step(m *machine) bool {
	return slices.ContainsFunc(s.groups.numbers, m.isSet)
}

func (s *callTestStep) step(m *machine) bool {
	if m.frame == none {
		return false
	}
	return s.groups == nil || slices.Contains(s.groups.numbers, m.frames[m.frame].group)
}

func (s *callStep) step(m *machine) bool {
	m.spend(callWork + len(m.registers))
	if m.saved += len(m.registers); m.saved > maxSaved {
		m.err = errTooManyCalls
		return false
	}
	m.push(frameEntry, m.frame, len(m.frames), 0)
	m.frames = append(m.frames, frame{group: s.group, returnTo: m.pc, caller: m.frame, registers: slices.Clone(m.registers)})
	m.frame = len(m.frames) - 1
	m.pc = s.to
	return true
}

// step gives the registers the values that they had before the call.
func (returnStep) step(m *machine) bool {
	m.spend(len(m.registers))
	f := m.frames[m.frame]
	m.push(frameEntry, m.frame, len(m.frames), 0)
	for register, value := range f.registers {
		m.set(register, value)
	}
	m.pc, m.frame = f.returnTo, f.caller
	return true
}
