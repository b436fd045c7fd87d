package script

import (
	"io"
	"reflect"
	"regexp"
	"regexp/syntax"
	"slices"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// Nothing interrupts the engine of patterns while it looks for all matches, and a pattern may read the rest of the
// text for each of them: <[^>]*>|< does in a text of many <, for hours where it has a million. So what can take
// long is tried here first, by the same engine, match after match, until there is none or the script is interrupted.
// What has ended here in time ends there as well.

const (
	// longSearch is the number of characters of a text times those of a pattern, from which on all matches are
	// tried before.
	longSearch = 10_000
	// longSingle is that number where one match is looked for, which takes a time with the number itself.
	longSingle = 10_000_000
)

// pattern is what a regular expression of a script is in the engine, whatever the script has made of its fields.
type pattern struct {
	source                                string
	global, ignoreCase, multiline, dotAll bool
	unicode                               bool
	// isStandard tells that all of its matches are looked for in one step, and not by its method exec.
	isStandard bool
}

// patternOf returns what a regular expression is, and whether it is one.
func patternOf(value goja.Value) (p pattern, isPattern bool) {
	switch value := value.(type) {
	case goja.String: // As which methods take it.
		return pattern{source: value.String()}, true
	case *goja.Object:
		if value.ClassName() != "RegExp" {
			return p, false
		}
		// The engine tells it by methods alone that a script may have put others in the place of.
		object := reflect.ValueOf(value).Elem().FieldByName("self").Elem().Elem()
		kept := object.FieldByName("pattern")
		if !kept.IsValid() {
			return p, false // RegExp.prototype, or a stand-in for a pattern.
		}
		kept = kept.Elem()
		is := func(flag string) bool { return kept.FieldByName(flag).Bool() }
		return pattern{
			source: kept.FieldByName("src").String(), isStandard: object.FieldByName("standard").Bool() && hasStandardMethods(object),
			global: is("global"), ignoreCase: is("ignoreCase"), multiline: is("multiline"), dotAll: is("dotAll"),
			unicode: is("unicode"),
		}, true
	default:
		return p, false
	}
}

// hasStandardMethods reports whether a regular expression inherits from RegExp.prototype, and that is as it was.
func hasStandardMethods(object reflect.Value) bool {
	prototype := object.FieldByName("prototype")
	return !prototype.IsNil() && prototype.Elem().FieldByName("self").Elem().Type().String() == "*goja.guardedObject"
}

// tryAll tries the search for all matches of a pattern in a text, where it may take long: methods of texts may ask
// for all even where the pattern is not global, as split does.
func (r *run) tryAll(value, in goja.Value, isSplit bool) {
	p, isPattern := patternOf(value)
	text, isText := in.(goja.String)
	if !isPattern || !isText {
		return
	}
	_, isObject := value.(*goja.Object)
	work := max(len(p.source), 10) * text.Length()
	switch {
	case !isObject || !p.global && !isSplit:
		r.trySingle(p, text, work)
	case work < longSearch:
	case !p.isStandard:
		r.install(r.engine.guards["exec"])
	default:
		r.trying(p, text).count()
	}
}

// trySingle tries the search for the first match.
func (r *run) trySingle(p pattern, text goja.String, work int) {
	if work >= longSingle {
		r.trying(p, text).next()
	}
}

// search is one for the matches of a pattern, which an interruption of the script ends.
type search interface {
	// next finds the next match, and reports whether there is one.
	next() bool
}

// trial is a search under way.
type trial struct {
	run *run
	search
}

// count finds all matches, and returns their number.
func (t trial) count() (found float64) {
	for t.next() {
		found++
	}
	return found
}

// next finds the next match. It throws where the script was interrupted.
func (t trial) next() bool {
	found := t.search.next()
	t.run.stopIfInterrupted()
	return found
}

// trying begins the search that the engine would make: by Go's regexp where it can.
func (r *run) trying(p pattern, text goja.String) trial {
	if isASCII := text.Length() == len(text.String()); isASCII || p.unicode {
		if inGo := compileInGo(p); inGo != nil {
			return trial{r, &linearSearch{pattern: inGo, later: laterOf(inGo), text: text.String(), run: r, ended: -1}}
		}
	}
	tried, err := regexp2.Compile(p.source, p.options())
	if err != nil {
		r.tooLargef("a text of %d characters is too long for this regular expression", text.Length())
	}
	return trial{r, &backtracking{run: r, pattern: tried, text: unitsOf(text)}}
}

// compileInGo returns the pattern as one of Go, nil where that is not possible.
func compileInGo(p pattern) *regexp.Regexp {
	source, err := parser.TransformRegExp(p.source, p.dotAll, p.unicode)
	if err != nil {
		return nil
	}
	for flag, isSet := range map[string]bool{"m": p.multiline, "s": p.dotAll, "i": p.ignoreCase} {
		if isSet {
			source = "(?" + flag + ":" + source + ")"
		}
	}
	compiled, err := regexp.Compile(source)
	if err != nil {
		return nil
	}
	return compiled
}

// linearSearch looks for matches with Go's regexp, which reads a text once for each match at most.
type linearSearch struct {
	run     *run
	pattern *regexp.Regexp
	// later finds matches behind the first character of what it is given, nil where the pattern does not ask what
	// stands before a match.
	later *regexp.Regexp
	text  string
	// from is where the next match may begin, and ended where the last one ended, -1 before the first.
	from, ended int
}

// laterOf returns the pattern that finds matches behind the first character: by it the pattern sees what stands
// before the match.
func laterOf(p *regexp.Regexp) *regexp.Regexp {
	if parsed, err := syntax.Parse(p.String(), syntax.Perl); err == nil && !asksBefore(parsed) {
		return nil
	}
	return regexp.MustCompile(`\A(?s:.)(?s:.*?)(` + p.String() + `)`)
}

// asksBefore reports whether a pattern asks what stands before a match.
func asksBefore(p *syntax.Regexp) bool {
	asking := []syntax.Op{syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary}
	return slices.Contains(asking, p.Op) || slices.ContainsFunc(p.Sub, asksBefore)
}

func (s *linearSearch) next() bool {
	if s.from > len(s.text) {
		return false
	}
	begin, end := s.find()
	if begin < 0 {
		return false
	}
	before := s.ended
	s.from, s.ended = end, end
	if begin < end {
		return true
	}
	_, size := utf8.DecodeRuneInString(s.text[end:])
	s.from += max(size, 1)
	return begin > before || s.next() // The engine leaves out an empty match right behind another one.
}

// find returns the place of the next match, or -1.
func (s *linearSearch) find() (begin, end int) {
	if s.from == 0 || s.later == nil {
		if at := s.pattern.FindReaderIndex(s.reader(s.from)); at != nil {
			return s.from + at[0], s.from + at[1]
		}
		return -1, -1
	}
	_, size := utf8.DecodeLastRuneInString(s.text[:s.from])
	if at := s.later.FindReaderSubmatchIndex(s.reader(s.from - size)); at != nil {
		return s.from - size + at[2], s.from - size + at[3]
	}
	return -1, -1
}

func (s *linearSearch) reader(from int) io.RuneReader {
	return &interruptedReader{s.run, s.text[from:]}
}

// interruptedReader reads a text, which ends where the script is interrupted.
type interruptedReader struct {
	run  *run
	rest string
}

// ReadRune implements io.RuneReader.
func (r *interruptedReader) ReadRune() (char rune, size int, err error) {
	if r.rest == "" || r.run.isInterrupted.Load() {
		return 0, 0, io.EOF
	}
	char, size = utf8.DecodeRuneInString(r.rest)
	r.rest = r.rest[size:]
	return char, size, nil
}

// backtracking looks for matches back and forth, each for as long as longestMatch.
type backtracking struct {
	run     *run
	pattern *regexp2.Regexp
	text    []rune
	found   *regexp2.Match
}

// options are the flags of the pattern.
func (p pattern) options() regexp2.RegexOptions {
	options := regexp2.ECMAScript
	for option, isSet := range map[regexp2.RegexOptions]bool{
		regexp2.Multiline: p.multiline, regexp2.Singleline: p.dotAll, regexp2.IgnoreCase: p.ignoreCase, regexp2.Unicode: p.unicode,
	} {
		if isSet {
			options |= option
		}
	}
	return options
}

// unitsOf returns the UTF-16 of a text, each unit as a character.
func unitsOf(text goja.String) []rune {
	units := make([]rune, text.Length())
	for i := range units {
		units[i] = rune(text.CharAt(i))
	}
	return units
}

func (b *backtracking) next() bool {
	var err error
	if b.found == nil {
		b.found, err = b.pattern.FindRunesMatch(b.text)
	} else {
		b.found, err = b.pattern.FindNextMatch(b.found)
	}
	if err != nil {
		b.run.tooLargef("a regular expression was tried for %v: one without look-around, back-references and repetitions "+
			"of repetitions takes no time", longestMatch)
	}
	return b.found != nil
}
