package livechats

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

const (
	fieldAssignmentDetails = "assignmentDetails"
	fieldText              = "text"
)

// longestName is the most of a member's name in a message, in Unicode code points.
const longestName = 200

// filledRelayMessages returns the relay messages as an assignment keeps them, filled from
// the member. They are not filled again.
func filledRelayMessages(given map[channel.Type]send.Response, m *member.Member) (document.Object, error) {
	kept := document.O()
	for _, platform := range slices.Sorted(maps.Keys(given)) {
		if given[platform].IsZero() {
			continue
		}
		filled, err := send.Fill(given[platform], m)
		if err != nil {
			return document.Object{}, boterr.PrefixField(relayMessageField(platform), err)
		}
		kept = kept.With(string(platform), filled)
	}
	return kept, kept.Err()
}

// opaqueRelayMessages returns the relay messages as an assignment of a custom outlet keeps
// them: filled from the member, where they are messages that can be, else as they are.
func opaqueRelayMessages(d livechat.AssignmentDetails, m *member.Member) document.Object {
	if filled, err := filledRelayMessages(d.RelayMessage, m); err == nil && len(d.RelayMessage) > 0 {
		return filled
	}
	return document.Get(d.Unknown, fieldRelayMessage, document.O())
}

// relayMessageField is the parameter of a platform's relay message.
func relayMessageField(platform channel.Type) string {
	return fieldAssignmentDetails + "." + fieldRelayMessage + "." + string(platform)
}

// messageOf returns the message that an outlet gets.
func (s *tickets) messageOf(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	if r.Direct != "" {
		return s.firstMessage(r, m, platform)
	}
	return s.ticketMessage(r, m, platform)
}

// ticketMessage returns the message that offers an assignment to the broadcast groups of a
// platform. What a tap on it sends tells which assignment is meant.
func (s *tickets) ticketMessage(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	text := nameOf(m) + " asks for a person."
	if r.Summary != "" {
		room := send.MaxText
		if r.History { // Its address comes behind, on a line of its own.
			address, err := s.historyOf(r)
			if err != nil {
				return send.Response{}, err
			}
			room -= utf8.RuneCountInString("\n" + address)
		}
		text = shortened(text+"\n"+r.Summary, max(1, room))
	}
	standard := send.Buttons(text, send.Postback("Take", livechat.TakePayload))
	message, err := s.messageFor(r, platform, standard)
	return withAssignment(message, r.ID), err
}

// firstMessage returns the first message of a conversation with a channel that has the
// request directly.
func (s *tickets) firstMessage(r *livechat.AssignmentRecord, m *member.Member, platform channel.Type) (send.Response, error) {
	standard := send.Text(nameOf(m) + " asks for a person.")
	message, err := s.messageFor(r, platform, standard)
	if !platform.Has(channel.LiveChatAPI) {
		return message, err
	}
	if err != nil { // What such an outlet is told is its own, and need be no message.
		message, err = s.withHistory(r, standard, platform)
	}
	return message.With("assignmentId", r.ID).With(fieldAssignmentDetails, r.Details), err
}

// messageFor returns the relay message for a platform, or the standard one, with the
// address of the history where it is asked for.
func (s *tickets) messageFor(r *livechat.AssignmentRecord, platform channel.Type, standard send.Response) (send.Response, error) {
	message := standard
	if own := document.Get(r.RelayMessage, string(platform), send.Response{}); !own.IsZero() {
		message = send.Raw(own.Object()) // It was filled when the request was made.
	}
	message, err := s.withHistory(r, message, platform)
	if err != nil {
		return send.Response{}, err
	}
	return message, boterr.PrefixField(relayMessageField(platform), message.Validate())
}

// withHistory appends the address of the history, where it is asked for, to the text of a
// message.
func (s *tickets) withHistory(r *livechat.AssignmentRecord, message send.Response, platform channel.Type) (send.Response, error) {
	if !r.History {
		return message, nil
	}
	if message.Text() == "" {
		return message, boterr.Invalid(relayMessageField(platform), "has no text that the address of the history could be added to")
	}
	address, err := s.historyOf(r)
	return message.With(fieldText, message.Text()+"\n"+address), err
}

// checkHistory refuses a history where the host gives no addresses.
func (s *tickets) checkHistory() error {
	if s.ports.HistoryURL == nil {
		return boterr.New(boterr.Unsupported, fieldHistory, "this host gives no addresses of histories: leave it out")
	}
	return nil
}

// historyOf returns the address of the history of an assignment's conversation.
func (s *tickets) historyOf(r *livechat.AssignmentRecord) (string, error) {
	if err := s.checkHistory(); err != nil {
		return "", err
	}
	shown := r.Assignment
	address, err := s.ports.HistoryURL(&shown)
	return address, boterr.WithField(fieldHistory, err)
}

// shortened returns a text of at most so many code points. Where there was more, the last one tells
// so.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
