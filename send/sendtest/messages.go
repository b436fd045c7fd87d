package sendtest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/send"
)

var messageRules = []Rule{
	{
		Name: "TextArrivesToTheLetter",
		Text: "a text arrives exactly as it was sent: markup and placeholders in it have no effect, and nothing is cut or added",
		check: func(t *trial) {
			for _, text := range []string{
				"Hello", "two\nlines", `"quotes" and \back\slashes\`, "<b>&amp;</b> <https://x.example|y> <!here>",
				"*bold* _it_ ~no~ `code` [a](b)", "{{firstName}} {{meta.secret}}", "100% a+b=c&d?e;f", "/start@bot #tag @all",
				"Gr\u00fc\u00dfe, \u4f60\u597d, \u05e9\u05dc\u05d5\u05dd, \U0001F469\u200D\U0001F467",
			} {
				message := t.message(send.Text(text))
				t.mustSend(message)
				arrived := t.Arrived()
				require.NotEmpty(t, arrived, "%q did not arrive", text)
				last := arrived[len(arrived)-1]
				require.Equal(t, text, last.Text)
				require.Equal(t, message.To, last.To)
				require.NotContains(t, last.Body, "_literal", "_literal is part of the SDK's JSON, not of the message: send Response.Object")
			}
		},
	},
	{
		Name: "LongTextsArriveOrAreRefused",
		Text: "a text of the maximum length arrives whole, in one message or in several in order, or is InvalidArgument and " +
			"nothing arrives",
		check: func(t *trial) {
			text := "begin" + strings.Repeat("ä", send.MaxText-8) + "end"
			_, err := t.send(t.Context(), t.message(send.Text(text)))
			if t.isRefusal(sample{response: send.Text(text)}, err) {
				return
			}
			var whole strings.Builder
			for _, arrival := range t.Arrived() {
				whole.WriteString(arrival.Text)
			}
			require.Len(t, whole.String(), len(text), "the arrived text")
			isWhole := whole.String() == text // require.Equal would print both long texts.
			require.True(t, isWhole, "the arrived text begins with %.20q: its parts are in the wrong order or altered", whole.String())
		},
	},
	rule(messagesWithoutAMemberArrive, "a message without a Member, such as to a group or an agent, arrives like any other"),
	{
		Name: "WhatOnePlatformAsksForArrives",
		Text: "the fields for a single platform arrive with the message: MessagingType and MessagingTag on Alpha, GroupID on Hotel",
		applies: func(h *Harness) bool {
			return h.Channel.Type == channel.Hotel || h.Channel.Type.Has(channel.MessagingTypes)
		},
		check: whatOnePlatformAsksForArrives,
	},
	{
		Name: "EachTypeArrivesOrIsRefused",
		Text: "a message of each type arrives with everything that its reader sees and taps, or is refused as Unsupported or " +
			"InvalidArgument, with the path in the response as Field, and nothing of it arrives. Only typing may have no effect",
		check: func(t *trial) {
			for _, sample := range samples() {
				t.requireArrivesOrIsRefused(sample)
			}
		},
	},
}

// sample is a message, and the words in it that must reach the platform.
type sample struct {
	name     string
	response send.Response
	words    []string
}

// samples returns messages of each type, and of an unknown type.
func samples() []sample {
	const site = "https://files.example.com/"
	var all []sample
	for _, kind := range []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile} {
		all = append(all,
			sample{string(kind) + " by address", send.Other(kind, document.O("url", site+"thefile")), []string{"thefile"}},
			sample{string(kind) + " by id", send.Attachment(kind, "12345678"), []string{"12345678"}},
		)
	}
	buttons := []send.Button{
		send.Postback("FirstTitle", "firstpayload"), send.PostbackValue("SecondTitle", "secondpayload", "itsvalue"),
		send.WebURL("ThirdTitle", site+"thirdpage"),
	}
	inButtons := []string{"FirstTitle", "firstpayload", "SecondTitle", "secondpayload", "itsvalue", "ThirdTitle", "thirdpage"}
	dial := document.A(document.O("type", "phone_number", "title", "DialTitle", "payload", "15550100"))
	location := document.A(document.O("content_type", "location"))
	component := document.O("type", "body", "parameters", document.A(document.O("type", "text", "text", "ParameterText")))
	return append(all,
		sample{"quick replies", send.QuickReplies("AboveThem",
			send.QuickReply{Title: "LeftTitle", Payload: "leftpayload"}, send.QuickReply{Title: "RightTitle", Payload: "rightpayload"},
		), []string{"AboveThem", "LeftTitle", "leftpayload", "RightTitle", "rightpayload"}},
		sample{"a quick reply of another kind", send.Other(send.TypeQuickReplies,
			document.O("text", "WhereText", "quickReplies", location)), []string{"WhereText", "location"}},
		sample{"buttons", send.Buttons("AboveThem", buttons...), append([]string{"AboveThem"}, inButtons...)},
		sample{"a button of another kind", send.Other(send.TypeButton,
			document.O("text", "CallText", "buttons", dial)), []string{"CallText", "DialTitle", "15550100"}},
		sample{"a carousel", send.Carousel(
			send.Card{Title: "FirstCard", Subtitle: "FirstSubtitle", ImageURL: site + "firstpicture", Buttons: buttons},
			send.Card{Title: "SecondCard"},
		), append([]string{"FirstCard", "FirstSubtitle", "firstpicture", "SecondCard"}, inButtons...)},
		sample{"news", send.News(send.Article{
			Title: "NewsTitle", Description: "NewsText", URL: site + "newspage", PicURL: site + "newspicture",
		}), []string{"NewsTitle", "NewsText", "newspage", "newspicture"}},
		sample{
			"a template", send.BravoTemplate("order_ready", "en", component), []string{"order", "ParameterText"},
		},
		sample{"typing", send.Typing(1), nil},
		sample{
			"an unknown type", send.Other("HOLOGRAM", document.O("text", "HologramText", "angle", "fortyfive")),
			[]string{"HologramText", "fortyfive"},
		},
	)
}

func (t *trial) requireArrivesOrIsRefused(sample sample) {
	t.Helper()
	before := len(t.Arrived())
	_, err := t.send(t.Context(), t.message(sample.response))
	arrived := t.Arrived()[before:]
	if t.isRefusal(sample, err) {
		require.Empty(t, arrived, "%s: the message was refused, but these messages arrived", sample.name)
		return
	}
	if sample.response.Type() == send.TypeTyping {
		return
	}
	require.NotEmpty(t, arrived, "%s: Send returned no error, but nothing arrived", sample.name)
	var got strings.Builder
	for _, arrival := range arrived {
		got.WriteString(arrival.Body)
	}
	missing := slices.DeleteFunc(slices.Clone(sample.words), func(word string) bool { return strings.Contains(got.String(), word) })
	require.Empty(t, missing, "%s: words of the message that did not arrive", sample.name)
}

// isRefusal reports whether a message was refused. It fails the rule if the error lacks a code or a path.
func (t *trial) isRefusal(sample sample, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	require.True(t, errors.Is(err, boterr.Unsupported) || errors.Is(err, boterr.InvalidArgument),
		"%s: a message that the platform cannot show must be Unsupported or InvalidArgument, got: %v", sample.name, err)
	refused, _ := boterr.AsError(err)
	require.True(t, refused != nil && isPath(refused.Field, sample.response),
		"%s: the error names no Field of the response, such as type or buttons[0].title: %v", sample.name, err)
	return true
}

// isPath reports whether path leads to a field of the response. The last step of the path may be missing.
func isPath(path string, response send.Response) bool {
	if path == "" || strings.HasPrefix(path, "response") {
		return false
	}
	if _, isThere := response.Lookup(path); isThere {
		return true
	}
	end := strings.LastIndexAny(path, ".[")
	if end < 0 {
		return true
	}
	_, isThere := response.Lookup(path[:end])
	return isThere
}

func messagesWithoutAMemberArrive(t *trial) {
	ids := []string{t.Members[1].ExternalID}
	if t.Group != "" {
		ids = append(ids, t.Group)
	}
	for i, id := range ids {
		t.mustSend(t.messageToGroup(id, send.Text("Hello")))
		arrived := t.Arrived()
		require.Len(t, arrived, i+1, "messages that arrived")
		require.Equal(t, id, arrived[i].To)
	}
}

func whatOnePlatformAsksForArrives(t *trial) {
	message := t.message(send.Text("Hello"))
	var words []string
	if t.Channel.Type == channel.Hotel {
		message.ReceiverType, message.GroupID = send.ReceiverUser, "groupnumber7"
		words = []string{message.GroupID}
	} else {
		message.MessagingType, message.MessagingTag = "MESSAGETAG", "HUMANAGENT"
		words = []string{message.MessagingType, message.MessagingTag}
	}
	t.mustSend(message)
	for _, word := range words {
		require.Contains(t, t.only().Body, word)
	}
}

var deliveryRules = []Rule{
	{
		Name: "DeliveryTellsWhatThePlatformKnows",
		Text: "a Delivery has a reply that JSON can represent, a unique id, and the time in milliseconds; " +
			"each may be absent",
		check: func(t *trial) {
			first, second := t.mustSend(t.message(send.Text("One"))), t.mustSend(t.message(send.Text("Two")))
			for _, delivery := range []send.Delivery{first, second} {
				requireReply(t, delivery.Reply)
				requireMilliseconds(t, delivery.Timestamp)
			}
			require.True(t, first.MessageID == "" || first.MessageID != second.MessageID, "two messages have the id %q", first.MessageID)
		},
	},
	{
		Name: "ResultHasThePlatformsShape",
		Text: "the result of a send has its platform's form (channel.Platform.Result), and can be decoded again",
		check: func(t *trial) {
			result, err := sends.Deliver(t.Context(), record.Env{}, t.Connector, t.message(send.Text("Hello")))
			require.NoError(t, err)
			text, err := result.MarshalJSON()
			require.NoError(t, err)
			var object document.Object
			require.NoError(t, object.UnmarshalJSON(text))
			shape := channel.PlatformOf(t.Channel.Type).Result
			require.Subset(t, object.Keys(), shape.Keys)
			require.Subset(t, slices.Concat(shape.Keys, shape.Optional), object.Keys())
			require.Equal(t, "Hello", document.Get(object, shape.Text, ""), "the text at %s of %s", shape.Text, text)
			requireOwnWords(t, object)
			var read send.Result
			require.NoError(t, read.UnmarshalJSON(text))
			if t.Channel.Type != channel.Echo { // Echo's result contains no id.
				require.Equal(t, result.MessageEvent.MessageID, read.For(t.Channel.Type).MessageEvent.MessageID, "the id, read again")
			}
		},
	},
	{
		Name:    "MessageIDIsHandedOn",
		Text:    "the platform receives Message.ID, the same for each attempt at a message, so that it can detect repeats",
		applies: func(h *Harness) bool { return !h.HasNoKeys },
		check: func(t *trial) {
			first, second := t.message(send.Text("One")), t.message(send.Text("Two"))
			for _, message := range []send.Message{first, second, first} {
				t.mustSend(message)
			}
			arrived := t.Arrived()
			require.GreaterOrEqual(t, len(arrived), 2)
			keys := []string{first.ID, second.ID, first.ID}
			for i, arrival := range arrived {
				require.Equal(t, keys[i], arrival.Key, "the key of message %d", i)
			}
		},
	},
	{
		Name: "EachChannelUsesItsOwnCredentials",
		Text: "one connector serves every channel of its type, each with its own credentials",
		check: func(t *trial) {
			for i, in := range []*channel.Channel{t.Channel, t.Other, t.Channel} {
				message := t.message(send.Text("Hello"))
				message.Channel = in
				t.mustSend(message)
				arrived := t.Arrived()
				require.Len(t, arrived, i+1, "messages that arrived")
				require.Equal(t, in.ID, arrived[i].Channel)
			}
		},
	},
}

// requireReply checks that a platform's reply can be written as JSON.
func requireReply(t *trial, reply document.Object) {
	t.Helper()
	require.NoError(t, reply.Err(), "the reply contains an invalid value")
	_, err := document.AppendJSON(nil, reply)
	require.NoError(t, err, "the reply cannot be written as JSON")
}

// requireMilliseconds checks that a time is absent or after 2000. Seconds taken for milliseconds would give a
// time in 1970.
func requireMilliseconds(t *trial, at document.Timestamp) {
	t.Helper()
	if at.IsZero() {
		return
	}
	year := time.UnixMilli(int64(at)).UTC().Year()
	require.True(t, year >= 2001 && year < 3000, "the time %d is in the year %d: give Unix milliseconds", int64(at), year)
}

// requireOwnWords checks the contents of a result in a platform's own form.
func requireOwnWords(t *trial, result document.Object) {
	t.Helper()
	if t.Channel.Type != channel.Charlie {
		return
	}
	require.True(t, document.Get(result, "ok", false), "ok of %s", result)
	require.NotEmpty(t, document.Get(result, "channel", ""), "channel of %s", result)
	ts, _ := result.Field("ts")
	var read send.MessageTS
	require.NoError(t, read.DecodeValue(ts), "ts of %s", result)
}

var receptionRules = []Rule{
	{
		Name: "OddEventLeavesATrace",
		Text: "an event that the connector does not understand is passed on, for example with type MISC and the platform's object, " +
			"or counted in send.Drops; it is never dropped silently",
		applies: func(h *Harness) bool { return h.Odd != nil },
		check:   oddEventLeavesATrace,
	},
}

func oddEventLeavesATrace(t *trial) {
	all := t.Odd()
	require.NotEmpty(t, all, "Harness.Odd passed no event to the connector")
	for _, one := range all {
		require.NotZero(t, len(one.Accepted)+int(one.Dropped), "%s got status %d, but was neither passed on nor counted", one.Name, one.Status)
		for _, event := range one.Accepted {
			require.NotEmpty(t, event.Type, "%s: the type", one.Name)
			require.NotEmpty(t, event.From, "%s: the event has no sender", one.Name)
			require.False(t, event.Type == send.TypeText && event.Text() == "", "%s: the event has type TEXT but no text", one.Name)
		}
	}
}
