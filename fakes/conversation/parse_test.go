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
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// everything contains each form of line, as String writes it.
const everything = `# What there is.
channel page of type alpha
member Ada at page
member "Dr: No" {"lastName":"No","firstName":"Julius"}
desk support
agent Grace at support in support, "night: shift"
data coupons {"code":"SPRING"}
Ada joins the group family

Ada in family: hello all
Bot: Hello all!
Bot to Dr No in family: Hello all!

Ada: hello
  | and more
Bot: Which one?
  | Choose.
  [Yes] [More \(all\)](https://example.com/a\(b\))
  * Steel
    : holds two litres
    ! https://example.com/k.png
    [Buy]
  (Now) (Later)
Bot to Grace: A kettle leaks.
Bot sends IMAGE https://example.com/k.png
# She is told more.
Bot to "Dr: No" sends {"type":"TEMPLATE","elementName":"order"}

Ada taps [Yes]
Fails: Unavailable

Ada taps [Buy] 2
Fails

Ada sends FILE https://example.com/bill.pdf

Ada sends {"type":"LOCATION","data":{"lat":38.6}}

1 day 2 hours later

The next sendResponse fails: Unavailable

The next sendResponse times out

The next sendResponse is 20 seconds late

Call 3 of sendResponse fails: Unavailable

Call 2 of sendEmail times out

The process crashes at the next sendResponse

The process crashes after call 2 of sendResponse

The process crashes

The process starts again

Out of service: payments

Back in service: payments

Out of service: channel "a:b"

Back in service: channel "a:b"

The next message comes twice

Message 3 of channel shop comes twice

Payment event 2 comes twice

Payment event 2 of account shop comes twice

The next request to the store times out

The process crashes at request 2 to data source orders

The process crashes after the next request to the messaging platforms

Request 4 to account shop is 1 hour late

Request 2 to mail fails: Conflict

Charge 2 of shop is declined: expired_card

Out of service for 1 hour: data source orders

Out of service for 20 seconds from request 1 on: HTTP

Out of service from request 2 on: account shop

Back in service: data source orders

The next payment event comes twice

The next mail fails: Unavailable

The next file fails: NotFound

The next charge of shop is declined: insufficient_funds

Mail to ada@example.com bounces

Back in service: mail to ada@example.com

Out of service for 1 hour with ResourceExhausted: mail to ada@example.com

Out of service: messages to Ada

Out of service from request 2 on: messages to Ada in family

Out of service for 20 seconds from request 1 on with NotFound: messages to C1 at "a:b"

Back in service: messages to Ada

Back in service: messages to C1 at shop

At most 2 messages in 1 minute: channel shop

At most 1 message in 1 second for 1 hour from request 3 on: channel shop

No limit of messages: channel shop

Grace takes the ticket

Grace takes ticket 2

Grace taps the ticket

Grace: שלום\s

Grace ends the chat

# The end.
`

func TestParse_EveryForm(t *testing.T) {
	t.Parallel()
	read, err := conversation.Parse("everything.chat", everything)
	require.NoError(t, err)
	require.Equal(t, everything, read.String())
	require.Equal(t, 8, read.Steps[6].Line)
}

func TestParse_AsPeopleWrite(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\ufeffAda:hello\r\nBot:  Hi!  \r\n":      "Ada: hello\nBot: Hi!\n",
		"  Ada : hello\n\n\nBot to Ada: Hi!":      "Ada: hello\nBot: Hi!\n",
		"2pac: see you later":                     "2pac: see you later\n",
		"Ada: at 5: [maybe] (or) \"so\" {x} #1":   "Ada: at 5: [maybe] (or) \"so\" {x} #1\n",
		"Ada:\n|\n| x":                            "Ada:\n  |\n  | x\n",
		"Ada: x\n[a][b](u) [c]\n":                 "",
		"Ada: x\nBot: y\n[a][b](u) [c]\n(d)(e)\n": "Ada: x\nBot: y\n  [a] [b](u) [c]\n  (d) (e)\n",
		"member Ada\n24h later\nBot: Hi":          "member Ada\n\n1 day later\nBot: Hi\n",
		"1w later":                                "7 days later\n",
		"1 day, 2 hours and 3 minutes later.":     "1 day 2 hours 3 minutes later\n",
		"1.5h later":                              "1 hour 30 minutes later\n",
		"Ada: hi\rBot: hello\rAda: bye\r":         "Ada: hi\nBot: hello\n\nAda: bye\n",
		"":                                        "",
		"#a":                                      "# a\n",
	} {
		read, err := conversation.Parse("typed.chat", text)
		if want == "" && text != "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err, text)
		require.Equal(t, want, read.String())
	}
}

func TestParse_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"hello":                                `f.chat:1: "hello" is not a line of a conversation: write who says it and a colon before it`,
		"\n\nBot: hi":                          "f.chat:3: this answers nothing",
		"1 day later\nBot: hi":                 "f.chat:2: there is no message yet: name the recipient",
		"| more":                               "this line would continue a text, but there is none",
		"Ada: x\nFails\n| more":                "this line would continue a text, but there is none",
		"Ada: x\n[Yes]":                        "this is part of an answer",
		"Ada: x\n(Yes)":                        "this is part of an answer",
		"Ada: x\n* Steel":                      "this is part of an answer",
		"Ada: x\nBot: y\n: two litres":         "a card has one subtitle and one image",
		"Ada: x\nBot: y\n! url":                "a card has one subtitle and one image",
		"Ada: x\nBot: y\n* z\n! a\n! b":        "f.chat:5: a card has one subtitle and one image",
		"Ada: caf\xe9":                         `f.chat:1: this is not UTF-8: save the file in that encoding, or write an invalid byte as \x{ff}`,
		"\xff\xfeA\x00:\x00":                   "this is not UTF-8",
		`"": hi`:                               "there is no name",
		"Ada: x\nBot to \"\": y":               "there is no name",
		"Ada: x\nBot: y\n[Yes] or":             "buttons are written in brackets",
		"Ada: x\nBot: y\n(Yes) or":             "quick replies are written in parentheses",
		"Ada: x\nBot: y\nFails":                "a failure comes once",
		"Ada: x\nFails: Unavailabel":           "there is no code Unavailabel: use one of InvalidArgument, NotFound",
		"Fails":                                "nothing was done that could fail",
		`Ada: a\dir`:                           `\d is not an escape: write \\ for a backslash`,
		`Ada: \u{110000}`:                      `is not an escape`,
		`Ada: \`:                               `is not an escape`,
		"Bot takes the ticket":                 `Bot is not a name in this form: write it in quotes, as in "Bot"`,
		"Note to self: hi":                     `Note to self is not a name in this form: write it in quotes`,
		`"Ada: hi`:                             "is not a line of a conversation",
		`"A\q": hi`:                            "is not a name in quotes",
		"Ada taps Yes":                         `write "Ada taps [Yes]"`,
		"Ada taps [Yes] 0":                     "numbers begin with 1",
		"Ada joins family":                     `write "Ada joins the group family"`,
		"Mail to ada":                          `write "Mail to ada@example.com bounces"`,
		"The next mail fails: Unavailabl":      "there is no code Unavailabl",
		"The next charge is declined":          `The next charge of shop is declined: insufficient_funds`,
		"Grace takes it":                       `write "Grace takes the ticket"`,
		"Grace ends":                           `write "Grace ends the chat"`,
		"Ada sends image x":                    `write "Ada sends IMAGE https://..."`,
		"Ada sends PICTURE x":                  "PICTURE is not a type of file",
		"Ada sends {x}":                        "is not an event",
		"some time later":                      `write how much time passes`,
		"3 parsecs later":                      `"parsecs" is not a unit of time`,
		"3 later":                              `"3" is not a time`,
		"99999999999 weeks later":              "too long",
		"300000 days later":                    "too long",
		"100000 days 100000 days later":        "too long",
		"agent Grace":                          "write where the agent sits",
		"channel page":                         "write what the channel is",
		"data coupons":                         "write where the entry goes",
		"data coupons {":                       "the text in braces is not valid JSON",
		"member Ada {\"channel\":\"x\"}":       "comes before the braces",
		"member Ada {\"meta\":5}":              "meta",
		"The next sendRespons fails: Unavail":  "there is no operation sendRespons: did you mean sendResponse?",
		"The next sendResponse breaks":         `write "The next sendResponse fails: Unavailable"`,
		"The next sendResponse is 0s late":     "a call cannot be 0 seconds late",
		"Call 0 of sendResponse times out":     "there is no call 0",
		"Call 2 of sendRespons times out":      "did you mean sendResponse?",
		"Call sendResponse fails":              `write "Call 3 of sendResponse fails: Unavailable"`,
		"The process dies":                     `write "The process crashes"`,
		"Out of service: the moon":             "there is no service",
		"Out of service: account ":             "there is no service",
		"Out of service for ever: mail":        `"ever" is not a time`,
		"Request 0 to mail times out":          "there is no call 0",
		"The next request to x times out":      "there is no service",
		"The next message of mail comes twice": "no message comes from mail",
		"The next payment event of channel a comes twice": "no payment event comes from channel a",
		"The next request fails: Unavailable":             "there is no operation request",
		"Out of service with Gone: messages to Ada":       "there is no code Gone",
		"Out of service for ever: messages to Ada":        `"ever" is not a time`,
		"Out of service: messages to Bot":                 "Bot is not a name in this form",
		"At most 0 messages in 1 minute: channel shop":    "numbers begin with 1",
		"At most 2 messages in 0s: channel shop":          "a limit for 0 seconds limits nothing",
		"Out of service with NotFound: mail":              `an outage has no code: leave out "with NotFound"`,
		"At most 2 messages in 1 minute: shop":            `write it in quotes, as in "At most 2 messages in 1 minute"`,
		"Back in service for 1 hour: mail":                `write it in quotes, as in "Back in service for 1 hour"`,
		"No limit: channel shop":                          `write it in quotes, as in "No limit"`,
		"At most 2 messages a minute":                     `write "At most 2 messages in 1 minute: channel shop"`,
	} {
		_, err := conversation.Parse("f.chat", text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestParse_TellsSeveralErrors(t *testing.T) {
	t.Parallel()
	_, err := conversation.Parse("f.chat", "hello\nAda: hi\nwhat\n"+strings.Repeat("no\n", 20))
	require.ErrorContains(t, err, "f.chat:1: ")
	require.ErrorContains(t, err, "f.chat:3: ")
	require.NotContains(t, err.Error(), "f.chat:20: ", "ten are enough")
}

func TestDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"24h": 24 * time.Hour, "2d": 48 * time.Hour, "1w": 168 * time.Hour, "1d12h": 36 * time.Hour, "90m": 90 * time.Minute,
		"1 hour 30 minutes": 90 * time.Minute, "0s": 0, "0.5 seconds": 500 * time.Millisecond, "3ms": 3 * time.Millisecond,
		"1 nanosecond": 1, "2 us": 2000,
	} {
		read, err := conversation.Duration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, read, text)
	}
	for _, text := range []string{"", "x", "-1h", "1", "h", "1h x"} {
		_, err := conversation.Duration(text)
		require.Error(t, err, text)
	}
}

// invented generates random conversations.
type invented struct{ random *rand.Rand }

// texts are the parts of hostile and foreign texts.
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

// name returns a nonempty text.
func (i invented) name() string {
	if i.random.IntN(2) == 0 {
		return []string{"Ada", "Bob", "Mary Ann", "Bot", "O'Hara", "desk", "member", "Ada in family", "Ada in to", "a:b in family", "No limit"}[i.random.IntN(11)]
	}
	return "x" + i.text()
}

func (i invented) comment() []string {
	var lines []string
	for range i.random.IntN(3) {
		lines = append(lines, []string{"Ada is here.", "", `a\x`, "# [x] (y)"}[i.random.IntN(4)])
	}
	return lines
}

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

// refusal returns the refusal of mails, or of messages to a person or to a group, or its end.
func (i invented) refusal(to string) conversation.Act {
	refused := fakes.Refuses(to+"@example.com", boterr.InvalidArgument)
	if i.random.IntN(2) == 0 {
		refused = fakes.Refuses(to, boterr.FailedPrecondition).Of([]string{"", i.name()}[i.random.IntN(2)])
	}
	if i.random.IntN(2) == 0 {
		return conversation.Lifts{Fault: refused}
	}
	if i.random.IntN(2) == 0 {
		refused.Err = boterr.NotFound
	}
	return conversation.Faults{Fault: refused.Lasting([]time.Duration{0, time.Hour}[i.random.IntN(2)]).At(i.random.IntN(3))}
}

func (i invented) act() conversation.Act {
	by, number := i.name(), i.random.IntN(4)
	switch i.random.IntN(20) {
	case 13:
		return conversation.JoinsGroup{By: by, Group: i.name()}
	case 14:
		return conversation.Faults{Fault: fakes.Declines(by, i.name())}
	case 15:
		return conversation.Faults{Fault: fakes.Fails([]fakes.Service{fakes.ServiceMail, fakes.ServiceFiles}[i.random.IntN(2)], boterr.NotFound)}
	case 16:
		return i.refusal(by)
	case 0:
		return conversation.Sends{By: by, Event: send.MessageEvent{Type: send.TypeImage, Data: document.O("url", "x"+i.text())}}
	case 1:
		return conversation.Sends{By: by, Event: send.MessageEvent{
			Type: "LOCATION", Data: document.O("lat", 1.5, "x", strings.ToValidUTF8(i.text(), "?")), MessageID: "m-1", Timestamp: 7,
			Unknown: document.O("odd", i.random.IntN(2) == 0),
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
		acts := []conversation.Act{
			conversation.Faults{Fault: fakes.Fails(botctx.OpSendResponse, boterr.Unavailable)},
			conversation.Faults{Fault: fakes.TimesOut(botctx.OpSendResponse)},
			conversation.Faults{Fault: fakes.Delays(botctx.OpSendResponse, time.Second)},
			conversation.Faults{Fault: fakes.CrashesAfter(botctx.OpSendResponse).At(2)},
			conversation.Faults{Fault: fakes.Repeats(fakes.ServiceMessages)},
			conversation.Faults{Fault: fakes.Down(fakes.ServiceHTTP)},
			conversation.Lifts{Fault: fakes.Down(fakes.ServiceMessages).Of("a:b")},
			conversation.Crashes{},
			conversation.Starts{},
			conversation.Faults{Fault: fakes.TimesOut(fakes.ServiceStore).At(3)},
			conversation.Faults{Fault: fakes.Crashes(fakes.ServiceDataSources).Of(by)},
			conversation.Faults{Fault: fakes.Delays(fakes.ServicePayments, time.Hour).Of(by).At(2)},
			conversation.Faults{Fault: fakes.Fails(fakes.ServiceMail, boterr.Conflict).At(2)},
			conversation.Faults{Fault: fakes.Declines(by, "x").At(2)},
			conversation.Faults{Fault: fakes.Repeats(fakes.ServicePayments).Of(by).At(2)},
			conversation.Faults{Fault: fakes.Repeats(fakes.ServiceMessages).Of(by)},
			conversation.Faults{Fault: fakes.Down(fakes.ServiceMessages).Of(by).Lasting(time.Hour).At(1)},
			conversation.Faults{Fault: fakes.Down(fakes.ServiceStore).At(3)},
			conversation.Lifts{Fault: fakes.Down(fakes.ServicePayments).Of(by)},
		}
		return acts[i.random.IntN(len(acts))]
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
		m.QuickReplies = append(m.QuickReplies, conversation.Button{Title: i.text()})
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

// withoutLines returns a conversation as if it had not been read from a file.
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

// FuzzParse parses any text: if this succeeds, the result survives being written and parsed again.
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
