package conversation

import (
	"fmt"
	"go/token"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
)

// quoted returns a text as Go: between backquotes where that can be read better.
func quoted(text string) string {
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) && !strings.ContainsFunc(text, display.IsHidden) {
		return "`" + text + "`"
	}
	return strconv.QuoteToGraphic(text)
}

// goValue returns a value of a document as Go.
func goValue(value any) string {
	switch value := value.(type) {
	case document.Object:
		var pairs []string
		for name, field := range value.All() {
			pairs = append(pairs, quoted(name), goValue(field))
		}
		return "document.O(" + strings.Join(pairs, ", ") + ")"
	case document.Array:
		var items []string
		for _, item := range value.All() {
			items = append(items, goValue(item))
		}
		return "document.A(" + strings.Join(items, ", ") + ")"
	case string:
		return quoted(value)
	case nil:
		return "nil"
	case float64:
		return goFloat(value)
	case time.Time:
		return fmt.Sprintf("time.UnixMilli(%d).UTC()", value.UnixMilli())
	default:
		return fmt.Sprint(value) // A bool or an int64.
	}
}

// goFloat returns a number as Go that is a float64.
func goFloat(number float64) string {
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// goDuration returns a duration as Go, in the largest unit of which it is a whole number.
func goDuration(d time.Duration) string {
	for _, unit := range []struct {
		name string
		of   time.Duration
	}{{"time.Hour", time.Hour}, {"time.Minute", time.Minute}, {"time.Second", time.Second}, {"time.Millisecond", time.Millisecond}} {
		switch {
		case d == unit.of:
			return unit.name
		case d != 0 && d%unit.of == 0:
			return fmt.Sprintf("%d*%s", d/unit.of, unit.name)
		}
	}
	return strconv.FormatInt(int64(d), 10)
}

// names gives each person of a test a variable.
type names struct {
	taken map[string]bool
	// of are the variables by the names of the conversation.
	of map[string]string
	// members are the variables of members, in the order in which they came.
	members []string
}

// variable returns a name for the variable of a person: what of her name can be one.
func (n *names) variable(name string) string {
	if n.taken == nil {
		n.taken = map[string]bool{}
		for _, word := range []string{
			"p", "t", "botctx", "boterr", "channel", "conversation", "document", "fakes", "member", "require", "send", "testing", "time",
		} {
			n.taken[word] = true
		}
	}
	base := lowerCamel(name)
	if base == "" || !token.IsIdentifier(base) || isPredeclared(base) {
		base += "Member"
	}
	if !token.IsIdentifier(base) {
		base = "member1"
	}
	found := base
	for i := 2; n.taken[found]; i++ {
		found = base + strconv.Itoa(i)
	}
	n.taken[found] = true
	return found
}

// isPredeclared reports whether a name means something in every file, or in this test.
func isPredeclared(name string) bool {
	switch name {
	case "any", "append", "bool", "byte", "cap", "clear", "close", "comparable", "complex", "copy", "delete", "error", "false",
		"imag", "int", "iota", "len", "make", "max", "min", "new", "nil", "panic", "print", "println", "real", "recover", "rune",
		"string", "true", "uint":
		return true
	default:
		return false
	}
}

// lowerCamel returns the letters and digits of a text as one word that begins with a small letter.
func lowerCamel(text string) string {
	word := camel(text)
	for i, r := range word {
		if i == 0 {
			return string(unicode.ToLower(r)) + word[len(string(r)):]
		}
	}
	return ""
}

// camel returns the letters and digits of a text as one word, each part with a capital, from the first
// letter on.
func camel(text string) string {
	var word strings.Builder
	isFirst := true
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && (!unicode.IsDigit(r) || word.Len() == 0):
			isFirst = true
			continue
		case isFirst:
			r = unicode.ToUpper(r)
		}
		word.WriteRune(r)
		isFirst = false
	}
	return word.String()
}
