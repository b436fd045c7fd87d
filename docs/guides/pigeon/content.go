package pigeon

import (
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// content is a message in Pigeon's words: a text, a picture, and buttons below.
type content struct {
	To      string   `json:"to"`
	Text    string   `json:"text,omitzero"`
	Picture string   `json:"picture,omitzero"`
	Buttons []button `json:"buttons,omitzero"`
}

// button opens an address, or sends its value back.
type button struct {
	Label string `json:"label"`
	Value string `json:"value,omitzero"`
	URL   string `json:"url,omitzero"`
}

// contentOf converts a response to Pigeon's format. The error names a field that Pigeon cannot express.
func contentOf(response send.Response) (content, error) {
	shown := content{Text: response.Text()}
	switch kind := response.Type(); kind {
	case send.TypeText:
		return shown, nil
	case send.TypeImage:
		shown.Picture = document.Get(response, "url", "")
		if shown.Picture == "" {
			return content{}, boterr.New(boterr.Unsupported, "attachment_id", "Pigeon does not store pictures: give the url")
		}
		return shown, nil
	case send.TypeButton, send.TypeQuickReplies:
		buttons, err := buttonsOf(response)
		shown.Buttons = buttons
		return shown, err
	default:
		return content{}, boterr.New(boterr.Unsupported, "type",
			"Pigeon has no messages of type %s: send a text, a picture or buttons", kind)
	}
}

// buttonsOf returns the buttons of a response. Quick replies are buttons, too.
func buttonsOf(response send.Response) ([]button, error) {
	var all []button
	for i, given := range response.QuickReplies() {
		if given.ContentType != "" && given.ContentType != send.ContentText {
			return nil, boterr.New(boterr.Unsupported, "quickReplies["+strconv.Itoa(i)+"].content_type",
				"Pigeon has no quick replies of type %s: use %s", given.ContentType, send.ContentText)
		}
		all = append(all, button{Label: given.Title, Value: given.Payload})
	}
	for i, given := range response.Buttons() {
		switch given.Type {
		case send.ButtonPostback:
			all = append(all, button{Label: given.Title, Value: valueOf(given.Payload)})
		case send.ButtonWebURL:
			all = append(all, button{Label: given.Title, URL: given.URL})
		default:
			return nil, boterr.New(boterr.Unsupported, "buttons["+strconv.Itoa(i)+"].type",
				"Pigeon has no buttons of type %s: use %s or %s", given.Type, send.ButtonPostback, send.ButtonWebURL)
		}
	}
	return all, nil
}

// valueOf returns a payload as text: an object as JSON, which payloadOf reads when it comes back.
func valueOf(payload any) string {
	if object, isObject := payload.(document.Object); isObject {
		return object.String()
	}
	text, _ := payload.(string)
	return text
}

// payloadOf returns the payload in a button's value.
func payloadOf(value string) any {
	if parsed, err := document.ParseJSON([]byte(value)); err == nil {
		if object, isObject := parsed.(document.Object); isObject {
			return object
		}
	}
	return value
}
