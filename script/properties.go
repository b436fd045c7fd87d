package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// The engine of patterns below knows no \p{...}, and reads it as the letter p: it is written out as the ranges of
// characters that it means.

// longestWritten is how many bytes a pattern may have that was written out.
const longestWritten = 200_000

// writtenOut returns a pattern and its flags with each \p{...} and \P{...} written out, and the flag v as u. What
// has no such words is Unsupported or InvalidArgument.
func writtenOut(pattern, flags string) (plain, plainFlags string, err error) {
	if strings.Contains(flags, "d") {
		return "", "", boterr.New(boterr.Unsupported, "", "the flag d of patterns, by which matches tell indices, is not supported")
	}
	isSets := strings.Contains(flags, "v")
	if !isSets && !strings.Contains(flags, "u") {
		return pattern, flags, nil
	}
	written := &writing{left: pattern, isSets: isSets}
	for written.left != "" && written.err == nil {
		written.next()
	}
	if written.text.Len() > longestWritten {
		return "", "", boterr.New(boterr.ResourceExhausted, "", "the pattern names too many characters by \\p{...}")
	}
	return written.text.String(), strings.ReplaceAll(flags, "v", "u"), written.err
}

// writing is one walk through a pattern.
type writing struct {
	text    strings.Builder
	left    string
	isSets  bool
	inClass bool
	err     error
}

// next writes what comes next.
func (w *writing) next() {
	switch {
	case strings.HasPrefix(w.left, `\p{`), strings.HasPrefix(w.left, `\P{`):
		w.property()
	case w.isSets && (strings.HasPrefix(w.left, `\q`) || w.inClass && isOfSets(w.left)):
		w.err = boterr.New(boterr.Unsupported, "", "sets of sets in patterns (flag v: [..--..], [..&&..], [[..]], \\q{..}) are not supported")
	case w.left[0] == '\\' && len(w.left) > 1:
		_, size := utf8.DecodeRuneInString(w.left[1:])
		w.take(1 + size)
	default:
		if w.left[0] == '[' || w.left[0] == ']' {
			w.inClass = w.left[0] == '['
		}
		w.take(1)
	}
}

// isOfSets reports whether a class goes on as one of sets.
func isOfSets(left string) bool {
	return left[0] == '[' || strings.HasPrefix(left, "--") || strings.HasPrefix(left, "&&")
}

// take writes bytes as they are.
func (w *writing) take(size int) {
	w.text.WriteString(w.left[:size])
	w.left = w.left[size:]
}

// property writes out a \p{...}.
func (w *writing) property() {
	end := strings.IndexByte(w.left, '}')
	if end < 0 {
		w.err = boterr.Invalid("", "\\p{ in a pattern has no end")
		return
	}
	name, isNot := w.left[3:end], w.left[1] == 'P'
	spans, err := spansOf(name)
	if err != nil {
		w.err = err
		return
	}
	if isNot {
		spans = others(spans)
	}
	w.left = w.left[end+1:]
	if w.inClass {
		w.spans(spans)
		return
	}
	w.text.WriteByte('[')
	w.spans(spans)
	w.text.WriteByte(']')
}

// spans writes ranges of characters.
func (w *writing) spans(spans []span) {
	for _, s := range spans {
		w.character(s.first)
		if s.last > s.first {
			w.text.WriteByte('-')
			w.character(s.last)
		}
	}
}

// character writes a character of a class.
func (w *writing) character(r rune) {
	if r < utf8.RuneSelf {
		fmt.Fprintf(&w.text, `\x%02x`, r)
		return
	}
	w.text.WriteRune(r)
}

// span is a range of characters, its last one included.
type span struct{ first, last rune }

// spansOf returns the characters of a property as \p{...} names it.
func spansOf(name string) ([]span, error) {
	key, value, isPair := strings.Cut(name, "=")
	tables := []*unicode.RangeTable{}
	switch {
	case isPair && slices.Contains([]string{"Script", "sc", "Script_Extensions", "scx"}, key):
		tables = []*unicode.RangeTable{unicode.Scripts[longScript(value)]}
	case isPair && slices.Contains([]string{"General_Category", "gc"}, key):
		tables = []*unicode.RangeTable{category(value)}
	case !isPair:
		tables = tablesOf(name)
	}
	if len(tables) == 0 || slices.Contains(tables, nil) {
		return nil, unknownProperty(name)
	}
	var spans []span
	for _, table := range tables {
		spans = append(spans, spansIn(table)...)
	}
	return joined(spans), nil
}

// unknownProperty is the error of a property that is not known here.
func unknownProperty(name string) error {
	if strings.Contains(name, "Emoji") {
		return boterr.New(boterr.Unsupported, "", "\\p{%s} is not supported in patterns: \\p{Extended_Pictographic} has the pictures", name)
	}
	return boterr.Invalid("", "\\p{%s} is no property of characters that patterns know here", name)
}

// category returns a general category by either of its names, nil where there is none.
func category(name string) *unicode.RangeTable {
	if short, isLong := unicode.CategoryAliases[name]; isLong {
		name = short
	}
	return unicode.Categories[name]
}

// longScript returns the name of a script by its code of four letters, where it is a usual one.
func longScript(name string) string {
	long := map[string]string{
		"Arab": "Arabic", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Grek": "Greek", "Hang": "Hangul", "Hani": "Han",
		"Hebr": "Hebrew", "Hira": "Hiragana", "Kana": "Katakana", "Latn": "Latin", "Zinh": "Inherited", "Zyyy": "Common",
	}[name]
	if long == "" {
		return name
	}
	return long
}

// tablesOf returns the tables of a property that is true or false, nothing where it is not known.
func tablesOf(name string) []*unicode.RangeTable {
	if found := category(name); found != nil {
		return []*unicode.RangeTable{found}
	}
	start := []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_ID_Start}
	switch name {
	case "Any":
		return []*unicode.RangeTable{{R32: []unicode.Range32{{Lo: 0, Hi: unicode.MaxRune, Stride: 1}}}}
	case "ASCII":
		return []*unicode.RangeTable{{R16: []unicode.Range16{{Lo: 0, Hi: unicode.MaxASCII, Stride: 1}}}}
	case "Alphabetic", "Alpha":
		return []*unicode.RangeTable{unicode.L, unicode.Nl, unicode.Other_Alphabetic}
	case "Lowercase", "Lower":
		return []*unicode.RangeTable{unicode.Ll, unicode.Other_Lowercase}
	case "Uppercase", "Upper":
		return []*unicode.RangeTable{unicode.Lu, unicode.Other_Uppercase}
	case "ID_Start", "IDS":
		return start
	case "ID_Continue", "IDC":
		return append(start, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
	case "space":
		return []*unicode.RangeTable{unicode.White_Space}
	case "Extended_Pictographic", "ExtPict":
		return []*unicode.RangeTable{pictographic}
	}
	if found := unicode.Properties[name]; found != nil && !strings.HasPrefix(name, "Other_") {
		return []*unicode.RangeTable{found}
	}
	return nil
}

// spansIn returns the ranges of a table.
func spansIn(table *unicode.RangeTable) (spans []span) {
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			spans = append(spans, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			spans = append(spans, span{r, r})
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	return spans
}

// The halves of characters beyond 16 bits, which are none themselves, and which no pattern can say.
const firstHalf, lastHalf = 0xD800, 0xDFFF

// joined returns ranges in order, with those as one that touch, and without halves.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return int(a.first - b.first) })
	var all []span
	for _, s := range spans {
		if last := len(all) - 1; last >= 0 && s.first <= all[last].last+1 {
			all[last].last = max(all[last].last, s.last)
			continue
		}
		all = append(all, s)
	}
	return withoutHalves(all)
}

// withoutHalves takes the halves out of ranges.
func withoutHalves(spans []span) []span {
	var all []span
	for _, s := range spans {
		for _, part := range []span{{s.first, min(s.last, firstHalf-1)}, {max(s.first, lastHalf+1), s.last}} {
			if part.first <= part.last {
				all = append(all, part)
			}
		}
	}
	return all
}

// others returns all characters that are not in ranges.
func others(spans []span) []span {
	var all []span
	next := rune(0)
	for _, s := range spans {
		if s.first > next {
			all = append(all, span{next, s.first - 1})
		}
		next = s.last + 1
	}
	if next <= unicode.MaxRune {
		all = append(all, span{next, unicode.MaxRune})
	}
	return withoutHalves(all)
}

// pictographic are the pictures: Extended_Pictographic of Unicode's emoji-data.
var pictographic = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xA9, 0xA9, 1},
		{0xAE, 0xAE, 1},
		{0x203C, 0x203C, 1},
		{0x2049, 0x2049, 1},
		{0x2122, 0x2122, 1},
		{0x2139, 0x2139, 1},
		{0x2194, 0x2199, 1},
		{0x21A9, 0x21AA, 1},
		{0x231A, 0x231B, 1},
		{0x2328, 0x2328, 1},
		{0x2388, 0x2388, 1},
		{0x23CF, 0x23CF, 1},
		{0x23E9, 0x23F3, 1},
		{0x23F8, 0x23FA, 1},
		{0x24C2, 0x24C2, 1},
		{0x25AA, 0x25AB, 1},
		{0x25B6, 0x25B6, 1},
		{0x25C0, 0x25C0, 1},
		{0x25FB, 0x25FE, 1},
		{0x2600, 0x2605, 1},
		{0x2607, 0x2612, 1},
		{0x2614, 0x2685, 1},
		{0x2690, 0x2705, 1},
		{0x2708, 0x2712, 1},
		{0x2714, 0x2714, 1},
		{0x2716, 0x2716, 1},
		{0x271D, 0x271D, 1},
		{0x2721, 0x2721, 1},
		{0x2728, 0x2728, 1},
		{0x2733, 0x2734, 1},
		{0x2744, 0x2744, 1},
		{0x2747, 0x2747, 1},
		{0x274C, 0x274C, 1},
		{0x274E, 0x274E, 1},
		{0x2753, 0x2755, 1},
		{0x2757, 0x2757, 1},
		{0x2763, 0x2767, 1},
		{0x2795, 0x2797, 1},
		{0x27A1, 0x27A1, 1},
		{0x27B0, 0x27B0, 1},
		{0x27BF, 0x27BF, 1},
		{0x2934, 0x2935, 1},
		{0x2B05, 0x2B07, 1},
		{0x2B1B, 0x2B1C, 1},
		{0x2B50, 0x2B50, 1},
		{0x2B55, 0x2B55, 1},
		{0x3030, 0x3030, 1},
		{0x303D, 0x303D, 1},
		{0x3297, 0x3297, 1},
		{0x3299, 0x3299, 1},
	},
	R32: []unicode.Range32{
		{0x1F000, 0x1F0FF, 1},
		{0x1F10D, 0x1F10F, 1},
		{0x1F12F, 0x1F12F, 1},
		{0x1F16C, 0x1F171, 1},
		{0x1F17E, 0x1F17F, 1},
		{0x1F18E, 0x1F18E, 1},
		{0x1F191, 0x1F19A, 1},
		{0x1F1AD, 0x1F1E5, 1},
		{0x1F201, 0x1F20F, 1},
		{0x1F21A, 0x1F21A, 1},
		{0x1F22F, 0x1F22F, 1},
		{0x1F232, 0x1F23A, 1},
		{0x1F23C, 0x1F23F, 1},
		{0x1F249, 0x1F3FA, 1},
		{0x1F400, 0x1F53D, 1},
		{0x1F546, 0x1F64F, 1},
		{0x1F680, 0x1F6FF, 1},
		{0x1F774, 0x1F77F, 1},
		{0x1F7D5, 0x1F7FF, 1},
		{0x1F80C, 0x1F80F, 1},
		{0x1F848, 0x1F84F, 1},
		{0x1F85A, 0x1F85F, 1},
		{0x1F888, 0x1F88F, 1},
		{0x1F8AE, 0x1F8FF, 1},
		{0x1F90C, 0x1F93A, 1},
		{0x1F93C, 0x1F945, 1},
		{0x1F947, 0x1FAFF, 1},
		{0x1FC00, 0x1FFFD, 1},
	},
}
