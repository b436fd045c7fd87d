package charlie

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// taps returns an event for each action of a user: a tap, a choice, or a typed value.
func (r report) taps(kind string) []inbound.Event {
	actions := pieces.Objects(r.body, "actions")
	event, ok := r.interactionEvent()
	if len(actions) == 0 || !ok {
		return []inbound.Event{r.interaction(kind)}
	}
	taps := make([]inbound.Event, 0, len(actions))
	for _, action := range actions {
		at := cmp.Or(document.Get(action, "action_ts", ""), document.Get(r.body, "action_ts", ""))
		event.Type, event.Data, event.Timestamp = send.TypePayload, r.inPlace(dataOf(action)), millisecondsOf(at)
		tap := botctx.Inbound{Event: event}
		if at != "" {
			id := document.Get(action, "block_id", "") + " " + firstText(action, "action_id", "name")
			tap.Key = "tap " + strings.Join([]string{event.To, event.From, at, id}, " ")
		}
		taps = append(taps, inbound.Event{Inbound: tap})
	}
	return taps
}

// interaction returns a MISC event with the tool's own object, for actions such as submitting a form. It drops an
// interaction without a user.
func (r report) interaction(kind string) inbound.Event {
	event, ok := r.interactionEvent()
	if !ok {
		return inbound.Event{Kind: kind, Drop: send.DropIncomplete}
	}
	at := document.Get(r.body, "action_ts", "")
	event.Type, event.Timestamp = send.TypeMisc, millisecondsOf(at)
	event.Data = r.inPlace(document.O("event", withoutCredentials(r.body)))
	interaction := botctx.Inbound{Event: event}
	if id := firstText(r.body, "trigger_id", "view.hash", "action_ts"); id != "" {
		interaction.Key = "interaction " + strings.Join([]string{kind, event.To, event.From, id}, " ")
	}
	return inbound.Event{Inbound: interaction}
}

// interactionEvent returns the fields that all events of an interaction share. It returns false if the
// interaction has no user.
func (r report) interactionEvent() (send.MessageEvent, bool) {
	event := send.MessageEvent{
		From: document.Get(r.body, "user.id", ""),
		// A view, such as a form, is not part of a conversation: only the user and the bot see it.
		To:        cmp.Or(firstText(r.body, "channel.id", "container.channel_id"), botOf(r.in), firstText(r.body, "view.bot_id", "api_app_id")),
		MessageID: firstText(r.body, "message.ts", "container.message_ts", "message_ts"),
	}
	if address := document.Get(r.body, "response_url", ""); address != "" {
		event.Unknown = document.O("responseUrl", address)
	}
	return event, event.From != "" && event.To != ""
}

// inPlace adds the thread of an interaction, and the values of the message's other fields, to the event's data.
func (r report) inPlace(data document.Object) document.Object {
	if state := document.Get(r.body, "state.values", document.Object{}); state.Len() > 0 {
		data = data.With("state", state)
	}
	thread := firstText(r.body, "message.thread_ts", "container.thread_ts", "original_message.thread_ts")
	return inThread(data, thread, firstText(r.body, "message.ts", "container.message_ts", "message_ts"))
}

// withoutCredentials removes the fields with which others could forge or answer the interaction.
func withoutCredentials(body document.Object) document.Object {
	for _, field := range []string{"token", "bot_access_token", "interactivity"} {
		body = body.Without(field)
	}
	return body
}

// choice is one chosen or typed value.
type choice struct {
	value any
	// payload is the payload that the value becomes, or nil if the value is an object that cannot become one.
	payload any
}

// dataOf returns the data of a PAYLOAD event. If there is exactly one choice, it is the payload. Otherwise the
// payload is an object with the element's id and all choices. For elements other than buttons, data also has
// all choices as values, and the tool's own object as action.
func dataOf(action document.Object) document.Object {
	choices := choicesOf(action)
	items := make([]any, len(choices))
	for i, one := range choices {
		items[i] = one.value
	}
	values := document.A(items...)
	isOne := len(choices) == 1 && choices[0].payload != nil
	if isOne && isButton(action) {
		return document.O(fieldPayload, choices[0].payload)
	}
	data := document.O(fieldPayload, document.O(fieldPayload, firstText(action, "action_id", "name"), "value", values))
	if isOne {
		data = document.O(fieldPayload, choices[0].payload)
	}
	return data.With("values", values).With("action", action)
}

func isButton(action document.Object) bool {
	kind := document.Get(action, "type", "")
	return kind == "" || kind == "button"
}

// choicesOf returns all chosen and typed values. Each kind of picker has its own field. All of these begin with
// "selected_", so this also works for kinds that the tool adds later.
func choicesOf(action document.Object) []choice {
	var choices []choice
	for field, value := range action.All() {
		switch {
		case field == "value" && !isTyped(action), field == "selected_option", field == "selected_options":
			choices = append(choices, choicesIn(value, taps.Payload)...)
		case field == "value", strings.HasPrefix(field, "selected_"), field == "rich_text_value", field == "files":
			choices = append(choices, choicesIn(value, func(text string) any { return text })...)
		}
	}
	return choices
}

// isTyped reports whether a user typed the value. A typed value stays a text. The values of other elements are
// payloads that the bot has set.
func isTyped(action document.Object) bool {
	return strings.HasSuffix(document.Get(action, "type", ""), "_input")
}

// choicesIn returns the choices in the value of a field, which may be a text, a number, an option, another
// object, or a list of these. read converts a text to its payload.
func choicesIn(value any, read func(text string) any) []choice {
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		if value == "" {
			return nil
		}
		return []choice{{value: read(value), payload: read(value)}}
	case document.Array:
		var choices []choice
		for _, one := range value.All() {
			choices = append(choices, choicesIn(one, read)...)
		}
		return choices
	case document.Object:
		if option := document.Get(value, "value", ""); option != "" {
			return choicesIn(option, read)
		}
		return []choice{{value: value}}
	default:
		return []choice{{value: value, payload: fmt.Sprint(value)}}
	}
}
