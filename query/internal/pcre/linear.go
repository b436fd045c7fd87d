package pcre

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// linearWriter writes a pattern for Go's regexp package, RE2, which matches in linear time. It
// spells out all characters and assertions, so that no options are needed.
type linearWriter struct {
	text strings.Builder
	// finalNewline tells that RE2 and PCRE2 differ on where a text ends that ends in a newline.
	finalNewline bool
	// emptyLoops tells that a repetition may match the empty text. RE2 then finds a match where
	// PCRE2 does, but perhaps a longer one.
	emptyLoops bool
	// size is about the number of instructions that RE2 will need.
	size int
}

// maxLinear is the most instructions of a pattern that RE2 matches.
const maxLinear = 5000

func (w *linearWriter) write(text string) { w.text.WriteString(text) }

// grow counts instructions, and reports whether RE2 shall match so many.
func (w *linearWriter) grow(count int) bool {
	w.size += count
	return w.size <= maxLinear
}

func (l literal) linear(w *linearWriter) bool {
	w.write(regexp.QuoteMeta(string(l)))
	return w.grow(len(l))
}

func (s sequence) linear(w *linearWriter) bool {
	for _, part := range s {
		if !grouped(part, w) {
			return false
		}
	}
	return true
}

// grouped writes a part that alternatives are kept apart in.
func grouped(part node, w *linearWriter) bool {
	if _, ok := part.(alternatives); !ok {
		return part.linear(w)
	}
	return enclosed(part, w, "(?:")
}

// enclosed writes a part in a group.
func enclosed(part node, w *linearWriter, opening string) bool {
	w.write(opening)
	ok := part.linear(w)
	w.write(")")
	return ok
}

func (a alternatives) linear(w *linearWriter) bool {
	for i, one := range a {
		if i > 0 {
			w.write("|")
		}
		if !grouped(one, w) || !w.grow(1) {
			return false
		}
	}
	return true
}

func (one character) linear(w *linearWriter) bool {
	switch {
	case slices.Equal(one.set, anyCharacter):
		w.write("(?s:.)")
	case slices.Equal(one.set, anyButNewline):
		w.write("(?-s:.)")
	case len(one.set) == 0:
		w.write(`[^\x{0}-\x{10ffff}]`)
	default:
		w.write("[")
		for i := 0; i < len(one.set); i += 2 {
			w.write(fmt.Sprintf(`\x{%x}-\x{%x}`, one.set[i], one.set[i+1]))
		}
		w.write("]")
	}
	return w.grow(1)
}

func (r repeat) linear(w *linearWriter) bool {
	if r.kind == possessive {
		return false
	}
	before := w.size
	if !enclosed(r.body, w, "(?:") {
		return false
	}
	copies := max(r.least, r.most, 1)
	if !w.grow((w.size-before)*(copies-1) + copies) {
		return false
	}
	least, _ := r.body.width()
	w.emptyLoops = w.emptyLoops || least == 0
	w.write("{" + strconv.Itoa(r.least) + ",")
	if r.most != unbounded {
		w.write(strconv.Itoa(r.most))
	}
	w.write("}")
	if r.kind == lazy {
		w.write("?")
	}
	return true
}

func (g capture) linear(w *linearWriter) bool { return enclosed(g.body, w, "(") }

func (kind assertion) linear(w *linearWriter) bool {
	place, ok := linearPlaces[kind]
	w.write(place)
	w.finalNewline = w.finalNewline || kind == lastLineEnd || kind == lineStart
	return ok && w.grow(1)
}

// linearPlaces are the places that RE2 knows.
var linearPlaces = map[assertion]string{
	textStart: `\A`, lineStart: `(?m:^)`, textEnd: `\z`, lastLineEnd: `\z`, lineEnd: `(?m:$)`, wordEdge: `\b`, noWordEdge: `\B`,
}

func (never) linear(w *linearWriter) bool     { return character{}.linear(w) }
func (atomic) linear(*linearWriter) bool      { return false }
func (look) linear(*linearWriter) bool        { return false }
func (reference) linear(*linearWriter) bool   { return false }
func (call) linear(*linearWriter) bool        { return false }
func (conditional) linear(*linearWriter) bool { return false }
func (groupTest) linear(*linearWriter) bool   { return false }
func (callTest) linear(*linearWriter) bool    { return false }
func (accept) linear(*linearWriter) bool      { return false }
func (keep) linear(*linearWriter) bool        { return false }
func (verb) linear(*linearWriter) bool        { return false }
