package echo

import (
	"context"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// maxTapBytes is the longest id of a line that can be tapped, in bytes.
const maxTapBytes = 128

// Send implements send.Connector. The recipient is a member's openid for the account.
//
//   - TEXT has at most 2,048 bytes, which is 682 Chinese characters. "<a" is shown literally and makes no link.
//   - IMAGE, AUDIO and VIDEO are sent by the platform's media id as attachment_id, or by an address, which is fetched
//     and uploaded: at most 10 MiB, recordings 2 MiB. A video may have title, description and thumb_media_id.
//   - QUICK_REPLIES becomes lines that can be tapped. They stay visible. A payload has at most 128 bytes as text.
//   - BUTTON becomes lines that can be tapped for postbacks, and links below the text for addresses.
//   - CAROUSEL must have one card with one button, which has an address. It becomes an article, like NEWS.
//   - TYPING shows typing. Its duration is ignored.
//   - MISC with attachments like the ones in this package's events, as live chats relay them, becomes several
//     messages: one for its text, and one for each picture, recording, video and location, at most 5.
//   - FILE, TEMPLATE and other types are Unsupported unless the response has message, an object in the platform's
//     form with its msgtype, such as a mini program.
//
// Any response may have the platform's own field customservice, which names the staff account that sends the
// message.
//
// The platform limits the messages to a member; see the package documentation. It has no idempotency keys: if the
// process dies while sending, the message may appear twice.
func (c *Connector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if err := message.Validate(); err != nil {
		return send.Delivery{}, err
	}
	from, err := accountOf(message.Channel)
	if err != nil {
		return send.Delivery{}, err
	}
	delivery := send.Delivery{MessageID: message.ID, From: from.info.BotOpenID}
	if message.Response.Type() == send.TypeTyping {
		delivery.Reply = document.O("msgType", "typing")
		_, err := c.call(ctx, from, request{
			path: "/cgi-bin/message/custom/typing", body: document.O("touser", message.To, "command", "Typing"),
		})
		return delivery, err
	}
	parts, err := c.partsOf(ctx, from, message.Response)
	if err != nil {
		return send.Delivery{}, err
	}
	for i, part := range parts {
		if err := c.post(ctx, from, message, part.content); err != nil {
			return send.Delivery{}, pieces.AfterSome(err, "the platform", i, len(parts))
		}
		delivery.Reply = part.reply
	}
	return delivery, nil
}

// post sends content to the recipient of a message.
func (c *Connector) post(ctx context.Context, from account, message send.Message, content document.Object) error {
	body := document.O("touser", message.To)
	for name, value := range content.All() {
		body = body.With(name, value)
	}
	if writer := document.Get(message.Response, "customservice", document.Object{}); !writer.IsZero() {
		body = body.With("customservice", writer)
	}
	if err := body.Err(); err != nil {
		return err
	}
	_, err := c.call(ctx, from, request{path: "/cgi-bin/message/custom/send", body: body})
	return err
}

// partsOf converts a response to one or more messages in the platform's form.
func (c *Connector) partsOf(ctx context.Context, from account, response send.Response) ([]shown, error) {
	if response.Type() == send.TypeMisc && !response.Object().Has("message") {
		return c.relayedOf(ctx, from, response)
	}
	part, err := c.contentOf(ctx, from, response)
	return []shown{part}, err
}

// shown has a response in the platform's form, and the reply that the specification defines for it.
type shown struct{ content, reply document.Object }

// contentOf converts a response to one message in the platform's form.
func (c *Connector) contentOf(ctx context.Context, from account, response send.Response) (shown, error) {
	switch response.Type() {
	case send.TypeText:
		return textOf(literal(response.Text()), response.Text())
	case send.TypeImage, send.TypeAudio, send.TypeVideo:
		return c.fileOf(ctx, from, response)
	case send.TypeQuickReplies:
		return quickRepliesOf(response)
	case send.TypeButton:
		return buttonsOf(response)
	case send.TypeCarousel:
		return cardOf(response)
	case send.TypeNews:
		return newsOf(response)
	default:
		message, err := pieces.Own(response, channel.Echo)
		if err != nil {
			return shown{}, err
		}
		name := document.Get(message, "msgtype", "")
		if name == "" {
			return shown{}, boterr.Missing("message.msgtype", "the platform's name for the kind of message, such as miniprogrampage")
		}
		return shown{message.Without("touser"), document.O("msgType", name)}, nil
	}
}

// link matches the start of a link in the platform's markup.
var link = regexp.MustCompile(`(?i)<(a\s)`)

// literal makes the platform show a text without links, so a member's name cannot become a link.
func literal(text string) string { return link.ReplaceAllString(text, "\uff1c$1") }

// textOf returns a text message. content is the text with markup, and text is the text of the response.
func textOf(content, text string) (shown, error) {
	if err := checkText(content); err != nil {
		return shown{}, err
	}
	return shown{
		document.O("msgtype", "text", "text", document.O("content", content)), document.O("msgType", "text", "text", text),
	}, nil
}

func checkText(content string) error {
	if most := channel.PlatformOf(channel.Echo).MaxTextBytes; len(content) > most {
		return boterr.Invalid("text", "is %d bytes long in UTF-8; the limit on echo is %d: send it in parts", len(content), most)
	}
	return nil
}

// menuOf returns a text followed by lines that can be tapped, and then by links.
func menuOf(response send.Response, list document.Array, links string) (shown, error) {
	head := literal(response.Text())
	if err := checkText(head + links); err != nil {
		return shown{}, err
	}
	menu := document.O("head_content", head, "list", list, "tail_content", links)
	return shown{
		document.O("msgtype", "msgmenu", "msgmenu", menu), document.O("msgType", "text", "text", response.Text()),
	}, nil
}

// lineOf returns a line that can be tapped.
func lineOf(of document.Object) (document.Object, error) {
	payload, _ := of.Field("payload")
	id, err := taps.Text(payload)
	if err != nil {
		return document.Object{}, boterr.PrefixField("payload", err)
	}
	if len(id) > maxTapBytes {
		return document.Object{}, boterr.Invalid("payload",
			"is %d bytes long as text; the limit on echo is %d: keep the rest elsewhere, under an id", len(id), maxTapBytes)
	}
	return document.O("id", id, "content", document.Get(of, "title", "")), nil
}

func quickRepliesOf(response send.Response) (shown, error) {
	list, err := pieces.Each(response, "quickReplies", func(reply document.Object) (document.Object, error) {
		if kind := document.Get(reply, "content_type", send.ContentText); kind != send.ContentText {
			return document.Object{}, boterr.New(boterr.Unsupported, "content_type",
				"echo supports quick replies of type %s; got %s", send.ContentText, kind)
		}
		return lineOf(reply)
	})
	if err != nil {
		return shown{}, err
	}
	return menuOf(response, list, "")
}

func buttonsOf(response send.Response) (shown, error) {
	list, links := document.A(), []string{}
	for i, button := range pieces.Objects(response, "buttons") {
		path := "buttons" + boterr.Index(i)
		switch kind := document.Get(button, "type", ""); kind {
		case send.ButtonPostback:
			line, err := lineOf(button)
			if err != nil {
				return shown{}, boterr.PrefixField(path, err)
			}
			list = list.Append(line)
		case send.ButtonWebURL:
			address := document.Get(button, "url", "")
			if err := bounded.CheckURL(path+".url", address); err != nil {
				return shown{}, err
			}
			links = append(links, linkTo(address, document.Get(button, "title", "")))
		default:
			return shown{}, boterr.New(boterr.Unsupported, path+".type", "echo has no buttons of type %s: use %s or %s",
				kind, send.ButtonPostback, send.ButtonWebURL)
		}
	}
	below := strings.Join(links, "\n")
	if list.Len() == 0 {
		return textOf(literal(response.Text())+"\n"+below, response.Text())
	}
	return menuOf(response, list, below)
}

// These replace the characters that would end a link's address or its title.
var (
	inAddress = strings.NewReplacer(`"`, "%22", "<", "%3C", ">", "%3E", " ", "%20", "\n", "%0A")
	inTitle   = strings.NewReplacer("<", "\uff1c", ">", "\uff1e")
)

// linkTo returns a link in the platform's markup.
func linkTo(address, title string) string {
	return `<a href="` + inAddress.Replace(address) + `">` + inTitle.Replace(title) + `</a>`
}

// cardOf converts a carousel with one card to an article.
func cardOf(response send.Response) (shown, error) {
	cards := pieces.Objects(response, "carousel")
	if len(cards) != 1 {
		return shown{}, boterr.Invalid("carousel", "has %d cards; a carousel on echo has one card: send a message for each", len(cards))
	}
	buttons := pieces.Objects(cards[0], "buttons")
	if len(buttons) != 1 || document.Get(buttons[0], "type", "") != send.ButtonWebURL {
		return shown{}, boterr.Invalid("carousel[0].buttons",
			"must be one button with an address, which a tap on the card opens: send other buttons in a separate message")
	}
	address := document.Get(buttons[0], "url", "")
	if err := bounded.CheckURL("carousel[0].buttons[0].url", address); err != nil {
		return shown{}, err
	}
	card := cards[0]
	return articleOf(document.O(
		"title", document.Get(card, "title", ""), "description", document.Get(card, "subtitle", ""),
		"url", address, "picurl", document.Get(card, "image_url", ""),
	)), nil
}

// newsOf converts a NEWS response with one article.
func newsOf(response send.Response) (shown, error) {
	articles := pieces.Objects(response, "articles")
	if len(articles) != 1 {
		return shown{}, boterr.Invalid("articles", "has %d elements; a message on echo has one article: send a message for each", len(articles))
	}
	article := document.O()
	for _, field := range []string{"title", "description", "url", "picurl"} {
		article = article.With(field, document.Get(articles[0], field, ""))
	}
	return articleOf(article), bounded.CheckURL("articles[0].url", document.Get(article, "url", ""))
}

func articleOf(article document.Object) shown {
	reply := document.O("msgType", "news", "news", document.A(article), "title", document.Get(article, "title", ""))
	for shownAs, field := range map[string]string{"description": "description", "url": "url", "image": "picurl"} {
		if value := document.Get(article, field, ""); value != "" {
			reply = reply.With(shownAs, value)
		} else {
			article = article.Without(field)
		}
	}
	return shown{document.O("msgtype", "news", "news", document.O("articles", document.A(article))), reply.With("news", document.A(article))}
}

// maxParts is the largest number of messages that a relayed message becomes. The platform accepts no more after
// a member's message.
const maxParts = 5

// fileTypes maps the types of attachments in events to types of messages.
var fileTypes = map[string]send.Type{"image": send.TypeImage, "audio": send.TypeAudio, "video": send.TypeVideo}

// relayedOf converts a message of another channel. Files with an address are uploaded. An attachment_id is only valid in
// the channel that received the file, so it is only used if there is no address.
func (c *Connector) relayedOf(ctx context.Context, from account, response send.Response) ([]shown, error) {
	return pieces.Relay[shown]{
		Platform: channel.Echo, Most: maxParts,
		Text: func(text string) (shown, error) { return textOf(literal(text), text) },
		Attachment: func(attachment document.Object, _ string) (shown, error) {
			return c.attachmentOf(ctx, from, attachment)
		},
	}.Parts(response)
}

// attachmentOf converts an attachment to the platform's form. Errors have the path of the faulty field in the
// attachment.
func (c *Connector) attachmentOf(ctx context.Context, from account, attachment document.Object) (shown, error) {
	payload := document.Get(attachment, "payload", document.Object{})
	if at := document.Get(payload, "coordinates", document.Object{}); !at.IsZero() {
		place := pieces.Place(at)
		return textOf(place, place)
	}
	name := document.Get(attachment, "type", "")
	kind, isShown := fileTypes[name]
	if !isShown {
		return shown{}, boterr.New(boterr.Unsupported, "type",
			"channels of type echo cannot show attachments of type %.40q: send a picture, a recording, a video or a text", name)
	}
	file := send.Other(kind, document.O("url", document.Get(payload, "url", "")))
	if id := document.Get(payload, "attachment_id", ""); id != "" && document.Get(payload, "url", "") == "" {
		file = send.Attachment(kind, id)
	}
	part, err := c.fileOf(ctx, from, file)
	return part, pieces.Located("payload", err)
}
