package livechats_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTicket_TapsSendAssignment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, sent string }{
		"a button": {
			`{"type": "BUTTON", "text": "Ada waits", "buttons": [{"type": "postback", "title": "Go", "payload": "go"}]}`,
			`{"type": "BUTTON", "text": "Ada waits", "buttons": [
				{"type": "postback", "title": "Go", "payload": {"payload": "go", "value": "<id>"}}]}`,
		},
		"the cards of a carousel": {
			`{"type": "CAROUSEL", "carousel": [
				{"title": "Ada", "subtitle": "waits", "buttons": [
					{"type": "postback", "title": "Go", "payload": "go"},
					{"type": "postback", "title": "Mine", "payload": {"payload": "mine"}}]},
				{"title": "no buttons"},
				{"title": "More", "buttons": [
					{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
					{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}]}`,
			`{"type": "CAROUSEL", "carousel": [
				{"title": "Ada", "subtitle": "waits", "buttons": [
					{"type": "postback", "title": "Go", "payload": {"payload": "go", "value": "<id>"}},
					{"type": "postback", "title": "Mine", "payload": {"payload": "mine", "value": "<id>"}}]},
				{"title": "no buttons"},
				{"title": "More", "buttons": [
					{"type": "postback", "title": "Later", "payload": {"payload": "later", "value": 5}},
					{"type": "web_url", "title": "Shop", "url": "https://shop.example"}]}]}`,
		},
		"quick replies": {
			`{"type": "QUICK_REPLIES", "text": "Ada waits", "quickReplies": [
				{"content_type": "text", "title": "Go", "payload": "go"}, {"title": "Mine", "payload": "mine"},
				{"content_type": "text", "title": "Later", "payload": "later", "value": 5}, {"content_type": "location"}]}`,
			`{"type": "QUICK_REPLIES", "text": "Ada waits", "quickReplies": [
				{"content_type": "text", "title": "Go", "payload": "go", "value": "<id>"}, {"title": "Mine", "payload": "mine", "value": "<id>"},
				{"content_type": "text", "title": "Later", "payload": "later", "value": 5}, {"content_type": "location"}]}`,
		},
		"a text": {`{"type": "TEXT", "text": "Ada waits"}`, `{"type": "TEXT", "text": "Ada waits"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{"label": "sales", "assignmentDetails": {"relayMessage": {"charlie": `+c.given+`}}}`)
			require.JSONEq(t, strings.ReplaceAll(c.sent, "<id>", r.ID), s.lastSent(t).String())
		})
	}
}
