package charlie

import (
	"net/url"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// content is a message in the tool's words.
type content struct {
	// text is what notifications and programs that show no blocks have.
	text   string
	blocks document.Array
}

// passedOn are the fields of the tool's own that any response may have.
var passedOn = []string{
	fieldBlocks, fieldAttachments,
	fieldThread, "reply_broadcast", "unfurl_links", "unfurl_media", "username", "icon_url", "icon_emoji", "metadata",
}

// formOf returns a response as the fields of a request.
func formOf(response send.Response) (url.Values, error) {
	shown, err := contentOf(response)
	if err != nil {
		return nil, err
	}
	if shown.blocks.Len() > 0 {
		response = response.With(fieldBlocks, shown.blocks)
	}
	form := url.Values{fieldText: {shown.text}}
	for _, field := range passedOn {
		if err := pass(form, response, field); err != nil {
			return nil, err
		}
	}
	return form, nil
}

// pass puts a field of a response into a form as it is.
func pass(form url.Values, response send.Response, field string) error {
	value, _ := response.Object().Field(field)
	switch value := value.(type) {
	case nil:
		return nil
	case string:
		form.Set(field, value)
		return nil
	default:
		text, err := document.AppendJSON(nil, value)
		form.Set(field, string(text))
		return boterr.PrefixField(field, err)
	}
}

// contentOf returns a response in the tool's words.
func contentOf(response send.Response) (content, error) {
	switch t := response.Type(); t {
	case send.TypeText:
		return content{text: escaped(response.Text())}, nil
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		return fileOf(response)
	case send.TypeQuickReplies:
		return quickRepliesOf(response)
	case send.TypeButton:
		return buttonsOf(response)
	case send.TypeCarousel:
		return carouselOf(response)
	default:
		for _, field := range []string{fieldBlocks, fieldAttachments} {
			if value, _ := response.Object().Field(field); value != nil {
				return content{text: response.Text()}, nil
			}
		}
		return content{}, boterr.New(boterr.Unsupported, "type",
			"the workspace chat tool has no messages of type %s: send another type, or give blocks or attachments in its words", t)
	}
}

// fileOf returns a picture, or a link to another file.
func fileOf(response send.Response) (content, error) {
	address := document.Get(response, "url", "")
	if address == "" {
		id := document.Get(response, "attachment_id", "")
		if response.Type() != send.TypeImage {
			return content{}, boterr.New(boterr.Unsupported, "attachment_id",
				"the workspace chat tool shows pictures alone by their id: give the url of the file")
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
	return "<" + escaped(address) + ">", nil
}

// maxURLLength is the longest address that the tool takes in a block.
const maxURLLength = 3000

// checkURL refuses what is no address that the tool opens.
func checkURL(field, address string) error {
	parsed, err := url.Parse(address)
	switch {
	case err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https":
		return boterr.Invalid(field, "is no address of HTTP or HTTPS")
	case len(address) > maxURLLength:
		return boterr.Invalid(field, "has %d bytes, and the workspace chat tool takes at most %d", len(address), maxURLLength)
	default:
		return nil
	}
}
