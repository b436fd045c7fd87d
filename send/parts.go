package send

import "github.com/botctx/go-sdk/document"

// The values of QuickReply.ContentType and Button.Type that are known. Others pass
// through.
const (
	// ContentText is a quick reply that says its title.
	ContentText = "text"
	// ButtonPostback is a button that sends its payload.
	ButtonPostback = "postback"
	// ButtonWebURL is a button that opens an address.
	ButtonWebURL = "web_url"
)

// QuickReply is an answer to tap.
type QuickReply struct {
	// ContentType is ContentText by default.
	ContentType string `json:"content_type,omitzero"`
	// Title is what the member reads, at most [MaxQuickReplyTitle] characters.
	Title string `json:"title,omitzero"`
	// Payload is what comes in when it is tapped, at most [MaxQuickReplyPayload]
	// characters. The default is the title.
	Payload string `json:"payload,omitzero"`
	// Unknown holds the fields of other names.
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

// Button is a button. Postback, PostbackValue and WebURL make the usual ones.
type Button struct {
	// Type is ButtonPostback or ButtonWebURL. The default is what follows from URL.
	Type string `json:"type,omitzero"`
	// Title is what the member reads, at most [MaxButtonTitle] characters.
	Title string `json:"title,omitzero"`
	// Payload is what comes in when a postback is tapped: a string, or an object of
	// payload, a string, and perhaps value, which is anything.
	Payload any `json:"payload,omitzero"`
	// URL is what a web_url opens.
	URL string `json:"url,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// Postback returns a button that sends a payload.
func Postback(title, payload string) Button {
	return Button{Type: ButtonPostback, Title: title, Payload: payload}
}

// PostbackValue returns a button that sends a payload and a value with it, which is
// what document.ValueOf takes. MessageEvent.Value reads it.
func PostbackValue(title, payload string, value any) Button {
	return Button{Type: ButtonPostback, Title: title, Payload: document.O(fieldPayload, payload, "value", value)}
}

// WebURL returns a button that opens an address.
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
	// Title and Subtitle are at most [MaxCardTitle] characters each. A card has a title.
	Title    string `json:"title,omitzero"`
	Subtitle string `json:"subtitle,omitzero"`
	// ImageURL is the address of the picture.
	ImageURL string `json:"image_url,omitzero"`
	// Buttons are at most [MaxButtons].
	Buttons []Button `json:"buttons,omitzero"`
	// Unknown holds the fields of other names.
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
	// Title is what the member reads first. An article has one.
	Title string `json:"title,omitzero"`
	// Description is what stands below it.
	Description string `json:"description,omitzero"`
	// URL is where a tap leads, PicURL the address of the picture.
	URL    string `json:"url,omitzero"`
	PicURL string `json:"picurl,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the article with its unknown fields.
func (a Article) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// UnmarshalJSON reads an article and keeps unknown fields.
func (a *Article) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }

// QuickReplies returns the quick replies of a response, nil where it has none that
// can be read.
func (r Response) QuickReplies() []QuickReply {
	return document.Get(r, "quickReplies", []QuickReply(nil))
}

// Buttons returns the buttons of a response, nil where it has none that can be read.
// Those of cards are in Cards.
func (r Response) Buttons() []Button { return document.Get(r, "buttons", []Button(nil)) }

// Cards returns the cards of a carousel, nil where there are none that can be read.
func (r Response) Cards() []Card { return document.Get(r, "carousel", []Card(nil)) }

// Articles returns the articles of Echo's news, nil where there are none that can be read.
func (r Response) Articles() []Article { return document.Get(r, "articles", []Article(nil)) }

// Components returns the components of Bravo's template, nil where there are none that can be
// read.
func (r Response) Components() []document.Object {
	return document.Get(r, "components", []document.Object(nil))
}

// mapped returns what change makes of every item, nil for nil.
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
