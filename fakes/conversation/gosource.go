package conversation

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// quoted returns a text as a Go literal: between backquotes if that is more readable.
func quoted(text string) string {
	if strings.Contains(text, `"`) && strconv.CanBackquote(text) && !strings.ContainsFunc(text, display.IsHidden) {
		return "`" + text + "`"
	}
	return strconv.QuoteToGraphic(text)
}

func goValue(value any) string {
	switch value := value.(type) {
	case member.BotMeta:
		return "member.BotMeta{Object: " + goValue(value.Object) + "}"
	case document.Timestamp:
		return strconv.FormatInt(int64(value), 10)
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

func goFloat(number float64) string {
	text := strconv.FormatFloat(number, 'g', -1, 64)
	if strings.ContainsAny(text, ".e") {
		return text
	}
	return text + ".0"
}

// names gives each person of a test a variable.
type names struct {
	taken map[string]bool
	// of are the variables by the names of the conversation.
	of map[string]string
	// members are the variables of members, in order of creation.
	members []string
}

// variable returns a name for the variable of a person: the usable part of their name.
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
	if base == "" || !token.IsIdentifier(base) || doc.IsPredeclared(base) {
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

// camel returns the letters and digits of a text as one word, each part with a capital, from the first letter
// on.
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

// GoTest configures how a conversation is written as a Go test, with the declarations of the test's package.
type GoTest struct {
	// Package is the name of the test's package. The default is "main".
	Package string
	// Name is the name of the test. The default is "TestConversation".
	Name string
	// Platform is the Go expression of a platform in a test named t, without the members or agents who take
	// part. The default is a call of fakes.New.
	Platform string
	// Nodes is the Go expression of the nodes of the platform, or "" for none.
	Nodes string
}

// GoTest returns a Go test that repeats the actions of the session and expects their results: each message to
// the people of the conversation, or no message if the actor received none.
func (s *Session) GoTest(as GoTest) (string, error) {
	body := "\tp := " + cmp.Or(as.Platform, "fakes.New(fakes.For(t))") + "\n"
	if as.Nodes != "" {
		body += "\tp.Handle(" + as.Nodes + "...)\n"
	}
	return formatted("// Saved from a conversation, with the answers of the bot.\npackage "+cmp.Or(as.Package, "main")+"\n\n",
		"\nfunc "+cmp.Or(as.Name, "TestConversation")+"(t *testing.T) {\n\tt.Parallel()\n"+body+s.source()+"}\n")
}

// source returns the actions as Go.
func (s *Session) source() string {
	var body strings.Builder
	all := s.needed()
	of, used := &names{of: map[string]string{}}, used(all)
	for _, one := range all {
		assigned := ""
		if one.person != nil {
			variable := of.add(one.person)
			if used[one.person] {
				assigned = variable + " := "
			}
		}
		if adds(one.step.Act) {
			body.WriteString("\t" + assigned + one.step.Act.code(of, one).String() + "\n")
		} else {
			body.WriteString("\n" + one.source(of))
		}
	}
	return body.String()
}

// add gives a person a variable.
func (n *names) add(p *person) string {
	variable := n.variable(p.called())
	n.of[p.name] = variable
	if p.actor != nil {
		n.members = append(n.members, variable)
	}
	return variable
}

// called returns the name from which the person's variable is made, without a number that made it unique.
func (p *person) called() string {
	switch {
	case p.agent != nil:
		return p.agent.Name()
	case p.actor.Scope().GroupExternalID != "":
		return p.name
	}
	return cmp.Or(p.actor.Added().FirstName, p.actor.ID())
}

// used returns the people named in the test.
func used(all []done) map[*person]bool {
	used := map[*person]bool{}
	var members []*person
	named := map[string]*person{}
	for _, one := range all {
		if one.person != nil {
			named[one.person.name] = one.person
		}
		if one.person != nil && one.person.actor != nil {
			members = append(members, one.person)
		}
		if name := refusedPerson(one.step.Act); name != "" {
			used[named[name]] = true
		}
		if _, isDesk := one.step.Act.(AddDesk); isDesk {
			for _, p := range members {
				used[p] = true
			}
		}
		if one.step.Act.by() != "" || one.silent >= 0 {
			used[one.by] = true
		}
		for _, got := range one.heard {
			used[got.by] = true
		}
	}
	return used
}

// source returns an action and its expected results as Go.
func (d done) source(of *names) string {
	var text strings.Builder
	made := d.step.Act.code(of, d)
	switch {
	case d.err == nil:
		text.WriteString("\t" + made.String() + "\n")
	case d.step.Failure.Code != "":
		fmt.Fprintf(&text, "\trequire.ErrorIs(t, %s, boterr.%s)\n", made.tried(), string(d.step.Failure.Code))
	default:
		fmt.Fprintf(&text, "\trequire.Error(t, %s)\n", made.tried())
	}
	for _, got := range d.heard {
		text.WriteString("\t" + got.source(of) + "\n")
	}
	if d.silent >= 0 {
		fmt.Fprintf(&text, "\trequire.Len(t, %s.Messages(), %d)\n", of.of[d.by.name], d.silent)
	}
	return text.String()
}

// source returns the expectations of a message as Go.
func (h heard) source(of *names) string {
	variable := of.of[h.by.name]
	message, text := variable+".LastMessage()", variable+".Last()"
	if h.index < h.of-1 {
		message = fmt.Sprintf("%s.Messages()[%d]", variable, h.index)
		text = message + ".Text()"
	}
	if h.response.Type() == send.TypeText && h.response.String() == send.Text(h.response.Text()).String() {
		return fmt.Sprintf("require.Equal(t, %s, %s)", quoted(h.response.Text()), text)
	}
	return fmt.Sprintf("require.Equal(t, %s, %s.String())", quoted(h.response.String()), message)
}

// TestName returns the name of the test in a file: book_test.go has TestBook.
func TestName(file string) string {
	name := camel(strings.TrimSuffix(filepath.Base(file), "_test.go"))
	if name == "" || name == "Test" {
		return "TestConversation"
	}
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsLower(first) { // Names without capitals need one: go test requires it.
		name = "Of" + name
	}
	return "Test" + name
}

// formatted returns a file with its imports, formatted as by gofmt.
func formatted(head, body string) (string, error) {
	imports, err := importing(head + body)
	if err != nil {
		return "", err
	}
	text, err := format.Source([]byte(head + imports + body))
	return string(text), err
}

// importGroups are the paths that a saved test may import, in groups.
func importGroups() [][]string {
	const sdk = "github.com/botctx/go-sdk/"
	return [][]string{
		{"testing", "time"},
		{"github.com/stretchr/testify/require"},
		{
			sdk + "botctx", sdk + "boterr", sdk + "channel", sdk + "document", sdk + "fakes", sdk + "fakes/conversation",
			sdk + "member", sdk + "send",
		},
	}
}

// importing returns the imports for a file without any, from the packages that it refers to.
func importing(file string) (string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", file, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	named := map[string]bool{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		if selector, isSelector := node.(*ast.SelectorExpr); isSelector {
			if of, isName := selector.X.(*ast.Ident); isName {
				named[of.Name] = true
			}
		}
		return true
	})
	var groups []string
	for _, paths := range importGroups() {
		var lines strings.Builder
		for _, path := range paths {
			if named[path[strings.LastIndexByte(path, '/')+1:]] {
				lines.WriteString("\t" + strconv.Quote(path) + "\n")
			}
		}
		if lines.Len() > 0 {
			groups = append(groups, lines.String())
		}
	}
	return "import (\n" + strings.Join(groups, "\n") + ")\n", nil
}
