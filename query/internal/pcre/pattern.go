// Package pcre matches patterns as PCRE2 means them in UTF mode, whose patterns MongoDB
// takes.
//
// A machine tries what could match in its order. It counts what it does, and ends where the
// caller's budget does: the same pattern and text give the same outcome and the same work
// everywhere. Where it would do more than a usual pattern does for a text, and RE2 can say
// the pattern, Go's regexp package takes over, in linear time; look-around and
// back-references, for one, RE2 lacks.
//
// Not supported, and refused by name, are \C and \X, callouts, look-around that is entered
// again, the verb (*THEN) and verbs with names, other ends of lines than \n, and the
// properties of Unicode that Go's unicode package lacks.
package pcre

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// Pattern is a compiled pattern. It may be used by several goroutines at once.
type Pattern struct {
	root    node
	groups  int
	program *program
	// linear is the pattern for RE2, nil where RE2 cannot express it, and steps are its
	// instructions.
	linear *regexp.Regexp
	steps  int
	// finalNewline tells that linear cannot match texts that end in a newline, and emptyLoops that
	// it cannot tell what groups have captured.
	finalNewline, emptyLoops bool
	// machines are those that wait for a text.
	machines sync.Pool
}

// Compile reads a pattern with options, which are letters of imsx. A pattern that is not
// valid or not supported is InvalidArgument.
func Compile(source, options string) (*Pattern, error) {
	root, parsed, err := parse(source, flags{
		fold: strings.Contains(options, "i"), multiline: strings.Contains(options, "m"),
		dotAll: strings.Contains(options, "s"), extended: strings.Contains(options, "x"),
	})
	if err != nil {
		return nil, err
	}
	p := &Pattern{root: root, groups: parsed.most}
	if p.program, err = compileProgram(root, p.groups); err != nil {
		return nil, err
	}
	p.compileLinear()
	return p, nil
}

// compileLinear compiles the pattern for RE2, unless RE2 cannot express it or repeat as often.
func (p *Pattern) compileLinear() {
	w := &linearWriter{}
	if !p.root.linear(w) {
		return
	}
	parsed, err := syntax.Parse(w.text.String(), syntax.Perl)
	if err != nil {
		return
	}
	compiled, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(compiled.Inst) > maxLinear {
		return
	}
	if p.linear, err = regexp.Compile(w.text.String()); err == nil {
		p.steps, p.finalNewline, p.emptyLoops = len(compiled.Inst), w.finalNewline, w.emptyLoops
	}
}

// Size is the number of instructions of the pattern. A large class of characters counts as
// several.
func (p *Pattern) Size() int { return len(p.program.code) + p.program.ranges/rangesAlike + p.steps }

// rangesAlike are the ends of a class's ranges that take as much as an instruction.
const rangesAlike = 8

// Prefix returns the text that whatever matches begins with; empty where the pattern asks
// for none at the beginning of the text.
func (p *Pattern) Prefix() string {
	if !p.program.anchored {
		return ""
	}
	return p.program.prefix
}

// Match reports whether a text matches.
func (p *Pattern) Match(text string, charge Charge) (bool, error) {
	m := p.machine(text, charge)
	defer p.release(m)
	if !p.isLinear(text) {
		return m.find(0)
	}
	matches, decided, err := p.try(m)
	if decided || err != nil {
		return matches, err
	}
	return p.linear.MatchString(text), nil
}

// Find returns the first match from a place of the text on: the bytes where the match and
// each of its groups begin and end, -1 for groups that caught nothing. It is nil where
// nothing matches.
func (p *Pattern) Find(text string, from int, charge Charge) ([]int, error) {
	m := p.machine(text, charge)
	defer p.release(m)
	if from > 0 || p.emptyLoops || !p.isLinear(text) {
		found, err := m.find(from)
		if !found || err != nil {
			return nil, err
		}
		return p.groupsOf(m), nil
	}
	found, decided, err := p.try(m)
	switch {
	case err != nil, decided && !found:
		return nil, err
	case decided:
		return p.groupsOf(m), nil
	}
	return p.linear.FindStringSubmatchIndex(text), nil
}

// groupsOf returns what a machine has found.
func (p *Pattern) groupsOf(m *machine) []int {
	return slices.Clone(m.registers[:2*(p.groups+1)])
}

// maxKept is the most entries of a stack, and frames, that are kept for the next text.
const maxKept = 1 << 8

// machine returns a machine for a text: one that matched another text before, where there is
// one, since for short texts making it takes longer than the match.
func (p *Pattern) machine(text string, charge Charge) *machine {
	m, ok := p.machines.Get().(*machine)
	if !ok {
		return newMachine(p.program, text, charge)
	}
	m.begin(text, charge)
	return m
}

// release gives a machine back.
func (p *Pattern) release(m *machine) {
	if cap(m.stack) > maxKept || cap(m.frames) > maxKept {
		return
	}
	clear(m.frames[:cap(m.frames)])
	m.begin("", nil)
	p.machines.Put(m)
}

// isLinear reports whether RE2 matches a text as PCRE2 does.
func (p *Pattern) isLinear(text string) bool {
	return p.linear != nil && !(p.finalNewline && strings.HasSuffix(text, "\n"))
}
