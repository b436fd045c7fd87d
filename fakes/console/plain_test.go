package console_test

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// talk types lines into a console of the bot, and returns its output.
func talk(t *testing.T, c console.Console, lines ...string) string {
	t.Helper()
	var out bytes.Buffer
	c.In, c.Out = strings.NewReader(strings.Join(lines, "\n")), &out
	require.NoError(t, c.Run(t.Context(), nodes()...))
	return out.String()
}

var update = flag.Bool("update", false, "write testdata/transcript.txt anew")

func TestRun_Transcript(t *testing.T) {
	t.Parallel()
	typed, err := os.ReadFile("testdata/typed.txt")
	require.NoError(t, err)
	transcript := talk(t, console.Console{}, string(typed))
	if *update {
		require.NoError(t, os.WriteFile("testdata/transcript.txt", []byte(transcript), 0o600))
	}
	want, err := os.ReadFile("testdata/transcript.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), transcript)
}

func TestRun_ErrorsDoNotEndIt(t *testing.T) {
	t.Parallel()
	out := talk(t, console.Console{}, "break", "panic", "hi")
	require.Contains(t, out, "!! Unavailable: ")
	require.Contains(t, out, "the till does not answer: try it later")
	require.Contains(t, out, "no kettle\n     at ")
	require.Contains(t, out, "bot_test.go:")
	require.Contains(t, out, "Bot: Hello Ada!\n")
}

func TestRun_HostileTextIsVisible(t *testing.T) {
	t.Parallel()
	out := talk(t, console.Console{}, "hostile", "\x1b]0;mine\x07 \xff \u202e", "/as \x1b[2JEve", "hi", "/data \x1b[2J", "/\x1b[2J", "/state")
	require.Contains(t, out, `Bot: red \x1b[31mtext\x1b[0m \x1b]0;title\a \r and \u202eturned\u202c`)
	require.Contains(t, out, "Ada: \\x1b]0;mine\\a \ufffd \\u202e\n")
	require.Contains(t, out, `Hello \x1b[2JEve!`)
	for _, r := range out {
		require.False(t, r != '\n' && (r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e'), "%q", r)
	}
}

func TestCommand_Unknown(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"/advnce 2d":    "there is no command /advnce: //advnce sends it to the bot; did you mean /advance?",
		"/xylophone":    "there is no command /xylophone: //xylophone sends it to the bot; /help lists the commands",
		"/":             "there is no command /: // sends it to the bot; /help lists the commands",
		"/as":           "/as needs NAME",
		"/why not":      "/why takes no argument",
		"/advance soon": `"soon" is not a time: give one such as 24h`,
		"/advance -1h":  "time cannot go back",
		"/take":         "Ada is a member: /agent speaks as an agent",
		"/end":          "Ada is a member: /agent speaks as an agent",
		"/tap":          "Ada sees nothing to tap",
		"/why":          "Ada has not said anything yet",
		"/data kettle":  "kettle has no entries.",
	} {
		out := talk(t, console.Console{}, typed, "hi")
		require.Contains(t, out, want, typed)
		require.Contains(t, out, "Hello Ada!", "it goes on after %s", typed)
	}
}

func TestCommand_AsAgent(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"/take":          "Grace has no open ticket",
		"/take 1":        `"1" is not a ticket: /agent lists the 0 open ones`,
		"/end":           "!! ",
		"/tap":           "Grace is an agent: /as NAME speaks as a member",
		"/as Grace":      "Grace is an agent: /agent Grace speaks as one",
		"/agent nobody":  "You are nobody, an agent at desk",
		"/state":         "Grace, ",
		"a person\n/why": "Nothing answered.",
	} {
		require.Contains(t, talk(t, console.Console{}, "/agent", typed), want, typed)
	}
	p := fakes.New()
	out := talk(t, console.Console{Platform: p, Members: []*fakes.Actor{p.AddMember(member.Member{})}}, "/agent")
	require.Contains(t, out, "there is no agent: add one to the Agents of the Console")
}

// Two agents at a desk each see why their own message was answered.
func TestWhy_OfTheAgentWhoSits(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	conversation.OpenDesk(p, "desk", ada)
	c := console.Console{Platform: p, Members: []*fakes.Actor{ada}, Agents: []*fakes.Agent{p.AddAgent("desk", "Grace"), p.AddAgent("desk", "Greg")}}
	require.Contains(t, talk(t, c, "/agent Grace", "hello", "/agent Greg", "/why"), "Greg has not said anything yet")
}

func TestChoice_ByNumberTitleOrNot(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"2":       `Ada: [No]` + "\n" + `Bot: You sent {"payload":"no"}`,
		"yes":     `Ada: [Yes]` + "\n" + `Bot: You sent {"payload":"yes"}`,
		"/tap 2":  `Bot: You sent {"payload":"no"}`,
		"/tap No": `Bot: You sent {"payload":"no"}`,
		"/say 2":  `Bot: You sent {"text":"2"}`,
		"//done":  `Bot: You sent {"text":"/done"}`,
		"/tap 3":  `there is no choice with the number or title "3"`,
		"/tap":    "-- 1 [Yes]\n-- 2 [No]\n",
		"3":       "Nothing answers.",
	} {
		require.Contains(t, talk(t, console.Console{}, "sure?", typed), want, typed)
	}
	require.Contains(t, talk(t, console.Console{}, "kettles", "hi", "2"), `You sent {"text":"2"}`, "another message has come since")
	require.Contains(t, talk(t, console.Console{}, "kettles", "hi", "/tap 2"), `"kind":"glass"`)
}

func TestRun_OnAPlatformOfOnesOwn(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	p.AddData("orders")
	ada, bob := p.AddMember(member.Member{FirstName: "Ada"}), p.AddMember(member.Member{FirstName: "Bob"})
	out := talk(t, console.Console{
		Platform: p, Members: []*fakes.Actor{bob, ada}, Bot: "Shop", Ends: func(said string) bool { return said == "hi" },
	}, "/data", "kettle", "hi", "hi")
	require.Equal(t, "/data\n-- orders: 0\nBob:  kettle\nShop: You sent {\"text\":\"kettle\"}\nBob:  hi\nShop: Hello Bob!\n", out)
}

func TestRun_RefusedNodes(t *testing.T) {
	t.Parallel()
	err := console.Console{In: strings.NewReader("hi"), Out: io.Discard}.Run(t.Context(), &botctx.Node{ID: "a"}, &botctx.Node{ID: "a"})
	require.ErrorContains(t, err, "there is a node a already")
}

func TestRun_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	typed, keyboard := io.Pipe()
	defer keyboard.Close() //nolint:errcheck // A pipe in memory.
	screen, shown := io.Pipe()
	done := make(chan error)
	go func() { done <- console.Console{In: typed, Out: shown}.Run(ctx, nodes()...) }()
	go func() { _, _ = keyboard.Write([]byte("hi\n")) }()
	_, err := screen.Read(make([]byte, 1))
	require.NoError(t, err)
	go func() { _, _ = io.Copy(io.Discard, screen) }()
	cancel()
	require.NoError(t, <-done)
}

func TestRun_FailsWhereItCannotWriteOrRead(t *testing.T) {
	t.Parallel()
	_, shown := io.Pipe()
	require.NoError(t, shown.CloseWithError(io.ErrClosedPipe))
	require.ErrorIs(t, console.Console{In: strings.NewReader("hi"), Out: shown}.Run(t.Context(), nodes()...), io.ErrClosedPipe)
	long := strings.Repeat("x", 2<<20)
	require.ErrorContains(t, console.Console{In: strings.NewReader(long), Out: io.Discard}.Run(t.Context(), nodes()...), "split it")
}

func TestRun_RefusesNil(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]console.Console{
		"In": {In: (*bytes.Buffer)(nil)}, "Out": {Out: (*bytes.Buffer)(nil)},
		"Members[0]": {Members: []*fakes.Actor{nil}}, "Agents[0]": {Agents: []*fakes.Agent{nil}},
	} {
		err := c.Run(t.Context())
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}
