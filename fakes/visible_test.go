package fakes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/explore"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// terminalText does something to a terminal, or turns what stands beside it, in each way there is.
const terminalText = "hi\x1b[2J\x1b]0;pwned\x07\u009b31m\x7f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u2028\u2029\r\xff\U000e0041bye"

// echoHostile is a bot that repeats what a member writes, and keeps it.
func echoHostile(ctx context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("said", bot.MessageEvent.Text())
	return bot.Reply(ctx, send.Text(bot.MessageEvent.Text()))
}

// rawHandler writes lines as they come, as handlers do that escape nothing.
type rawHandler struct {
	mu   *sync.Mutex
	text *strings.Builder
}

func (rawHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h rawHandler) Handle(_ context.Context, line slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.WriteString(line.Message)
	line.Attrs(func(one slog.Attr) bool {
		fmt.Fprintf(h.text, " %s=%v", one.Key, one.Value)
		return true
	})
	h.text.WriteByte('\n')
	return nil
}

func (h rawHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	fmt.Fprintln(h.text, attributes)
	return h
}

func (h rawHandler) WithGroup(name string) slog.Handler {
	fmt.Fprintln(h.text, name)
	return h
}

// logHostile logs by a handler what a Runtime logs of a run that fails with what the member wrote.
func logHostile(t *testing.T, handler slog.Handler) {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Logger = slog.New(handler)
		c.Interceptors = append(c.Interceptors, botctx.Logged(c.Logger))
	}))
	p.Runtime().HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set(bot.MessageEvent.Text(), 1)
		if _, err := bot.GetMember(ctx, member.GetMemberParams{MemberID: bot.MessageEvent.Text()}); err == nil {
			return errors.New("there is such a member")
		}
		panic(bot.MessageEvent.Text())
	})
	err := p.AddMember(member.Member{FirstName: terminalText, ExternalID: terminalText}).TrySays(terminalText)
	require.Error(t, err)
	requireVisible(t, display.Text(err))
}

// requireVisible fails if a text holds what Visible would escape.
func requireVisible(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, display.Visible(text), text)
}

// printingTB is a test that keeps what it prints.
type printingTB struct {
	testing.TB

	printed strings.Builder
	atEnd   []func()
}

func (f *printingTB) Helper()            {}
func (f *printingTB) Failed() bool       { return true }
func (f *printingTB) Cleanup(end func()) { f.atEnd = append(f.atEnd, end) }

func (f *printingTB) Logf(format string, args ...any) { fmt.Fprintf(&f.printed, format+"\n", args...) }

func (f *printingTB) Fatalf(format string, args ...any) {
	f.Logf(format, args...)
	panic(f)
}

// run calls a function until it ends the test, and returns what was printed.
func (f *printingTB) run(do func()) string {
	func() {
		defer func() {
			if thrown := recover(); thrown != nil && thrown != any(f) {
				panic(thrown)
			}
		}()
		do()
	}()
	for _, end := range f.atEnd {
		end()
	}
	return f.printed.String()
}

// TestHostileText sends text that does something to a terminal through each way to one.
func TestHostileText(t *testing.T) {
	t.Parallel()
	for name, output := range map[string]func(t *testing.T) string{
		"an error": func(*testing.T) string {
			return boterr.Wrap("getMember", boterr.Invalid("meta."+terminalText, "%s", terminalText)).Error()
		},
		"the error of an operation": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			_, err := p.AddMember(member.Member{}).Context().GetMember(t.Context(), member.GetMemberParams{MemberID: terminalText})
			require.Error(t, err)
			return err.Error()
		},
		"a log that escapes nothing": func(t *testing.T) string {
			t.Helper()
			var text strings.Builder
			logHostile(t, rawHandler{&sync.Mutex{}, &text})
			return text.String()
		},
		"a log as text": func(t *testing.T) string {
			t.Helper()
			var text bytes.Buffer
			logHostile(t, slog.NewTextHandler(&text, nil))
			return text.String()
		},
		"a log as JSON": func(t *testing.T) string {
			t.Helper()
			var text bytes.Buffer
			logHostile(t, slog.NewJSONHandler(&text, nil))
			return text.String()
		},
		"a transcript": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			p.Runtime().HandleFunc(echoHostile)
			ada := p.AddMember(member.Member{FirstName: terminalText})
			before := p.Snapshot()
			ada.Says(terminalText)
			return p.Transcript() + p.Since(before).String() + fmt.Sprint(p.Calls())
		},
		"an expectation that fails": func(t *testing.T) string {
			t.Helper()
			f := &printingTB{TB: t}
			return f.run(func() {
				p := fakes.New(fakes.For(f))
				p.Runtime().HandleFunc(echoHostile)
				ada := p.AddMember(member.Member{FirstName: terminalText})
				ada.Says(terminalText)
				ada.Sees("hello " + terminalText)
			})
		},
		"a run that fails": func(t *testing.T) string {
			t.Helper()
			f := &printingTB{TB: t}
			return f.run(func() {
				p := fakes.New(fakes.For(f))
				p.Runtime().HandleFunc(func(context.Context, *botctx.Context) error { return errors.New(terminalText) })
				p.AddMember(member.Member{FirstName: terminalText}).Says(terminalText)
			})
		},
		"a conversation": func(t *testing.T) string {
			t.Helper()
			p := fakes.New(fakes.For(t))
			p.Runtime().HandleFunc(echoHostile)
			stage := conversation.NewSession(p)
			for _, act := range []conversation.Act{conversation.AddMember{Name: terminalText}, conversation.Says{By: terminalText, Text: terminalText}} {
				_, err := stage.Do(act)
				require.NoError(t, err)
			}
			return stage.Conversation().String()
		},
		"a property that does not hold": func(t *testing.T) string {
			t.Helper()
			f := &printingTB{TB: t}
			return f.run(func() {
				explore.Faults(f, 1, func(e *explore.T, p *fakes.Platform) {
					ada := p.AddMember(member.Member{FirstName: terminalText})
					_ = ada.TrySays(terminalText)
					e.Fatalf("%s", terminalText)
				})
			})
		},
		"a document": func(t *testing.T) string {
			t.Helper()
			return display.Text(document.O(terminalText, terminalText))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := output(t)
			requireVisible(t, text)
			require.Contains(t, text, "bye")
		})
	}
}
