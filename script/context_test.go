package script_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// patchOf runs a script for a member with some meta, and returns the patch that the run wrote back.
func patchOf(t *testing.T, meta document.Object, source string) string {
	t.Helper()
	s := newStage(t, script.Options{})
	ada := s.AddMember(member.Member{FirstName: "Ada", Meta: meta})
	before := ada.Member()
	s.HandleFunc(s.compile(source).Action())
	ada.Says("go")
	patch, err := members.Changes(before, ada.Member())
	require.NoError(t, err)
	return patch.String()
}

func TestMember_OnlyWhatChangedIsWritten(t *testing.T) {
	t.Parallel()
	meta := document.O("a", document.O("b", int64(1), "c", 2.5), "list", document.A(1, document.A(2)), "at", time.UnixMilli(7), "n", 5.0)
	for source, want := range map[string]string{
		"this.member.meta.a.b = 1; this.member.meta.n = 5":                             "null",
		"this.member.meta.a.b++":                                                       `{"$set":{"meta.a.b":2}}`,
		"delete this.member.meta.a.c":                                                  `{"$unset":{"meta.a.c":""}}`,
		"this.member.meta.a.c = undefined":                                             `{"$unset":{"meta.a.c":""}}`,
		"this.member.meta.a.c = null":                                                  `{"$set":{"meta.a.c":null}}`,
		"this.member.meta.list[1].push('x')":                                           `{"$set":{"meta.list":[1,[2,"x"]]}}`,
		"this.member.meta.at.setTime(8)":                                               `{"$set":{"meta.at":"1970-01-01T00:00:00.008Z"}}`,
		"this.member.meta = {...this.member.meta, n: 6}":                               `{"$set":{"meta.n":6}}`,
		"Object.assign(this.member, {customLocale: 'de', group: 'g1', lastName: 'L'})": `{"$set":{"customLocale":"de","group":"g1"}}`,
		"this.member.botMeta.tempData = {}":                                            "null",
		"this.member.botMeta.tempData.x = 1":                                           `{"$set":{"botMeta.tempData.x":1}}`,
		"return {member: {...this.member, meta: {}}, ok: 1}":                           `{"$unset":{"meta.a":"","meta.list":"","meta.at":"","meta.n":""}}`,
		"return await this.findAndModifyMember({filter: {_id: this.member._id}, patch: {$set: {'meta.n': 9}}, option: {new: true}})": `{"$set":{"meta.n":9}}`,
		"return {member: null}": "null",
	} {
		require.Equal(t, want, patchOf(t, meta, source), source)
	}
}

func TestMember_OfAnotherTypeIsRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, want := range map[string]string{
		"this.member.meta = 7":           "member.meta",
		"this.member.customLocale = 7":   "member.customLocale",
		"this.member.meta.x = 2n ** 64n": "member.meta.x",
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorIs(t, err, boterr.InvalidArgument)
		require.ErrorContains(t, err, want)
	}
}

func TestThis_ValuesGoOnToTheNextNode(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	first, second := s.compile("this.cart = {lines: [1]}; this.help = () => 1"), s.compile(
		"this.cart.lines.push(typeof this.help); this.member.meta.cart = this.cart\n"+
			"this.member.meta.node = this.node.compositeId; this.member.meta.from = this.agendaMeta.from")
	s.Handle(
		&botctx.Node{ID: "cart", Trigger: botctx.AnyText(), Pre: botctx.Do(first.Action()), Redirect: s.compile(
			"return {nodeCompositeId: 'pay', meta: {from: 'cart'}}").Redirect().Among(botctx.Nodes("pay")...)},
		&botctx.Node{ID: "pay", Pre: botctx.Do(second.Action())},
	)
	s.ada.Says("go")
	require.JSONEq(t, `{"cart":{"lines":[1,"undefined"]},"node":"pay","from":"cart"}`, s.ada.Member().Meta.String())
}

func TestThis_RedirectThatJoinsIsSeen(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	outer := s.compile(`
		const { member } = this
		member.meta.a = 1; this.left = 'outer'
		await this.redirectMemberToNode({memberId: member._id, nodeCompositeId: 'inner'})
		member.meta.b = [member.meta.a, this.left]`)
	inner := s.compile("this.member.meta.a++; this.left += ' and inner'")
	s.Handle(
		&botctx.Node{ID: "outer", Trigger: botctx.AnyText(), Pre: botctx.Do(outer.Action())},
		&botctx.Node{ID: "inner", Pre: botctx.Do(inner.Action()), Entry: true},
	)
	s.ada.Says("go")
	require.JSONEq(t, `{"a":2,"b":[2,"outer and inner"]}`, s.ada.Member().Meta.String())
}

func TestTrigger_MatchesWhatCountsAsTrue(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	s.Handle(
		&botctx.Node{ID: "menu", Trigger: s.compile("return this.messageEvent.data.text.match(/^menu/i)").Trigger(), Responses: botctx.Say("Tea")},
		&botctx.Node{ID: "else", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
	)
	s.ada.Says("Menu please")
	require.Equal(t, "Tea", s.ada.Last())
	s.ada.Says("hm")
	require.Equal(t, "Pardon?", s.ada.Last())
}

func TestOperation_ErrorGoesOn(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	engine, err := script.New(script.Options{})
	require.NoError(t, err)
	program, err := engine.Compile("test.js", "await this.newAgenda({memberId: this.member._id})")
	require.NoError(t, err)
	_, err = program.Run(t.Context(), p.AddMember(member.Member{}).Context())
	require.ErrorIs(t, err, boterr.InvalidArgument)
	failed, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, "newAgenda", failed.Op)
}

func TestConsole_GoesToTheLog(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	s := newStage(t, script.Options{Console: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
			if attr.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return attr
		},
	}))})
	s.returns("console.log('hi', {a: [1]}, new Error('no'))\nconsole.warn(undefined)\nthis.getMember({memberId: 'x'})")
	require.Equal(t, `level=INFO msg="hi {\"a\":[1]} Error: no" script=test.js:1`+"\n"+
		`level=WARN msg=undefined script=test.js:2`+"\n"+
		`level=WARN msg="a script did not wait for what failed" script=test.js `+
		`error="test.js:3:6: getMember: not found: memberId: there is no member x here"`+"\n", lines.String())
}

func TestConsole_HiddenCharacters(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	s := newStage(t, script.Options{Console: slog.New(slog.NewJSONHandler(&lines, nil))})
	s.returns(`console.log('a\x1b[2J\u009b\u202eb', { c: '\u2066' })`)
	require.Contains(t, lines.String(), `a\\x1b[2J\\u009b\\u202eb {\"c\":\"\\u2066\"}`)
}
