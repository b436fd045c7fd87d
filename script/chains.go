package script

import "github.com/botctx/go-sdk/boterr"

// mostLinks is how many operators may follow each other without a comma, a semicolon or a bracket {} between them:
// reading what is chained takes as much of the stack as what is nested. Those in texts and comments count as well.
const mostLinks = 20_000

// mostArrows is how deep functions such as a => b => c may be nested: reading them takes a time that grows with
// the cube of it.
const mostArrows = 250

// checkChains refuses chains that are too long to be read.
func checkChains(source string) error {
	links := 0
	for i := range len(source) {
		switch source[i] {
		case ',', ';', '{', '}':
			links = 0
		case '.', '=', '?', ':', '+', '-', '*', '/', '%', '&', '|', '^', '<', '>', '!', '~', '(', '[', '`':
			links++
		case ' ', '\t', '\n':
			if i > 0 && i+1 < len(source) && endsValue(source[i-1]) && isWord(source[i+1]) {
				links++ // As in typeof await x.
			}
		}
		if links > mostLinks {
			return boterr.Invalid("", "has more than %d operators in a row", mostLinks)
		}
	}
	return checkArrows(source)
}

// checkCommas refuses lists that are too long to be put in other words, which nests what commas part.
func checkCommas(source string) error {
	commas := 0
	for i := range len(source) {
		switch source[i] {
		case ';', '{', '}':
			commas = 0
		case ',':
			commas++
		}
		if commas > mostLinks {
			return boterr.Invalid("", "has more than %d commas in a row: put a long list into a module of JSON", mostLinks)
		}
	}
	return nil
}

// checkArrows refuses functions that are nested too deep.
func checkArrows(source string) error {
	count := arrowCount{before: []int{0}}
	for i := range len(source) {
		count.read(source[i])
		if count.open > mostArrows {
			return boterr.Invalid("", "has functions of the form a => b nested more than %d deep", mostArrows)
		}
	}
	return nil
}

// arrowCount counts the functions of the form a => b that are open at a place. What ends those that began in the
// same brackets is a comma, a semicolon, or the end of a line that is followed by another statement.
type arrowCount struct {
	open int
	// before has how many were open before each bracket that is.
	before []int
	// last is the character before, without spaces; the end of a line only where a value may end there.
	last byte
}

// read reads the next character.
func (a *arrowCount) read(c byte) {
	switch c {
	case ' ', '\t', '\r':
		return
	case '(', '[', '{':
		a.before = append(a.before, a.open)
	case ')', ']', '}':
		a.open = a.outer()
		a.before = a.before[:max(1, len(a.before)-1)]
	case ',', ';':
		a.open = a.outer()
	default:
		a.readOther(c)
	}
	if c != '\n' || endsValue(a.last) {
		a.last = c
	}
}

// readOther reads a character that is no bracket and parts nothing.
func (a *arrowCount) readOther(c byte) {
	if c == '>' && a.last == '=' {
		a.open++
	} else if a.last == '\n' && isWord(c) {
		a.open = a.outer()
	}
}

// outer is how many were open before the bracket that is.
func (a *arrowCount) outer() int { return a.before[len(a.before)-1] }

// endsValue reports whether a value may end with a character.
func endsValue(c byte) bool {
	return isWord(c) || c == ')' || c == ']' || c == '}' || c == '\'' || c == '"' || c == '`'
}

// isWord reports whether a name may have a character.
func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c >= 0x80
}
