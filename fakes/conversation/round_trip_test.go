package conversation_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// invented makes up conversations.
type invented struct{ random *rand.Rand }

// texts are what hostile and foreign texts are made of.
var texts = []string{
	"a", "Bot", "Ada: hi", "Fails", "member", "#", "|", "[", "]", "(", ")", "*", ":", "!", "\\", "\\s", "\"", "{", "}", " ", "  ", "\t", "\n", "\r",
	"\u00a0", "\u3000", "\u2028", "\u202e", "\u200f", "\ufeff", "\x00", "\x7f", "\xff", "\ufffd", "שלום", "مرحبا", "नमस्ते", "👩\u200d🚀", "e\u0301",
	"later", "to", "taps", "1 day later", "U+E0001\U000E0001", "\U0010FFFF", "{{firstName}}", "https://example.com/?a=(b)",
}

// text returns a text, often of several lines.
func (i invented) text() string {
	var text strings.Builder
	for range i.random.IntN(5) {
		text.WriteString(texts[i.random.IntN(len(texts))])
	}
	return text.String()
}

// name returns a text that is not empty.
func (i invented) name() string {
	if i.random.IntN(2) == 0 {
		return []string{"Ada", "Bob", "Mary Ann", "Bot", "O'Hara", "desk", "member", "Ada in family", "Ada in to"}[i.random.IntN(9)]
	}
	return "x" + i.text()
}

// comment returns lines of a comment.
func (i invented) comment() []string {
	var lines []string
	for range i.random.IntN(3) {
		lines = append(lines, []string{"Ada is here.", "", `a\x`, "# [x] (y)"}[i.random.IntN(4)])
	}
	return lines
}

// conversation returns a conversation.
func (i invented) conversation() conversation.Conversation {
	var c conversation.Conversation
	for range i.random.IntN(6) {
		step := conversation.Step{Comment: i.comment(), Act: i.act()}
		if i.random.IntN(4) == 0 {
			step.Failure = conversation.Failure{Fails: true, Code: append(boterr.Codes(), "")[i.random.IntN(11)]}
		}
		for range i.random.IntN(3) {
			step.Answers = append(step.Answers, conversation.Answer{Comment: i.comment(), To: i.name(), Message: i.message()})
		}
		c.Steps = append(c.Steps, step)
	}
	c.End = i.comment()
	return c
}

func (i invented) act() conversation.Act {
	by, number := i.name(), i.random.IntN(4)
	switch i.random.IntN(20) {
	case 13:
		return conversation.JoinsGroup{By: by, Group: i.name()}
	case 14:
		return conversation.DeclinesCharge{Account: by, Code: i.name()}
	case 15:
		return conversation.ServiceFails{Of: []string{conversation.ServiceMail, conversation.ServiceFile}[i.random.IntN(2)], Code: boterr.NotFound}
	case 16:
		return conversation.Bounces{Address: i.name() + "@example.com"}
	case 0:
		return conversation.Sends{By: by, Event: send.MessageEvent{Type: send.TypeImage, Data: document.O("url", "x"+i.text())}}
	case 1:
		return conversation.Sends{By: by, Event: send.MessageEvent{
			Type: "LOCATION", Data: document.O("lat", 1.5, "x", strings.ToValidUTF8(i.text(), "?")), MessageID: "m-1", Timestamp: 7,
		}}
	case 2:
		return conversation.Taps{By: by, Title: i.text(), Which: []int{0, 2, 3}[i.random.IntN(3)]}
	case 3:
		return conversation.Takes{By: by, Ticket: number}
	case 4:
		return conversation.TapsTicket{By: by, Ticket: number}
	case 5:
		return conversation.Ends{By: by}
	case 6:
		return conversation.Waits{For: time.Duration(i.random.Int64N(int64(1) << (1 + i.random.IntN(62))))}
	case 7:
		return conversation.AddMember{Name: by, Member: member.Member{
			FirstName: []string{by, "", "Eve"}[i.random.IntN(3)], ID: "m-1", Channel: []string{"", i.name()}[i.random.IntN(2)],
			Meta: document.O("vip", true, "n", 1.5, "list", document.A(1, nil, "x\u202e")), LastName: "L",
		}}
	case 8:
		return conversation.AddAgent{Name: by, Channel: i.name(), Groups: [][]string{nil, {i.name()}, {i.name(), "b, c"}}[i.random.IntN(3)]}
	case 9:
		return conversation.AddChannel{ID: by, Type: channel.Type(i.name())}
	case 10:
		return conversation.AddDesk{ID: by}
	case 11:
		return conversation.AddData{Source: by, Entry: document.O("code", strings.ToValidUTF8(i.text(), "?"), "deep", document.O("a", document.A()))}
	case 12:
		return []conversation.Act{
			conversation.Faults{Op: botctx.OpSendResponse, Code: boterr.Unavailable},
			conversation.Faults{Op: botctx.OpSendResponse, TimesOut: true},
			conversation.Faults{Op: botctx.OpSendResponse, Late: time.Second},
		}[i.random.IntN(3)]
	default:
		return conversation.Says{By: by, Text: i.text()}
	}
}

func (i invented) message() conversation.Message {
	switch i.random.IntN(5) {
	case 0:
		return conversation.Message{File: send.TypeFile, URL: "x" + i.text()}
	case 1:
		return conversation.Message{Other: send.Raw(document.O("type", "TEMPLATE", "x", strings.ToValidUTF8(i.text(), "?")))}
	}
	m := conversation.Message{Text: i.text(), Buttons: i.buttons()}
	for range i.random.IntN(3) {
		m.Cards = append(m.Cards, conversation.Card{Title: i.text(), Subtitle: i.text(), ImageURL: i.text(), Buttons: i.buttons()})
	}
	for range i.random.IntN(3) {
		m.QuickReplies = append(m.QuickReplies, i.text())
	}
	return m
}

func (i invented) buttons() []conversation.Button {
	var buttons []conversation.Button
	for range i.random.IntN(3) {
		buttons = append(buttons, conversation.Button{Title: i.text(), URL: []string{"", i.text()}[i.random.IntN(2)]})
	}
	return buttons
}

// withoutLines returns a conversation as one that was not read from a file.
func withoutLines(c conversation.Conversation) conversation.Conversation {
	for i := range c.Steps {
		c.Steps[i].Line = 0
	}
	return c
}

func TestParse_OfString(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds.Of(t, 500, 5_000)) {
		c := invented{rand.New(rand.NewPCG(seed, 0))}.conversation()
		text := c.String()
		read, err := conversation.Parse("invented.chat", text)
		require.NoError(t, err, "seed %d:\n%s", seed, text)
		require.Equal(t, text, read.String(), "seed %d", seed)
		require.Equal(t, c, withoutLines(read), "seed %d:\n%s", seed, text)
	}
}

// FuzzParse reads any text: what is understood is the same conversation when it is written and read again.
func FuzzParse(f *testing.F) {
	for seed := range uint64(40) {
		f.Add(invented{rand.New(rand.NewPCG(seed, 1))}.conversation().String())
	}
	f.Add(everything)
	f.Fuzz(func(t *testing.T, text string) {
		read, err := conversation.Parse("fuzzed.chat", text)
		if err != nil {
			require.Contains(t, err.Error(), "fuzzed.chat:")
			return
		}
		again, err := conversation.Parse("again.chat", read.String())
		require.NoError(t, err, read.String())
		require.Equal(t, read.String(), again.String())
	})
}
