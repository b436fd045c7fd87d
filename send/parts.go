package send

import "github.com/botctx/go-sdk/document"

// Known values of QuickReply.ContentType and Button.Type. Others are passed on unchanged.
const (
	// ContentText is a quick reply that shows its title.
	ContentText = "text"
	// ButtonPostback is a button that sends its payload.
	ButtonPostback = "postback"
	// ButtonWebURL is a button that opens a URL.
	ButtonWebURL = "web_url"
)

// QuickReply is a suggested answer that the member can tap.
type QuickReply struct {
	// ContentType is ContentText by default.
	ContentType string `json:"content_type,omitzero"`
	// Title is the visible text, at most [MaxQuickReplyTitle] characters.
	Title string `json:"title,omitzero"`
	// Payload is sent back when the reply is tapped, at most [MaxQuickReplyPayload] characters. The
	// default is the title.
	Payload string `json:"payload,omitzero"`
	// Unknown holds fields that QuickReply does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

func (q QuickReply) withDefaults() QuickReply {
	if q.ContentType == "" {
		q.ContentType = ContentText
	}
	if q.Payload == "" && q.ContentType == ContentText {
		q.Payload = q.Title
	}
	return q
}

// MarshalJSON writes the quick reply with its unknown fields.
func (q QuickReply) MarshalJSON() ([]byte, error) { return document.EncodeJSON(q) }

// UnmarshalJSON reads a quick reply and keeps unknown fields.
func (q *QuickReply) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, q) }

// Button is a button. Use Postback, PostbackValue and WebURL for the usual kinds.
type Button struct {
	// Type is ButtonPostback or ButtonWebURL. The default is ButtonWebURL if URL is set, else
	// ButtonPostback.
	Type string `json:"type,omitzero"`
	// Title is the visible text, at most [MaxButtonTitle] characters.
	Title string `json:"title,omitzero"`
	// Payload is sent back when a postback is tapped: a string, or an object with a string payload
	// and an optional value of any type.
	Payload any `json:"payload,omitzero"`
	// URL is the address that a web_url button opens.
	URL string `json:"url,omitzero"`
	// Unknown holds fields that Button does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// Postback returns a button that sends a payload.
func Postback(title, payload string) Button {
	return Button{Type: ButtonPostback, Title: title, Payload: payload}
}

// PostbackValue returns a button that sends a payload with a value, which may be anything that
// document.ValueOf accepts. MessageEvent.Value returns it.
func PostbackValue(title, payload string, value any) Button {
	return Button{Type: ButtonPostback, Title: title, Payload: document.O(fieldPayload, payload, "value", value)}
}

// WebURL returns a button that opens a URL.
func WebURL(title, url string) Button {
	return Button{Type: ButtonWebURL, Title: title, URL: url}
}

func (b Button) withDefaults() Button {
	switch {
	case b.Type != "":
	case b.URL != "":
		b.Type = ButtonWebURL
	default:
		b.Type = ButtonPostback
	}
	return b
}

// MarshalJSON writes the button with its unknown fields.
func (b Button) MarshalJSON() ([]byte, error) { return document.EncodeJSON(b) }

// UnmarshalJSON reads a button and keeps unknown fields.
func (b *Button) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, b) }

// Card is a card of a carousel.
type Card struct {
	// Title and Subtitle have at most [MaxCardTitle] characters each. Title is required.
	Title    string `json:"title,omitzero"`
	Subtitle string `json:"subtitle,omitzero"`
	// ImageURL is the URL of the picture.
	ImageURL string `json:"image_url,omitzero"`
	// Buttons has at most [MaxButtons] elements.
	Buttons []Button `json:"buttons,omitzero"`
	// Unknown holds fields that Card does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

func (c Card) withDefaults() Card {
	c.Buttons = mapped(c.Buttons, Button.withDefaults)
	return c
}

// MarshalJSON writes the card with its unknown fields.
func (c Card) MarshalJSON() ([]byte, error) { return document.EncodeJSON(c) }

// UnmarshalJSON reads a card and keeps unknown fields.
func (c *Card) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, c) }

// Article is an article on Echo.
type Article struct {
	// Title is the headline. It is required.
	Title string `json:"title,omitzero"`
	// Description is shown below the title.
	Description string `json:"description,omitzero"`
	// URL is opened when the article is tapped; PicURL is the URL of the picture.
	URL    string `json:"url,omitzero"`
	PicURL string `json:"picurl,omitzero"`
	// Unknown holds fields that Article does not define.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the article with its unknown fields.
func (a Article) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// UnmarshalJSON reads an article and keeps unknown fields.
func (a *Article) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }

// QuickReplies returns the response's quick replies, or nil if there are none or they are invalid.
func (r Response) QuickReplies() []QuickReply {
	return document.Get(r, "quickReplies", []QuickReply(nil))
}

// Buttons returns the response's buttons, or nil if there are none or they are invalid. The buttons
// of cards are in Cards.
func (r Response) Buttons() []Button { return document.Get(r, "buttons", []Button(nil)) }

// Cards returns the cards of a carousel, or nil if there are none or they are invalid.
func (r Response) Cards() []Card { return document.Get(r, "carousel", []Card(nil)) }

// Articles returns the articles of an Echo news, or nil if there are none or they are invalid.
func (r Response) Articles() []Article { return document.Get(r, "articles", []Article(nil)) }

// Components returns the components of a Bravo template, or nil if there are none or they are
// invalid.
func (r Response) Components() []document.Object {
	return document.Get(r, "components", []document.Object(nil))
}

// mapped applies change to every item. It returns nil for nil.
func mapped[T any](items []T, change func(T) T) []T {
	if items == nil {
		return nil
	}
	changed := make([]T, len(items))
	for i, item := range items {
		changed[i] = change(item)
	}
	return changed
}
