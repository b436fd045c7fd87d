package send_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// long returns a text of the given number of characters, each of several bytes.
func long(characters int) string { return strings.Repeat("ß", characters) }

// times returns a slice of n equal items.
func times[T any](n int, item T) []T {
	items := make([]T, n)
	for i := range items {
		items[i] = item
	}
	return items
}

func TestValidate_AtTheLimits(t *testing.T) {
	t.Parallel()
	fullReply := send.QuickReply{Title: long(send.MaxQuickReplyTitle), Payload: long(send.MaxQuickReplyPayload)}
	button := send.Postback(long(send.MaxButtonTitle), long(5000))
	card := send.Card{Title: long(send.MaxCardTitle), Subtitle: long(send.MaxCardTitle), Buttons: times(send.MaxButtons, button)}
	for _, response := range []send.Response{
		send.Text(long(send.MaxText)),
		send.QuickReplies(long(send.MaxText), times(send.MaxQuickReplies, fullReply)...),
		send.Buttons(long(send.MaxText), times(send.MaxButtons, button)...),
		send.Carousel(times(send.MaxCards, card)...),
		send.Typing(0),
		send.Raw(document.O("type", "TYPING")),
		send.Raw(document.O("type", "TYPING", "duration", 0.5)),
		send.Raw(document.O("type", "NEWS", "articles", document.A(document.O("title", "A")))),
		send.Raw(document.O("type", "TEMPLATE", "elementName", "e", "languageCode", "en", "components", document.A(1))),
		send.Raw(document.O("type", "IMAGE", "url", "https://u", "attachment_id", "7", "transform", 1)),
		send.Raw(document.O("type", "IMAGE", "url", nil, "attachment_id", "7")),
		send.Buttons("Call?", send.Button{Type: "phone_number", Title: "Call", Unknown: document.O("number", 5)}),
		send.Buttons("?", send.Button{Title: "Yes", Payload: document.O("payload", "p")}),
		send.Raw(document.O("type", "OWN", "text", long(9000), "buttons", 7)),
		send.Raw(document.O("type", "text")),
	} {
		require.NoError(t, response.Validate(), "%.200s", response)
	}
}

func TestValidate_EmptyStringIsAbsent(t *testing.T) {
	t.Parallel()
	for _, response := range []send.Response{
		send.Image("https://u").With("attachment_id", ""),
		send.Attachment(send.TypeImage, "7").With("url", ""),
		send.Raw(document.O("type", "CAROUSEL", "carousel", document.A(document.O("title", "A", "subtitle", "", "image_url", "", "buttons", document.A())))),
		send.Raw(document.O("type", "NEWS", "articles", document.A(
			document.O("title", "A", "description", "", "url", "", "picurl", ""),
		))),
		send.QuickReplies("?").With("quickReplies", document.A(document.O("content_type", "", "title", "Yes", "payload", "y"))),
		send.QuickReplies("?").With("quickReplies", document.A(
			document.O("content_type", "location", "title", "", "payload", ""),
		)),
		send.Raw(document.O("type", "BUTTON", "text", "?", "buttons", document.A(document.O("type", "share", "title", "")))),
	} {
		require.NoError(t, response.Validate(), "%s", response)
	}
}

func TestValidate_WholeAddresses(t *testing.T) {
	t.Parallel()
	card := func(image string) send.Response { return send.Carousel(send.Card{Title: "A", ImageURL: image}) }
	for field, with := range map[string]func(address string) send.Response{
		"url":                   send.Image,
		"carousel[0].image_url": card,
		"buttons[0].url":        func(address string) send.Response { return send.Buttons("?", send.WebURL("Menu", address)) },
		"articles[0].picurl": func(address string) send.Response {
			return send.Raw(document.O("type", "NEWS", "articles", document.A(document.O("title", "A", "picurl", address))))
		},
	} {
		for _, address := range []string{"/a.png", "a.png", "//host/a.png", "www.example.com/a.png", "https://a b", ":", "localhost:8080/a.png", "example.com:80"} {
			requireField(t, with(address).Validate(), field)
		}
		for _, address := range []string{"https://example.com/a.png?b=1", "tel:123", "data:,x", "com.example.app:/menu", "{{meta.photo}}", "https://{{meta.host}}/a"} {
			require.NoError(t, with(address).Validate(), address)
		}
	}
}

func TestValidate_NamesPath(t *testing.T) {
	t.Parallel()
	ok := send.Postback("Yes", "y")
	for _, c := range []struct {
		response send.Response
		field    string
	}{
		{send.Response{}, ""},
		{send.Raw(document.O()), "type"},
		{send.Raw(document.O("type", nil)), "type"},
		{send.Raw(document.O("type", 7)), "type"},
		{send.Other("", document.O()), "type"},
		{send.Text("Hi").With("x", func() {}), "x"},
		{send.Other("OWN", document.O("x", func() {})), "x"},
		{send.Other("OWN", document.O("x", document.A(1, math.NaN()))), "x[1]"},

		{send.Text(""), "text"},
		{send.Text(long(send.MaxText + 1)), "text"},
		{send.Raw(document.O("type", "TEXT")), "text"},
		{send.Raw(document.O("type", "TEXT", "text", 7)), "text"},

		{send.Raw(document.O("type", "IMAGE")), "url"},
		{send.Audio(""), "url"},
		{send.Raw(document.O("type", "VIDEO", "url", 7)), "url"},
		{send.Attachment(send.TypeFile, ""), "url"},
		{send.File("").With("attachment_id", ""), "url"},

		{send.QuickReplies("", send.QuickReply{Title: "Yes"}), "text"},
		{send.QuickReplies("?"), "quickReplies"},
		{send.QuickReplies("?", times(send.MaxQuickReplies+1, send.QuickReply{Title: "Yes"})...), "quickReplies"},
		{send.QuickReplies("?").With("quickReplies", "x"), "quickReplies"},
		{send.QuickReplies("?").With("quickReplies", document.A(7)), "quickReplies[0]"},
		{send.QuickReplies("?", send.QuickReply{Title: "Yes"}, send.QuickReply{}), "quickReplies[1].title"},
		{send.QuickReplies("?", send.QuickReply{Title: long(send.MaxQuickReplyTitle + 1)}), "quickReplies[0].title"},
		{send.QuickReplies("?", send.QuickReply{Title: "Yes", Payload: long(send.MaxQuickReplyPayload + 1)}), "quickReplies[0].payload"},
		{send.QuickReplies("?", send.QuickReply{ContentType: "location", Title: long(send.MaxQuickReplyTitle + 1)}), "quickReplies[0].title"},
		{
			send.QuickReplies("?").With("quickReplies", document.A(document.O("title", "Yes", "payload", document.O("payload", "y")))),
			"quickReplies[0].payload",
		},
		{
			send.QuickReplies("?").With("quickReplies", document.A(document.O("content_type", 7))),
			"quickReplies[0].content_type",
		},

		{send.Buttons(long(send.MaxText+1), ok), "text"},
		{send.Buttons("?"), "buttons"},
		{send.Buttons("?", times(send.MaxButtons+1, ok)...), "buttons"},
		{send.Buttons("?", ok, ok, send.Postback(long(send.MaxButtonTitle+1), "y")), "buttons[2].title"},
		{send.Buttons("?", send.Postback("", "y")), "buttons[0].title"},
		{send.Buttons("?", send.Postback("Yes", "")), "buttons[0].payload"},
		{send.Buttons("?", send.Button{Title: "Yes", Payload: 7}), "buttons[0].payload"},
		{send.Buttons("?", send.Button{Title: "Yes", Payload: document.O("value", 7)}), "buttons[0].payload.payload"},
		{send.Buttons("?", ok, send.WebURL("Menu", "")), "buttons[1].url"},
		{send.Buttons("?", send.Button{Type: "phone_number", Title: long(send.MaxButtonTitle + 1)}), "buttons[0].title"},
		{send.Buttons("?").With("buttons", document.A(document.O("title", "Yes"))), "buttons[0].type"},

		{send.Carousel(), "carousel"},
		{send.Carousel(times(send.MaxCards+1, send.Card{Title: "A"})...), "carousel"},
		{send.Carousel(send.Card{}), "carousel[0].title"},
		{send.Carousel(send.Card{Title: long(send.MaxCardTitle + 1)}), "carousel[0].title"},
		{send.Carousel(send.Card{Title: "A", Subtitle: long(send.MaxCardTitle + 1)}), "carousel[0].subtitle"},
		{send.Carousel(send.Card{Title: "A"}, send.Card{Title: "B", Buttons: times(send.MaxButtons+1, ok)}), "carousel[1].buttons"},
		{send.Carousel(send.Card{Title: "A", Buttons: []send.Button{ok, send.WebURL(long(send.MaxButtonTitle+1), "https://u")}}), "carousel[0].buttons[1].title"},
		{send.Raw(document.O("type", "CAROUSEL", "carousel", document.A(document.O("title", "A", "image_url", 7)))), "carousel[0].image_url"},

		{send.Typing(-1e9), "duration"},
		{send.Raw(document.O("type", "TYPING", "duration", "1s")), "duration"},
		{send.Raw(document.O("type", "NEWS")), "articles"},
		{send.Raw(document.O("type", "NEWS", "articles", times(send.MaxArticles+1, document.O("title", "A")))), "articles"},
		{send.Raw(document.O("type", "NEWS", "articles", document.A(document.O("title", "A", "picurl", 7)))), "articles[0].picurl"},
		{send.Raw(document.O("type", "TEMPLATE", "languageCode", "en")), "elementName"},
		{send.Raw(document.O("type", "TEMPLATE", "elementName", "e")), "languageCode"},
		{send.Raw(document.O("type", "TEMPLATE", "elementName", "e", "languageCode", "en", "components", 7)), "components"},
	} {
		requireField(t, c.response.Validate(), c.field)
	}
}

// Placeholders may be longer than their values. Everything else of a template is known.
func TestValidate_Templates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		response send.Response
		field    string
	}{
		{send.Buttons("{{meta.a}}", send.Postback("{{meta.favourite.drink.of.all}}", "x")), ""},
		{send.Image("{{meta.image}}"), ""},
		{send.Text("{{meta." + long(send.MaxText) + "}}" + long(send.MaxText-2)), ""},
		{send.Text("{{a}}" + long(send.MaxText-1)), "text"},
		{send.Buttons("{{meta.a}}", send.Postback("{{meta.drink}}, which is too long", "x")), "buttons[0].title"},
		{send.Buttons("{{meta.a}}"), "buttons"},
		{send.Raw(document.O("text", "{{meta.a}}")), "type"},
	} {
		template := c.response.WithPlaceholders()
		if c.field == "" {
			require.NoError(t, template.Validate(), c.response)
			continue
		}
		requireField(t, template.Validate(), c.field)
	}
}

func TestValidate_NamesTypeAndLength(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]any{
		"text: must be a string, got number":               5,
		"text: must be a string, got boolean":              true,
		"text: is 2001 characters long; the limit is 2000": strings.Repeat("ä", send.MaxText+1),
		"text: is missing; give a string":                  nil,
	} {
		require.ErrorContains(t, send.Raw(document.O("type", "TEXT", "text", text)).Validate(), want)
	}
}

// The numbers are repeated on purpose, so that a limit cannot be changed by mistake.
func TestLimitsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		name           string
		has, specified int
	}{
		{"characters of a text", send.MaxText, 2000},
		{"quick replies", send.MaxQuickReplies, 13},
		{"characters of a quick reply's title", send.MaxQuickReplyTitle, 20},
		{"characters of a quick reply's payload", send.MaxQuickReplyPayload, 1000},
		{"buttons", send.MaxButtons, 3},
		{"characters of a button's title", send.MaxButtonTitle, 20},
		{"cards of a carousel", send.MaxCards, 10},
		{"characters of a card's title and subtitle", send.MaxCardTitle, 80},
		{"articles", send.MaxArticles, 1},
		{"megabytes of a file", send.MaxFileMegabytes, 25},
		{"tags of a member on Echo", send.MaxMemberTags, 20},
	} {
		require.Equal(t, limit.specified, limit.has, limit.name)
	}
}
