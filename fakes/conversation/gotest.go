package conversation

import (
	"cmp"
	"fmt"
	"go/format"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/send"
)

// GoTest tells how a conversation is written as a Go test, with what of the bot stands elsewhere in the
// test's package.
type GoTest struct {
	// Package is the name of the test's package. The default is "main".
	Package string
	// Name is the name of the test. The default is "TestConversation".
	Name string
	// Platform is the Go expression of a platform in a test named t, without the members and agents who
	// take part. The default is one of fakes.New.
	Platform string
	// Nodes is the Go expression of the nodes that the platform is to handle, "" for none.
	Nodes string
}

// GoTest returns a Go test that does again what was done on the stage, and expects what came of it: each
// message to those who take part, and of one who acts and gets nothing that there is none.
func (s *Session) GoTest(as GoTest) (string, error) {
	body := "\tp := " + cmp.Or(as.Platform, "fakes.New(fakes.For(t))") + "\n"
	if as.Nodes != "" {
		body += "\tp.Handle(" + as.Nodes + "...)\n"
	}
	return formatted("// Saved from a conversation: what was said, and what came of it.\npackage "+cmp.Or(as.Package, "main")+"\n\n",
		"\nfunc "+cmp.Or(as.Name, "TestConversation")+"(t *testing.T) {\n\tt.Parallel()\n"+body+s.source()+"}\n")
}

// source returns what was done as Go.
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

// called is what a person's variable is made of: without the number that tells her from others.
func (p *person) called() string {
	switch {
	case p.agent != nil:
		return p.agent.Name()
	case p.actor.Scope().GroupExternalID != "":
		return p.name
	}
	return cmp.Or(p.actor.Added().FirstName, p.actor.ID())
}

// used returns who is named in the test.
func used(all []done) map[*person]bool {
	used := map[*person]bool{}
	var members []*person
	for _, one := range all {
		if one.person != nil && one.person.actor != nil {
			members = append(members, one.person)
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

// source returns what was done, and what is expected of it, as Go.
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

// source returns what is expected of a message, as Go.
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
	if first, _ := utf8.DecodeRuneInString(name); unicode.IsLower(first) { // It has no capital, and go test wants one.
		name = "Of" + name
	}
	return "Test" + name
}

// formatted returns a file with its imports, as gofmt has it.
func formatted(head, body string) (string, error) {
	imports, err := importing(head + body)
	if err != nil {
		return "", err
	}
	text, err := format.Source([]byte(head + imports + body))
	return string(text), err
}
