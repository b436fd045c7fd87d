package charlie

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/internal/taps"
	"github.com/botctx/go-sdk/send"
)

// maxSectionLength is the longest text of a block, in code points after escaping.
const maxSectionLength = 3000

// quickRepliesOf converts a text with quick replies to a text with buttons.
func quickRepliesOf(response send.Response) (content, error) {
	buttons := document.A()
	for i, reply := range pieces.Objects(response, "quickReplies") {
		path := "quickReplies" + boterr.Index(i)
		if kind := document.Get(reply, "content_type", ""); kind != "" && kind != send.ContentText {
			return content{}, boterr.New(boterr.Unsupported, path+".content_type",
				"the workspace chat tool has no quick replies of type %s: use %s", kind, send.ContentText)
		}
		button, err := postback(i, reply)
		if err != nil {
			return content{}, boterr.PrefixField(path, err)
		}
		buttons = buttons.Append(button)
	}
	return textAnd(response, buttons), nil
}

func buttonsOf(response send.Response) (content, error) {
	buttons, err := actionsOf(pieces.Objects(response, "buttons"))
	return textAnd(response, buttons), err
}

// textAnd returns the text of a response, followed by buttons.
func textAnd(response send.Response, elements document.Array) content {
	blocks := document.A()
	for _, part := range sections(response.Text()) {
		blocks = blocks.Append(section(part))
	}
	return content{text: escaper.Replace(response.Text()), blocks: blocks.Append(document.O("type", "actions", "elements", elements))}
}

// carouselOf converts a carousel to a column of cards.
func carouselOf(response send.Response) (content, error) {
	shown := content{blocks: document.A()}
	for i, card := range pieces.Objects(response, "carousel") {
		blocks, err := cardOf(card)
		if err != nil {
			return content{}, boterr.PrefixField("carousel"+boterr.Index(i), err)
		}
		if i > 0 {
			shown.text += "\n"
			shown.blocks = shown.blocks.Append(document.O("type", "divider"))
		}
		shown.text += escaper.Replace(document.Get(card, "title", ""))
		for _, block := range blocks {
			shown.blocks = shown.blocks.Append(block)
		}
	}
	return shown, nil
}

// cardOf converts a card to a block with its texts and picture, and a block with its buttons.
func cardOf(card document.Object) ([]document.Object, error) {
	text := "*" + escaper.Replace(document.Get(card, "title", "")) + "*"
	if subtitle := document.Get(card, "subtitle", ""); subtitle != "" {
		text += "\n" + escaper.Replace(subtitle)
	}
	shown := section(text)
	if image := document.Get(card, "image_url", ""); image != "" {
		if err := checkURL("image_url", image); err != nil {
			return nil, err
		}
		shown = shown.With("accessory", document.O(
			"type", "image", "image_url", image, "alt_text", document.Get(card, "title", ""),
		))
	}
	buttons, err := actionsOf(pieces.Objects(card, "buttons"))
	if err != nil || buttons.Len() == 0 {
		return []document.Object{shown}, err
	}
	return []document.Object{shown, document.O("type", "actions", "elements", buttons)}, nil
}

func actionsOf(given []document.Object) (document.Array, error) {
	buttons := document.A()
	for i, button := range given {
		shown, err := buttonOf(i, button)
		if err != nil {
			return document.Array{}, boterr.PrefixField("buttons"+boterr.Index(i), err)
		}
		buttons = buttons.Append(shown)
	}
	return buttons, nil
}

// buttonOf converts a button to the tool's format.
func buttonOf(i int, button document.Object) (document.Object, error) {
	switch kind := document.Get(button, "type", ""); kind {
	case send.ButtonPostback:
		return postback(i, button)
	case send.ButtonWebURL:
		address := document.Get(button, "url", "")
		shown := labelled(i, document.Get(button, "title", "")).With("url", address)
		return shown, checkURL("url", address)
	default:
		return document.Object{}, boterr.New(boterr.Unsupported, "type",
			"the workspace chat tool has no buttons of type %s: use %s or %s", kind, send.ButtonPostback, send.ButtonWebURL)
	}
}

// maxValueLength is the longest value of a button, in code points.
const maxValueLength = 2000

// postback returns a button with the payload as its value.
func postback(i int, button document.Object) (document.Object, error) {
	value, err := taps.Of(button, "charlie", maxValueLength)
	return labelled(i, document.Get(button, "title", "")).With("value", value), err
}

func labelled(i int, title string) document.Object {
	return document.O(
		"type", "button",
		"action_id", fmt.Sprintf("button-%d", i),
		"text", document.O("type", "plain_text", "text", title, "emoji", true),
	)
}

func section(text string) document.Object {
	return document.O("type", "section", "text", document.O("type", "mrkdwn", "text", text, "verbatim", true))
}

// sections escapes a text and splits it into parts that each fit into a block.
func sections(text string) []string {
	var parts []string
	begin, length := 0, 0
	for at, r := range text {
		more := utf8.RuneCountInString(escaper.Replace(string(r)))
		if length+more > maxSectionLength {
			parts = append(parts, escaper.Replace(text[begin:at]))
			begin, length = at, 0
		}
		length += more
	}
	return append(parts, escaper.Replace(text[begin:]))
}

// content is a message in the tool's format.
type content struct {
	// text is shown in notifications, and in programs that cannot show blocks.
	text   string
	blocks document.Array
}

// passedOn are the platform's own fields that a response may have.
var passedOn = []string{
	fieldBlocks, fieldAttachments,
	fieldThread, "reply_broadcast", "unfurl_links", "unfurl_media", "username", "icon_url", "icon_emoji", "metadata",
}

// forResponseURL are the platform's own fields that a response may also have if it goes to a response URL.
var forResponseURL = []string{"replace_original", "delete_original", "response_type"}

// FormatResponse implements send.ResponseFormatter. The response may also have the tool's fields replace_original,
// delete_original and response_type. It returns the same errors as Send.
func (c *Connector) FormatResponse(response send.Response) (document.Object, error) {
	return fieldsOf(response, slices.Concat(passedOn, forResponseURL))
}

// formOf converts a response to the form of a request.
func formOf(response send.Response) (url.Values, error) {
	fields, err := fieldsOf(response, passedOn)
	if err != nil {
		return nil, err
	}
	form := url.Values{}
	for field, value := range fields.All() {
		if err := pass(form, field, value); err != nil {
			return nil, err
		}
	}
	return form, nil
}

// fieldsOf converts a response to the fields of a request: its content, and the given fields that it has itself.
func fieldsOf(response send.Response, own []string) (document.Object, error) {
	shown, err := contentOf(response)
	if err != nil {
		return document.Object{}, err
	}
	if shown.blocks.Len() > 0 {
		response = response.With(fieldBlocks, shown.blocks)
	}
	fields := document.O(fieldText, shown.text)
	for _, field := range own {
		if value, _ := response.Object().Field(field); value != nil {
			fields = fields.With(field, value)
		}
	}
	if isRelayed(response) {
		fields = fields.Without(fieldAttachments) // The text has a line for each.
	}
	return fields, fields.Err()
}

func pass(form url.Values, field string, value any) error {
	if text, isText := value.(string); isText {
		form.Set(field, text)
		return nil
	}
	text, err := document.AppendJSON(nil, value)
	form.Set(field, string(text))
	return boterr.PrefixField(field, err)
}

// contentOf converts a response to the tool's format.
func contentOf(response send.Response) (content, error) {
	switch t := response.Type(); t {
	case send.TypeText:
		return content{text: escaper.Replace(response.Text())}, nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		return fileOf(response)
	case send.TypeQuickReplies:
		return quickRepliesOf(response)
	case send.TypeButton:
		return buttonsOf(response)
	case send.TypeCarousel:
		return carouselOf(response)
	default:
		if isRelayed(response) {
			return relayedOf(response)
		}
		for _, field := range []string{fieldBlocks, fieldAttachments} {
			if value, _ := response.Object().Field(field); value != nil {
				return content{text: response.Text()}, nil
			}
		}
		return content{}, boterr.New(boterr.Unsupported, "type",
			"the workspace chat tool has no messages of type %s: send another type, or give blocks or attachments in its format", t)
	}
}

// isRelayed reports whether a response is a message that a live chat relays from another channel. As in events, the
// attachments of such a message have a type. Attachments in the tool's own format have none.
func isRelayed(response send.Response) bool {
	isOwn := func(attachment document.Object) bool { return !attachment.Has("type") }
	return response.Type() == send.TypeMisc && !response.Object().Has(fieldBlocks) &&
		!slices.ContainsFunc(pieces.Objects(response, fieldAttachments), isOwn)
}

// relayedOf converts a relayed message to its text, followed by a line for each attachment.
func relayedOf(response send.Response) (content, error) {
	var lines []string
	if text := response.Text(); text != "" {
		lines = append(lines, escaper.Replace(text))
	}
	for i, attachment := range pieces.Objects(response, fieldAttachments) {
		line, err := lineOf(attachment)
		if err != nil {
			return content{}, boterr.WithField(fieldAttachments+boterr.Index(i), err)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return content{}, boterr.New(boterr.Unsupported, "type",
			"in the workspace chat tool, a message of type MISC needs text or attachments, and this one has neither")
	}
	return content{text: strings.Join(lines, "\n")}, nil
}

// lineOf returns the coordinates of a place, or a link to a file. The tool shows a picture below its link.
func lineOf(attachment document.Object) (string, error) {
	if at := document.Get(attachment, "payload.coordinates", document.Object{}); !at.IsZero() {
		return pieces.Place(at), nil
	}
	address := document.Get(attachment, "payload.url", "")
	if address == "" {
		return "", boterr.New(boterr.Unsupported, "", "the workspace chat tool cannot show another channel's file by its id: give payload.url")
	}
	return linkTo(address)
}

// fileOf converts a picture to a block, and any other file to a link.
func fileOf(response send.Response) (content, error) {
	address := document.Get(response, "url", "")
	if address == "" {
		id := document.Get(response, "attachment_id", "")
		if response.Type() != send.TypeImage {
			return content{}, boterr.New(boterr.Unsupported, "attachment_id",
				"only a picture can be sent by its id in the workspace chat tool: give the url of the file")
		}
		return content{text: "Image", blocks: document.A(
			document.O("type", "image", "slack_file", document.O("id", id), "alt_text", "Image"),
		)}, nil
	}
	link, err := linkTo(address)
	if err != nil {
		return content{}, err
	}
	if response.Type() != send.TypeImage {
		return content{text: link}, nil
	}
	return content{text: link, blocks: document.A(
		document.O("type", "image", "image_url", address, "alt_text", "Image"),
	)}, nil
}

// linkTo returns a link in the tool's markup.
func linkTo(address string) (string, error) {
	if err := checkURL("url", address); err != nil {
		return "", err
	}
	address = strings.NewReplacer("|", "%7C", "<", "%3C", ">", "%3E").Replace(address)
	return "<" + escaper.Replace(address) + ">", nil
}

// maxURLLength is the longest address in a block, in bytes.
const maxURLLength = 3000

// checkURL returns InvalidArgument for an address that the tool cannot open.
func checkURL(field, address string) error {
	if len(address) > maxURLLength {
		return boterr.Invalid(field, "has %d bytes, and the workspace chat tool takes at most %d", len(address), maxURLLength)
	}
	return bounded.CheckURL(field, address)
}

// escaper makes the tool show a text literally, without mentions, links or notifications of whole
// conversations. unescaper reverses this.
var (
	escaper   = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	unescaper = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// inBrackets matches the tool's markup, such as <https://example.com|label>.
var inBrackets = regexp.MustCompile(`<([^<>|]*)(?:\|([^<>]*))?>`)

// plainText converts a text from the tool back to the text that its author wrote. A link becomes its address. A
// mention becomes the name, if the tool sends it.
func plainText(text string) string {
	text = inBrackets.ReplaceAllStringFunc(text, func(marked string) string {
		parts := inBrackets.FindStringSubmatch(marked)
		target, label := parts[1], parts[2]
		switch {
		case strings.HasPrefix(target, "@") || strings.HasPrefix(target, "#"):
			if label != "" {
				return target[:1] + strings.TrimLeft(label, "@#")
			}
			return target
		case strings.HasPrefix(target, "!"):
			if label != "" {
				return label
			}
			return "@" + strings.TrimPrefix(target, "!")
		case strings.HasPrefix(target, "mailto:") || strings.HasPrefix(target, "tel:"):
			_, address, _ := strings.Cut(target, ":")
			return address
		default:
			return target
		}
	})
	return unescaper.Replace(text)
}

func withoutMention(text string, bots []string) string {
	trimmed := strings.TrimLeft(text, " ")
	for _, bot := range bots {
		if rest, found := strings.CutPrefix(trimmed, "<@"+bot+">"); found {
			return strings.TrimLeft(rest, " ,:")
		}
	}
	return text
}
