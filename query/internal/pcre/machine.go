package pcre

import (
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

const (
	// stepWork is the work of an instruction, and matchWork that of a match in addition.
	stepWork  = 12
	matchWork = 96
	// callWork is the work of a call of a group in addition, which saves the registers.
	callWork = 256
	// batch is the work that is charged at once.
	batch = 1 << 13
	// maxStack is the most entries of a machine's stack, which take 32 MiB.
	maxStack = 1 << 21
	// maxSaved is the most registers that all calls together may save, which take 16 MiB.
	maxSaved = 1 << 21
)

// errTooDeep is the error of a text for which the stack is too small.
var errTooDeep = boterr.New(boterr.ResourceExhausted, "", "the pattern leaves more than %d ways open on a text: write it so "+
	"that fewer of its parts can match the same, or match shorter texts", maxStack)

// Charge takes the work that a match does, about a nanosecond each, and ends the match
// with its error.
type Charge func(work int) error

// machine matches a program against a text by trying, in order, what could match.
type machine struct {
	*program

	text string
	// from is where the search began.
	from int
	// pc is the next instruction, and pos how much of the text is taken.
	pc, pos   int
	registers []int
	stack     []entry
	frames    []frame
	// frame is the call that is matched, as an index of frames, or none.
	frame  int
	charge Charge
	work   int
	// trial is the work that a trial has left.
	trial int
	// saved are the registers that calls hold.
	saved int
	// next is where a verb lets the search go on.
	next int
	// done is the work that was charged, and last where the last match may begin, once that
	// was looked for.
	done, last int
	isBounded  bool
	err        error
}

// none is the frame outside of calls, and the register of what is not set.
const none = -1

// entryKind says what to do with an entry of the stack.
type entryKind byte

const (
	choiceEntry   entryKind = iota // go on at instruction a with the place b
	registerEntry                  // set register a to b
	frameEntry                     // set the frame to a, and drop those from b on
	greedyEntry                    // go on behind the run a with one character less than b, down to c
	lazyEntry                      // take one character more at b for the run a, of c that are left
	verbEntry                      // do what the verb a says, at the place b
)

// entry is something to be done when the machine backs over it.
type entry struct {
	kind    entryKind
	a, b, c int32
}

// frame is a call of a group.
type frame struct {
	group, returnTo, caller int
	registers               []int
}

// instruction is a step of the machine.
type instruction interface {
	// step does what the instruction says, and reports whether it could. The machine's pc
	// is that of the next one.
	step(m *machine) bool
}

func newMachine(p *program, text string, charge Charge) *machine {
	m := &machine{program: p, registers: make([]int, p.registers)}
	m.begin(text, charge)
	return m
}

// begin prepares the machine for a text.
func (m *machine) begin(text string, charge Charge) {
	*m = machine{
		program: m.program, registers: m.registers, stack: m.stack[:0], frames: m.frames[:0],
		text: text, charge: charge, frame: none, trial: unbounded, last: len(text),
	}
}

// find searches for the first match from a place on, and reports whether there is one.
// The registers then hold its groups. It is charged before it looks at the text: a budget that
// is spent, or a context that has ended, lets no further match begin.
func (m *machine) find(from int) (bool, error) {
	m.from = from
	m.work += matchWork + len(m.registers)
	m.flush()
	if m.err != nil {
		return false, m.err
	}
	start, found := m.candidate(from), false
	if start != none {
		m.forget()
	}
	for ; start != none && start <= m.last && !found && m.err == nil; start = m.candidate(m.next) {
		m.next = start + 1
		for m.next < len(m.text) && !utf8.RuneStart(m.text[m.next]) {
			m.next++
		}
		found = m.matchAt(start)
	}
	if m.err == nil {
		m.flush()
	}
	return found && m.err == nil, m.err
}

// forget empties the registers.
func (m *machine) forget() {
	for i := range m.registers {
		m.registers[i] = none
	}
}

// candidate returns the first place from another one on where a match may begin, or none.
func (m *machine) candidate(from int) int {
	switch {
	case from > len(m.text), m.anchored && from > 0:
		return none
	case m.anchored:
		return from
	case m.prefix != "":
		return m.nextPrefix(from)
	case m.first != nil:
		return m.nextFirst(from)
	default:
		return from
	}
}

// nextPrefix returns where the text that every match begins with stands next.
func (m *machine) nextPrefix(from int) int {
	skipped := strings.Index(m.text[from:], m.prefix)
	if skipped < 0 {
		m.spend(len(m.text) - from)
		return none
	}
	m.spend(skipped)
	return from + skipped
}

// nextFirst returns where a character stands next that a match can begin with.
func (m *machine) nextFirst(from int) int {
	for at := from; at < len(m.text); {
		length := 1
		if c := m.text[at]; c < utf8.RuneSelf {
			if m.first.ascii[c/64]>>(c%64)&1 == 1 {
				m.spend(2 * (at - from))
				return at
			}
		} else {
			var r rune
			if r, length = utf8.DecodeRuneInString(m.text[at:]); m.first.set.has(r) {
				m.spend(2 * (at - from))
				return at
			}
		}
		at += length
	}
	m.spend(2 * (len(m.text) - from))
	return none
}

// matchAt tries to match at one place, and reports whether it could.
func (m *machine) matchAt(start int) bool {
	m.pc, m.pos = 0, start
	for m.err == nil && start <= m.last {
		step := m.code[m.pc]
		m.pc++
		m.spend(stepWork)
		if !step.step(m) && !m.backtrack() {
			return false
		}
		if m.pc == none {
			return m.err == nil
		}
	}
	return false
}

// spend counts work, and charges it from time to time.
func (m *machine) spend(work int) {
	m.work += work
	if m.work >= batch {
		m.flush()
	}
}

// flush charges the work that was counted.
func (m *machine) flush() {
	if err := m.pay(m.work); err != nil && m.err == nil {
		m.err = err
	}
	m.done += m.work
	m.work = 0
	m.bound()
}

// pay charges work, of a trial what it has left.
func (m *machine) pay(work int) error {
	if m.trial == unbounded {
		return m.charge(work)
	}
	if m.trial -= work; m.trial < 0 {
		m.trial = 0
		return errNoTrial
	}
	return m.charge(work)
}

// push adds an entry to the stack.
func (m *machine) push(kind entryKind, a, b, c int) {
	if len(m.stack) == maxStack {
		m.err = errTooDeep
		return
	}
	m.stack = append(m.stack, entry{kind: kind, a: int32(a), b: int32(b), c: int32(c)})
}

// set sets a register, and notes what it was.
func (m *machine) set(register, value int) {
	if old := m.registers[register]; old != value {
		m.push(registerEntry, register, old, 0)
		m.registers[register] = value
	}
}

// backtrack goes back to the last choice, and reports whether there is one.
func (m *machine) backtrack() bool {
	for len(m.stack) > 0 && m.err == nil {
		m.spend(1)
		last := len(m.stack) - 1
		e := m.stack[last]
		m.stack = m.stack[:last]
		switch e.kind {
		case choiceEntry:
			m.pc, m.pos = int(e.a), int(e.b)
			return true
		case greedyEntry:
			m.oneLess(e)
			return true
		case lazyEntry:
			if m.oneMore(e) {
				return true
			}
		case verbEntry:
			m.giveUp(verbKind(e.a), int(e.b))
			return false
		default:
			m.undo(e)
		}
	}
	return false
}

// undo takes back what an entry notes, which is no choice.
func (m *machine) undo(e entry) {
	if e.kind == registerEntry {
		m.registers[e.a] = int(e.b)
	}
	if e.kind == frameEntry {
		m.frame = int(e.a)
		for _, dropped := range m.frames[e.b:] {
			m.saved -= len(dropped.registers)
		}
		m.frames = m.frames[:e.b]
	}
}

// unwind takes back everything above a height of the stack.
func (m *machine) unwind(height int) {
	m.spend(len(m.stack) - height)
	for len(m.stack) > height {
		last := len(m.stack) - 1
		m.undo(m.stack[last])
		m.stack = m.stack[:last]
	}
}

// cut forgets the choices above a height of the stack, and keeps what is to be taken back.
func (m *machine) cut(height int) {
	m.spend(len(m.stack) - height)
	kept := m.stack[:height]
	for _, e := range m.stack[height:] {
		if e.kind == registerEntry || e.kind == frameEntry {
			kept = append(kept, e)
		}
	}
	m.stack = kept
}

// oneLess goes on behind a run with one character less.
func (m *machine) oneLess(e entry) {
	_, length := utf8.DecodeLastRuneInString(m.text[:e.b])
	m.pc, m.pos = int(e.a)+1, int(e.b)-length
	if m.pos > int(e.c) {
		m.push(greedyEntry, int(e.a), m.pos, int(e.c))
	}
}

// oneMore takes one character more for a run, and reports whether it could.
func (m *machine) oneMore(e entry) bool {
	run, _ := m.code[e.a].(*runStep)
	m.pc, m.pos = int(e.a), int(e.b)
	if e.c == 0 || run == nil || !run.set.step(m) {
		return false
	}
	m.pc = int(e.a) + 1
	left := int(e.c)
	if left != unbounded {
		left--
	}
	m.push(lazyEntry, int(e.a), m.pos, left)
	return true
}

// giveUp does what a verb says, and takes back all that was done from this start on.
func (m *machine) giveUp(kind verbKind, pos int) {
	switch kind {
	case skip:
		m.next = max(m.next, pos)
	case commit:
		m.next = len(m.text) + 1
	case prune:
	}
	m.unwind(0)
}
