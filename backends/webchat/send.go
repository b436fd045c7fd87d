package webchat

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/send"
)

// fieldSender is a field of a response, such as {"name": "Grace"}, with the agent who wrote it. An agent's page
// sets it in the data of a message, and a live chat passes it on.
const fieldSender = "sender"

// Send implements send.Connector. It stores the message in the visitor's log. Open pages show it at once, and
// others when the visitor returns. A message with the same ID is stored once. TYPING is shown for a few seconds
// and not stored.
//
// A response with an object "sender" that has a "name" is shown as a message of the agent with that name.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	if err := ctx.Err(); err != nil {
		return send.Delivery{}, err
	}
	keys, err := keysOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	if !isVisitor(message.To) {
		return send.Delivery{}, boterr.New(boterr.NotFound, "to",
			"is not a visitor; the id of a visitor begins with %q or %q", prefixAnonymous, prefixUser)
	}
	if err := checkShown(message.Response); err != nil {
		return send.Delivery{}, err
	}
	response := message.Response.Object()
	from, name := sideBot, ""
	if agent, isAgent := response.Field(fieldSender); isAgent {
		if of, isObject := agent.(document.Object); isObject {
			from, name = sideAgent, shortened(document.Get(of, "name", ""))
		}
		response = response.Without(fieldSender)
	}
	in := conversation(message.Channel, message.To)
	if message.Response.Type() == send.TypeTyping {
		err := c.log.SetTyping(ctx, in, chatlog.Typist{Key: from + name, From: from, Name: name})
		return send.Delivery{ChatID: message.To}, outcome(ctx, err)
	}
	if c.config.SignsPayloads {
		response = signPayloads(keys[0], message.To, response)
	}
	stored, _, err := c.log.Append(ctx, in, chatlog.Entry{
		Key: keyOf(message.ID), From: from, Name: name, Body: response,
	})
	if err != nil {
		return send.Delivery{}, outcome(ctx, err)
	}
	return send.Delivery{
		Reply:  document.O("seq", stored.Seq),
		ChatID: message.To, MessageID: message.ID, Timestamp: stored.At,
	}, nil
}

// outcome returns the error of ctx if ctx has ended, and err otherwise.
func outcome(ctx context.Context, err error) error {
	if ended := ctx.Err(); err != nil && ended != nil {
		return ended
	}
	return err
}

// isVisitor reports whether an id looks like a visitor's id.
func isVisitor(id string) bool {
	for _, prefix := range []string{prefixAnonymous, prefixUser} {
		if rest, has := strings.CutPrefix(id, prefix); has && rest != "" && len(rest) <= maxProfile {
			return true
		}
	}
	return false
}

// keyOf returns the key of a message in the log.
func keyOf(id string) string {
	switch {
	case id == "":
		return keyOfMessage + rand.Text()
	case len(id) > chatlog.MaxName-len(keyOfMessage):
		sum := sha256.Sum256([]byte(id))
		return keyOfMessage + base64.RawURLEncoding.EncodeToString(sum[:])
	default:
		return keyOfMessage + id
	}
}

// shortened cuts an agent's name to maxShownName.
func shortened(text string) string {
	if runes := []rune(strings.ToValidUTF8(text, "")); len(runes) > maxShownName {
		return string(runes[:maxShownName])
	}
	return strings.ToValidUTF8(text, "")
}

// maxShownName is the longest name of an agent, in characters.
const maxShownName = 60

// shownTypes are the types that the widget can show.
var shownTypes = []send.Type{
	send.TypeText, send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile, send.TypeQuickReplies, send.TypeButton,
	send.TypeCarousel, send.TypeTyping, send.TypeMisc,
}

// checkShown returns an error for a response that the widget cannot show.
func checkShown(r send.Response) error {
	if !slices.Contains(shownTypes, r.Type()) {
		return boterr.New(boterr.Unsupported, "type", "the widget cannot show messages of type %.40q: send another type", string(r.Type()))
	}
	if size := document.SizeOf(r.Object()); size > chatlog.MaxBody {
		return boterr.Invalid("", "the message has %d bytes; the limit is %d: send several", size, chatlog.MaxBody)
	}
	if err := checkMedia(r); err != nil {
		return err
	}
	for i, reply := range r.QuickReplies() {
		if reply.ContentType != "" && reply.ContentType != send.ContentText {
			return boterr.New(boterr.Unsupported, "quickReplies"+boterr.Index(i)+".content_type",
				"webchat has no quick replies of type %.40q: use text", reply.ContentType)
		}
	}
	if err := checkButtons("", r.Buttons()); err != nil {
		return err
	}
	for i, card := range r.Cards() {
		in := "carousel" + boterr.Index(i) + "."
		if err := checkButtons(in, card.Buttons); err != nil {
			return err
		}
		if card.ImageURL != "" && !hasScheme(card.ImageURL, "https", "http") {
			return boterr.Invalid(in+"image_url", "must be an HTTP or HTTPS address")
		}
	}
	return nil
}

func checkMedia(r send.Response) error {
	if !slices.Contains([]send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}, r.Type()) {
		return nil
	}
	address := document.Get(r, "url", "")
	switch {
	case address == "":
		return boterr.New(boterr.Unsupported, "attachment_id", "the widget shows files by their address: give url")
	case !hasScheme(address, "https", "http"):
		return boterr.Invalid("url", "must be an HTTP or HTTPS address")
	}
	return nil
}

func checkButtons(in string, buttons []send.Button) error {
	for i, button := range buttons {
		field := in + "buttons" + boterr.Index(i)
		switch {
		case button.Type != send.ButtonPostback && button.Type != send.ButtonWebURL:
			return boterr.New(boterr.Unsupported, field+".type", "only buttons of type postback and web_url are shown")
		case button.Type == send.ButtonWebURL && !hasScheme(button.URL, "https", "http", "mailto", "tel"):
			return boterr.Invalid(field+".url", "must be an https, http, mailto or tel address")
		}
	}
	return nil
}

func hasScheme(address string, schemes ...string) bool {
	parsed, err := url.Parse(address)
	return err == nil && slices.Contains(schemes, strings.ToLower(parsed.Scheme))
}

// signaturePart separates a payload from its signature.
const signaturePart = "~"

// signPayloads signs the payloads of quick replies and buttons in a response.
func signPayloads(by key, visitor string, response document.Object) document.Object {
	return withPayloads(response, func(text string, value any) string { return signedText(by, visitor, text, value) })
}

// signPayloadsAgain replaces the signatures for the visitor from by signatures for the visitor to. It leaves other
// payloads unchanged.
func signPayloadsAgain(keys []key, from, to string, response document.Object) document.Object {
	return withPayloads(response, func(text string, value any) string {
		if offered, isOffered := offeredText(keys, from, text, value); isOffered {
			return signedText(keys[0], to, offered, value)
		}
		return text
	})
}

// withPayloads replaces the text of each payload in a response by the result of change, for quick replies, buttons and
// cards. The text is the payload if it is a string, or else its field payload. value is its field value, or nil.
func withPayloads(response document.Object, change func(text string, value any) string) document.Object {
	for _, list := range []string{"quickReplies", "buttons"} {
		items := document.Get(response, list, document.Array{}).Items()
		for i, item := range items {
			if o, isObject := item.(document.Object); isObject && o.Has("payload") {
				items[i] = o.With("payload", withText(o.Value("payload"), change))
			}
		}
		if len(items) > 0 {
			response = response.With(list, document.A(items...))
		}
	}
	cards := document.Get(response, "carousel", document.Array{}).Items()
	for i, item := range cards {
		if card, isObject := item.(document.Object); isObject {
			cards[i] = withPayloads(card, change)
		}
	}
	if len(cards) > 0 {
		response = response.With("carousel", document.A(cards...))
	}
	return response
}

// withText returns a payload with its text replaced by the result of change.
func withText(payload any, change func(text string, value any) string) any {
	switch payload := payload.(type) {
	case string:
		return change(payload, nil)
	case document.Object:
		value, _ := payload.Field("value")
		return payload.With("payload", change(document.Get(payload, "payload", ""), value))
	default:
		return payload
	}
}

// signedText returns the text of a payload with its signature.
func signedText(by key, visitor, text string, value any) string {
	return text + signaturePart + payloadSignature(by, visitor, text, value)
}

// offeredText removes the signature from a payload's text. It reports whether one of the keys signed the text
// and the value for this visitor.
func offeredText(keys []key, visitor, text string, value any) (string, bool) {
	end := strings.LastIndex(text, signaturePart)
	if end < 0 {
		return "", false
	}
	given := []byte(text[end+len(signaturePart):])
	return text[:end], slices.ContainsFunc(keys, func(k key) bool {
		return hmac.Equal([]byte(payloadSignature(k, visitor, text[:end], value)), given)
	})
}

// payloadSignature signs a payload, so that only the visitor who got it can send it back.
func payloadSignature(by key, visitor, text string, value any) string {
	const size = 16
	offered, err := document.AppendJSON([]byte("payload "), document.A(visitor, text, value))
	if err != nil {
		return "" // A value that is not JSON cannot be sent or come back.
	}
	signed := signature(by, string(offered))
	return base64.RawURLEncoding.EncodeToString(signed[:size])
}
