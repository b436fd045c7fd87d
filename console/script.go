package console

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// script is what happened, for a Go test that does it again.
type script struct {
	test Test
	// isOwn is whether the platform is the console's own, hasNodes whether Run was given nodes.
	isOwn, hasNodes bool
	// usesDesk is whether the test needs the console's own desk.
	usesDesk bool
	names    names
	steps    []step
}

// step is a person who is added, or something that is done.
type step struct {
	added *person
	call  call
	err   error
	heard []heard
	// by is who spoke then, and silent how many messages she had where none came to her, -1 otherwise.
	by     *person
	silent int
}

// call is a call of a person's method, or of the platform's where on is nil.
type call struct {
	on           *person
	method, args string
}

// heard is a message that a person got: the one of an index, when there were so many of them.
type heard struct {
	by        *person
	index, of int
	response  response
}

// begin notes what the test begins with.
func (s *script) begin(c Console, hasNodes bool) {
	s.test, s.isOwn, s.hasNodes = c.Test, c.Platform == nil, hasNodes
}

// adds notes a person who takes part from now on, and returns her variable.
func (s *script) adds(added *person) string {
	s.steps = append(s.steps, step{added: added})
	return s.names.variable(added.name)
}

// did notes what was done while somebody spoke, and what came of it.
func (s *script) did(made call, by *person, err error, all []heard) {
	done := step{call: made, by: by, err: err, heard: all, silent: -1}
	if err == nil {
		done.silent = by.heard
	}
	for _, one := range all {
		if one.by == by {
			done.silent = -1
		}
	}
	s.steps = append(s.steps, done)
}

// source returns the test as Go, on a platform where some calls were made.
func (s *script) source(pkg, name string, calls []fakes.Call) (string, error) {
	s.usesDesk = s.usesDesk || slices.ContainsFunc(calls, isOfLiveChat)
	var body strings.Builder
	used := s.used()
	if s.isOwn {
		fmt.Fprintf(&body, "\tp := fakes.New(fakes.For(t))\n\tp.Handle(%s...)\n", s.test.Nodes)
	} else {
		fmt.Fprintf(&body, "\tp := %s\n", s.test.Platform)
		if s.hasNodes {
			fmt.Fprintf(&body, "\tp.Handle(%s...)\n", s.test.Nodes)
		}
	}
	for i, one := range s.steps {
		if one.added != nil {
			assigned := ""
			if used[one.added] {
				assigned = one.added.variable + " := "
			}
			body.WriteString("\t" + assigned + addition(one.added) + "\n")
		} else {
			body.WriteString("\n" + one.source())
		}
		if i == 0 && s.isOwn && s.usesDesk {
			fmt.Fprintf(&body, deskCode, one.added.variable)
		}
	}
	return formatted("// Saved from a console: what was said there, and what came of it.\npackage "+pkg+"\n\n",
		"\nfunc "+name+"(t *testing.T) {\n\tt.Parallel()\n"+body.String()+"}\n")
}

// isOfLiveChat reports whether a call is one of a live chat's operations, which belong to a desk.
func isOfLiveChat(made fakes.Call) bool {
	return reflect.TypeOf(made.Params).PkgPath() == reflect.TypeFor[livechat.State]().PkgPath()
}

// needs names what the test takes from elsewhere in its package.
func (s *script) needs() string {
	if s.isOwn {
		return s.test.Nodes
	}
	if s.hasNodes {
		return s.test.Platform + " and " + s.test.Nodes
	}
	return s.test.Platform
}

// used returns who is named in the test.
func (s *script) used() map[*person]bool {
	used := map[*person]bool{}
	for i, one := range s.steps {
		if one.added == nil && one.call.on != nil {
			used[one.call.on] = true
		}
		for _, got := range one.heard {
			used[got.by] = true
		}
		if one.added == nil && one.silent >= 0 {
			used[one.by] = true
		}
		if i == 0 && s.isOwn && s.usesDesk {
			used[one.added] = true
		}
	}
	return used
}

// addition returns the call that adds a person.
func addition(added *person) string {
	if added.agent == nil {
		return "p.AddMember(" + memberSource(added.actor.Added()) + ")"
	}
	args := []string{quoted(added.agent.Channel()), quoted(added.name)}
	for _, group := range added.agent.Groups() {
		args = append(args, quoted(group))
	}
	return "p.AddAgent(" + strings.Join(args, ", ") + ")"
}

// memberSource returns a member as Go.
func memberSource(added member.Member) string {
	var fields []string
	for _, field := range []struct{ name, value string }{
		{"ID", added.ID},
		{"Channel", added.Channel},
		{"ExternalID", added.ExternalID},
		{"FirstName", added.FirstName},
		{"LastName", added.LastName},
		{"Email", added.Email},
		{"BotID", added.BotID},
	} {
		if field.value != "" {
			fields = append(fields, field.name+": "+quoted(field.value))
		}
	}
	if added.Meta.Len() > 0 {
		fields = append(fields, "Meta: "+goValue(added.Meta))
	}
	return "member.Member{" + strings.Join(fields, ", ") + "}"
}

// source returns what was done, and what is expected of it, as Go.
func (s step) source() string {
	var text strings.Builder
	receiver := "p"
	if s.call.on != nil {
		receiver = s.call.on.variable
	}
	called := receiver + "." + s.call.method + "(" + s.call.args + ")"
	tried := receiver + ".Try" + s.call.method + "(" + s.call.args + ")"
	code, isCoded := errors.AsType[*boterr.Error](s.err)
	switch {
	case s.err == nil:
		text.WriteString("\t" + called + "\n")
	case isCoded && !isJoined(s.err) && slices.Contains(boterr.Codes(), code.Code):
		fmt.Fprintf(&text, "\trequire.ErrorIs(t, %s, boterr.%s)\n", tried, string(code.Code))
	default:
		fmt.Fprintf(&text, "\trequire.Error(t, %s)\n", tried)
	}
	for _, got := range s.heard {
		text.WriteString("\t" + got.source() + "\n")
	}
	if s.silent >= 0 {
		fmt.Fprintf(&text, "\trequire.Len(t, %s.Messages(), %d)\n", s.by.variable, s.silent)
	}
	return text.String()
}

// isJoined reports whether there may be several errors, of which the code of one says little.
func isJoined(err error) bool {
	_, isJoined := err.(interface{ Unwrap() []error })
	return isJoined
}

// source returns what is expected of a message, as Go.
func (h heard) source() string {
	message, text := h.by.variable+".LastMessage()", h.by.variable+".Last()"
	if h.index < h.of-1 {
		message = fmt.Sprintf("%s.Messages()[%d]", h.by.variable, h.index)
		text = message + ".Text()"
	}
	if h.response.Type() == send.TypeText && h.response.String() == send.Text(h.response.Text()).String() {
		return fmt.Sprintf("require.Equal(t, %s, %s)", quoted(h.response.Text()), text)
	}
	return fmt.Sprintf("require.Equal(t, %s, %s.String())", quoted(h.response.String()), message)
}
