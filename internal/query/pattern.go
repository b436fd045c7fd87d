package query

import (
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

const (
	// maxPattern is the maximum length of a pattern in bytes, as in MongoDB.
	maxPattern = 32764
	// maxInstructions is the maximum number of instructions of all patterns in a filter, or in the expressions of a
	// projection. They need about 20 MiB.
	maxInstructions = 100_000
	// rangesAlike is the number of range ends in a character class that need as much memory as an instruction.
	// foldsAlike is the number of characters whose other cases are found in the time to compile one.
	rangesAlike = 8
	foldsAlike  = 8
)

// The work of matching a text: patternMatchWork, and the work of a step for each instruction and byte. The
// regexp package does not report its work, so the worst case is charged. A program of up to smallProgram
// instructions stays in the processor's cache. It is charged less than the worst case, so that searching a
// store for a word succeeds.
const (
	patternMatchWork = 1 << 6
	smallProgram     = 32
	smallStepWork    = 4
	largeStepWork    = 24
)

// pattern is a pattern in MongoDB's syntax, compiled for Go's regexp package, which matches in linear time. It is
// safe for concurrent use.
type pattern struct {
	re *regexp.Regexp
	// behind matches a text that starts one character before the start of the search. Its first group is the match.
	behind func() *regexp.Regexp
	// groups are the numbers in re of the match and of the groups of the source. Other groups capture a final newline
	// that $ excludes.
	groups []int
	// size is approximately the number of instructions. compileSize also counts the work of finding other cases.
	size, compileSize int
	// prefix is a text with which every match starts. If isAnchored is true, the whole text starts with it.
	prefix     string
	isAnchored bool
	// isPlain is true if the pattern consists only of the prefix.
	isPlain bool
	// emptyLoops is true if a repetition may match an empty text. The captures of its groups then differ from
	// MongoDB's.
	emptyLoops bool
}

func compilePattern(source, options string) (*pattern, error) {
	if len(source) > maxPattern {
		return nil, boterr.Invalid("", "the pattern has %d bytes, at most %d are allowed", len(source), maxPattern)
	}
	if strings.ContainsRune(source, 0) {
		return nil, boterr.Invalid("", "the pattern contains a NUL byte")
	}
	const known = "imsxu" // Patterns are always UTF-8, so the option u changes nothing.
	if strange := strings.Trim(options, known); strange != "" {
		return nil, boterr.Invalid("", "%q is not an option; i, m, s, x and u are", strange)
	}
	t, err := translatePattern(source, options)
	if err != nil {
		return nil, err
	}
	translated := t.out.String()
	tree, err := syntax.Parse(translated, syntax.Perl)
	if err != nil {
		return nil, invalidPattern(err)
	}
	p := &pattern{groups: t.groups}
	if err := p.inspect(tree, nothingFollows); err != nil {
		return nil, err
	}
	if p.size = sizeOfPattern(tree); p.size > maxInstructions/2 {
		return nil, boterr.Invalid("", "the pattern needs more than %d instructions: repeat less", maxInstructions/2)
	}
	p.compileSize = p.size + t.folded/foldsAlike
	if p.re, err = regexp.Compile(translated); err != nil {
		return nil, invalidPattern(err)
	}
	p.behind = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + translated + `)`)
	})
	p.readPrefix(tree)
	return p, nil
}

// countInstructions adds a pattern's instructions to the total. It returns an error if there are too many.
func countInstructions(counted *costs, p *pattern) error {
	if counted.instructions += p.compileSize; counted.instructions > maxInstructions {
		return boterr.Invalid("", "the patterns need more than %d instructions together: use fewer", maxInstructions)
	}
	return nil
}

// followers is the kind of syntax that follows a part of a pattern.
type followers int

const (
	nothingFollows followers = iota
	perhapsNothing
	textFollows
)

// inspect refuses patterns that would match differently than on MongoDB: $ before other parts, if MongoDB could
// match a final newline, and ^ with the option m before a part that may be empty, since on MongoDB no line
// begins after a final newline. It also records whether a repeated part may be empty.
func (p *pattern) inspect(tree *syntax.Regexp, behind followers) error {
	switch {
	case tree.Op == syntax.OpEndText && tree.Flags&syntax.WasDollar != 0 && behind != nothingFollows:
		return unsupportedPattern("$ or \\Z before other parts", `write \z, or \n for a newline`)
	case tree.Op == syntax.OpBeginLine && behind != textFollows:
		return unsupportedPattern("^ with the option m before a part that may be empty", `write \A or \n in its place, or + for *`)
	case tree.Op == syntax.OpStar, tree.Op == syntax.OpPlus, tree.Op == syntax.OpRepeat && tree.Max != 1:
		p.emptyLoops = p.emptyLoops || mayBeEmpty(tree.Sub[0])
		behind = max(behind, perhapsNothing)
	}
	for _, part := range slices.Backward(tree.Sub) {
		if err := p.inspect(part, behind); err != nil {
			return err
		}
		if tree.Op == syntax.OpConcat {
			behind = max(behind, perhapsNothing)
			if !mayBeEmpty(part) {
				behind = textFollows
			}
		}
	}
	return nil
}

func mayBeEmpty(tree *syntax.Regexp) bool {
	switch tree.Op {
	case syntax.OpLiteral, syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpNoMatch:
		return false
	case syntax.OpPlus, syntax.OpCapture:
		return mayBeEmpty(tree.Sub[0])
	case syntax.OpRepeat:
		return tree.Min == 0 || mayBeEmpty(tree.Sub[0])
	case syntax.OpConcat:
		return !slices.ContainsFunc(tree.Sub, func(part *syntax.Regexp) bool { return !mayBeEmpty(part) })
	case syntax.OpAlternate:
		return slices.ContainsFunc(tree.Sub, mayBeEmpty)
	default:
		return true
	}
}

// sizeOfPattern estimates the number of instructions of a pattern before compiling it.
func sizeOfPattern(tree *syntax.Regexp) int {
	var size int
	switch tree.Op {
	case syntax.OpLiteral:
		size = len(tree.Rune)
	case syntax.OpCharClass:
		size = 1 + len(tree.Rune)/rangesAlike
	default:
		size = 1
	}
	for _, part := range tree.Sub {
		size += sizeOfPattern(part)
	}
	if tree.Op == syntax.OpRepeat {
		size *= max(tree.Min, tree.Max, 1)
	}
	return size
}

func (p *pattern) readPrefix(tree *syntax.Regexp) {
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		p.isAnchored, parts = true, parts[1:]
	}
	if len(parts) > 0 && parts[0].Op == syntax.OpLiteral && parts[0].Flags&syntax.FoldCase == 0 {
		p.prefix = string(parts[0].Rune)
		p.isPlain = len(parts) == 1
	}
}

// indexPrefix returns the prefix of every matching string, possibly "".
func (p *pattern) indexPrefix() string {
	if p.isAnchored {
		return p.prefix
	}
	return ""
}

func (p *pattern) byteWork() int {
	return min(p.size, smallProgram)*smallStepWork + max(p.size-smallProgram, 0)*largeStepWork
}

// match reports whether a text matches. It charges for the whole text in advance.
func (p *pattern) match(text string, charge func(work int) error) (bool, error) {
	if err := charge(patternMatchWork + len(p.prefix)/bytesOfWork); err != nil {
		return false, err
	}
	from := 0
	if p.isAnchored {
		if !strings.HasPrefix(text, p.prefix) || p.isPlain {
			return strings.HasPrefix(text, p.prefix), nil
		}
	} else if p.prefix != "" {
		if err := charge(len(text) / bytesOfWork); err != nil {
			return false, err
		}
		if from = strings.Index(text, p.prefix); from < 0 || p.isPlain {
			return from >= 0, nil
		}
	}
	if err := charge(p.byteWork() * (len(text) - from)); err != nil {
		return false, err
	}
	return p.re.MatchString(text), nil
}

// find returns the first match that begins at or after a position of the text: the start and end of the match
// and of each group in bytes, or -1 for groups without a capture. It returns nil if nothing matches. It charges
// for each character that it reads.
func (p *pattern) find(text string, from int, charge func(work int) error) ([]int, error) {
	if p.emptyLoops {
		return nil, unsupportedPattern("a repetition of a part that may be empty",
			"repeat something that is never empty; $regexMatch and $regex take such patterns")
	}
	if err := charge(patternMatchWork); err != nil {
		return nil, err
	}
	re, start, first := p.re, from, 0
	if from > 0 {
		_, length := utf8.DecodeLastRuneInString(text[:from])
		re, start, first = p.behind(), from-length, 1
	}
	reader := &chargedReader{text: text[start:], charge: charge, work: p.byteWork()}
	found := re.FindReaderSubmatchIndex(reader)
	if found == nil || reader.err != nil {
		return nil, reader.err
	}
	end := len(text)
	match := make([]int, 0, 2*len(p.groups))
	for group := range len(found)/2 - first {
		if !slices.Contains(p.groups, group) && found[2*(group+first)] >= 0 {
			end-- // A $ took the final newline, which is not part of the match.
		}
	}
	for _, group := range p.groups {
		for _, place := range found[2*(group+first):][:2] {
			if place >= 0 {
				place = min(place+start, end)
			}
			match = append(match, place)
		}
	}
	return match, nil
}

// chargedReader reads a text and charges for each character. It ends when the budget is used up.
type chargedReader struct {
	text   string
	charge func(work int) error
	work   int
	err    error
}

func (r *chargedReader) ReadRune() (c rune, length int, err error) {
	if r.text == "" {
		return 0, 0, io.EOF
	}
	if r.err = r.charge(r.work); r.err != nil {
		return 0, 0, r.err
	}
	c, length = utf8.DecodeRuneInString(r.text)
	r.text = r.text[length:]
	return c, length, nil
}

func (c filterCompiler) regexCondition(operand any, siblings document.Object) ([]fieldCondition, error) {
	pattern, ok := operand.(string)
	if !ok {
		return nil, document.WrongType("string", operand)
	}
	options := ""
	if given, ok := siblings.Field("$options"); ok {
		if options, ok = given.(string); !ok {
			return nil, boterr.Invalid("", "$options must be a string, got %s", document.Excerpt(given))
		}
	}
	compiled, err := compilePattern(pattern, options)
	if err != nil {
		return nil, err
	}
	if err := countInstructions(c.costs, compiled); err != nil {
		return nil, err
	}
	return one(likePattern{compiled}), nil
}

// optionsCondition checks that $options has a $regex in the same object.
func optionsCondition(siblings document.Object) ([]fieldCondition, error) {
	if _, ok := siblings.Field("$regex"); !ok {
		return nil, boterr.Invalid("", "$options needs a $regex in the same object")
	}
	return nil, nil
}
