package pcre

import (
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// maxInstructions is the most instructions of a program, which is about 4 MiB.
const maxInstructions = 100_000

// program is a pattern as instructions for the machine.
type program struct {
	code []instruction
	// registers are those of the groups, two each, and those that instructions use.
	registers int
	// ranges are the ends of the ranges of all classes of characters.
	ranges int
	// prefix is a text that every match begins with.
	prefix string
	// anchored tells that a match begins where the text does.
	anchored bool
	// first are the characters that a match can begin with, nil where they cannot be told.
	first *setStep
	// pieces returns what every match takes, one behind the other.
	pieces func() []piece
}

// compiler writes a program.
type compiler struct {
	code      []instruction
	registers int
	ranges    int
	// groups are the captures by their numbers, and all of the pattern as 0.
	groups map[int]node
	// calls are the calls of groups, and routines where the code for them begins.
	calls    []*callStep
	routines map[int]int
	// open are the captures around what is compiled.
	open []openCapture
	// accepts tells that a match may end before the end of the pattern.
	accepts bool
	err     error
}

// openCapture is a capture, and the register for where it began.
type openCapture struct{ number, register int }

// compileProgram writes the program of a pattern with so many groups.
func compileProgram(root node, groups int) (*program, error) {
	c := &compiler{registers: 2 * (groups + 1), groups: map[int]node{0: root}, routines: map[int]int{}}
	c.emit(saveStep{0})
	root.compile(c)
	c.emit(saveStep{1}, acceptStep{})
	for i := 0; i < len(c.calls) && c.err == nil; i++ {
		c.routine(c.calls[i])
	}
	if c.err != nil {
		return nil, c.err
	}
	p := &program{code: c.code, registers: c.registers, ranges: c.ranges}
	p.prefix, p.anchored = beginning(root)
	if first, ok := firstOf(root); ok {
		p.first = newSetStep(first)
	}
	p.pieces = sync.OnceValue(func() []piece {
		if c.accepts {
			return nil
		}
		return piecesOf(root)
	})
	return p, nil
}

// routine points a call at the code for its group, which is written once.
func (c *compiler) routine(one *callStep) {
	to, ok := c.routines[one.group]
	if !ok {
		to = c.here()
		c.routines[one.group] = to
		c.open = nil
		c.groups[one.group].compile(c)
		c.emit(returnStep{})
	}
	one.to = to
}

// emit adds instructions, unless they are too many.
func (c *compiler) emit(steps ...instruction) {
	if len(c.code)+len(steps) > maxInstructions {
		c.err = boterr.Invalid("", "the pattern needs more than %d instructions: repeat less", maxInstructions)
		return
	}
	c.code = append(c.code, steps...)
}

// here is where the next instruction stands.
func (c *compiler) here() int { return len(c.code) }

// register returns the first of so many new registers.
func (c *compiler) register(count int) int {
	first := c.registers
	c.registers += count
	return first
}

// beginning returns a text that every match of a pattern begins with, and whether it
// begins where the text does.
func beginning(root node) (prefix string, anchored bool) {
	parts, ok := root.(sequence)
	if !ok {
		parts = sequence{root}
	}
	for len(parts) > 0 && parts[0] == node(textStart) {
		anchored = true
		parts = parts[1:]
	}
	if len(parts) > 0 {
		text, _ := parts[0].(literal)
		prefix = string(text)
	}
	return prefix, anchored
}

func (l literal) compile(c *compiler) { c.emit(textStep{string(l)}) }

func (s sequence) compile(c *compiler) {
	for i, part := range s {
		if i+1 < len(s) {
			part = autoPossessive(part, s[i+1])
		}
		part.compile(c)
	}
}

func (a alternatives) compile(c *compiler) {
	var ends []*jumpStep
	for _, one := range a[:len(a)-1] {
		split := &splitStep{}
		c.emit(split)
		one.compile(c)
		end := &jumpStep{}
		c.emit(end)
		ends = append(ends, end)
		split.otherwise = c.here()
	}
	a[len(a)-1].compile(c)
	for _, end := range ends {
		end.to = c.here()
	}
}

func (one character) compile(c *compiler) { c.emit(c.setStep(one.set)) }

func (c *compiler) setStep(characters set) *setStep {
	c.ranges += len(characters)
	return newSetStep(characters)
}

func (r repeat) compile(c *compiler) {
	if r.most == 0 { // What it holds may be called all the same.
		over := &jumpStep{}
		c.emit(over)
		r.body.compile(c)
		over.to = c.here()
		return
	}
	if set, ok := singleOf(r.body); ok {
		c.emit(&runStep{set: c.setStep(set), least: r.least, most: r.most, kind: r.kind})
		return
	}
	if r.kind == possessive {
		atomic{repeat{body: r.body, least: r.least, most: r.most}}.compile(c)
		return
	}
	loop := &loopStep{register: c.register(2), least: r.least, most: r.most, lazy: r.kind == lazy}
	c.emit(loopStartStep{loop.register})
	begin := c.here()
	c.emit(loop, iterateStep{loop.register})
	r.body.compile(c)
	c.emit(&jumpStep{begin})
	loop.exit = c.here()
}

// singleOf returns the set of a node that takes one character always.
func singleOf(body node) (set, bool) {
	switch body := body.(type) {
	case character:
		return body.set, true
	case literal:
		if runes := []rune(string(body)); len(runes) == 1 {
			return set{runes[0], runes[0]}, true
		}
	}
	return nil, false
}

func (g capture) compile(c *compiler) {
	if c.groups[g.number] == nil {
		c.groups[g.number] = g
	}
	group := openCapture{number: g.number, register: c.register(1)}
	c.open = append(c.open, group)
	c.emit(saveStep{group.register})
	g.body.compile(c)
	c.emit(closeStep(group))
	c.open = c.open[:len(c.open)-1]
}

func (a atomic) compile(c *compiler) {
	register := c.register(2)
	c.emit(markStep{register})
	a.body.compile(c)
	c.emit(cutStep{register})
}

func (l look) compile(c *compiler) {
	register := c.register(2)
	c.emit(markStep{register})
	if !l.negative {
		l.inside(c)
		c.emit(cutStep{register}, returnToStep{register})
		return
	}
	split := &splitStep{}
	c.emit(split)
	l.inside(c)
	c.emit(unwindStep{register}, failStep{})
	split.otherwise = c.here()
}

// inside writes what look-around looks for. Each alternative of a look-behind begins so
// many characters further back as it is long.
func (l look) inside(c *compiler) {
	if !l.behind {
		l.body.compile(c)
		return
	}
	list, ok := l.body.(alternatives)
	if !ok {
		list = alternatives{l.body}
	}
	behind := make(alternatives, 0, len(list))
	for _, one := range list {
		length, _ := one.width()
		behind = append(behind, sequence{back(length), one})
	}
	behind.compile(c)
}

// back goes back so many characters.
type back int

func (b back) compile(c *compiler)         { c.emit(backStep(b)) }
func (back) linear(*linearWriter) bool     { return false }
func (b back) width() (least, most int)    { return 0, 0 }
func (r reference) compile(c *compiler)    { c.emit(referenceStep(r)) }
func (never) compile(c *compiler)          { c.emit(failStep{}) }
func (keep) compile(c *compiler)           { c.emit(saveStep{0}) }
func (v verb) compile(c *compiler)         { c.emit(verbStep(v)) }
func (kind assertion) compile(c *compiler) { c.emit(placeStep(kind)) }

func (t groupTest) compile(c *compiler) { c.emit(&groupTestStep{groups: t.groups}) }
func (t callTest) compile(c *compiler)  { c.emit(&callTestStep{groups: t.groups}) }

func (one call) compile(c *compiler) {
	step := &callStep{group: one.groups.numbers[0]}
	c.calls = append(c.calls, step)
	c.emit(step)
}

func (accept) compile(c *compiler) {
	c.accepts = true
	for _, group := range c.open {
		c.emit(closeStep(group))
	}
	c.emit(saveStep{1}, acceptStep{})
}

func (one conditional) compile(c *compiler) {
	no, end := &splitStep{}, &jumpStep{}
	if test, ok := one.test.(look); ok {
		one.compileLook(c, test)
		return
	}
	// A test that fails backs to the choice that stands before it.
	register := c.register(2)
	c.emit(markStep{register}, no)
	one.test.compile(c)
	c.emit(cutStep{register})
	one.yes.compile(c)
	c.emit(end)
	no.otherwise = c.here()
	one.no.compile(c)
	end.to = c.here()
}

// compileLook is compile where the test is look-around.
func (one conditional) compileLook(c *compiler, test look) {
	register, other, end := c.register(2), &splitStep{}, &jumpStep{}
	yes, no := one.yes, one.no
	c.emit(markStep{register}, other)
	test.inside(c)
	if test.negative {
		c.emit(unwindStep{register})
		yes, no = no, yes
	} else {
		c.emit(cutStep{register}, returnToStep{register})
	}
	yes.compile(c)
	c.emit(end)
	other.otherwise = c.here()
	no.compile(c)
	end.to = c.here()
}
