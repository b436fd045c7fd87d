package send_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestConstructors_Fields(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		made send.Response
		want string
	}{
		{send.Text("Hi"), `{"type":"TEXT","text":"Hi"}`},
		{send.Image("https://u"), `{"type":"IMAGE","url":"https://u"}`},
		{send.Audio("https://u"), `{"type":"AUDIO","url":"https://u"}`},
		{send.Video("https://u"), `{"type":"VIDEO","url":"https://u"}`},
		{send.File("https://u"), `{"type":"FILE","url":"https://u"}`},
		{send.Attachment(send.TypeVideo, "7"), `{"type":"VIDEO","attachment_id":"7"}`},
		{send.Typing(1500 * time.Millisecond), `{"type":"TYPING","duration":1500}`},
		{
			send.QuickReplies("Again?", send.QuickReply{Title: "Yes", Payload: "y"}, send.QuickReply{Title: "No"}),
			`{"type":"QUICK_REPLIES","text":"Again?","quickReplies":[` +
				`{"content_type":"text","title":"Yes","payload":"y"},{"content_type":"text","title":"No","payload":"No"}]}`,
		},
		{
			send.QuickReplies("Where?", send.QuickReply{ContentType: "location", Title: "Here"}),
			`{"type":"QUICK_REPLIES","text":"Where?","quickReplies":[{"content_type":"location","title":"Here"}]}`,
		},
		{
			send.Buttons("Book?", send.Postback("Yes", "book"), send.PostbackValue("Two", "book", 2), send.WebURL("Menu", "https://u")),
			`{"type":"BUTTON","text":"Book?","buttons":[{"type":"postback","title":"Yes","payload":"book"},` +
				`{"type":"postback","title":"Two","payload":{"payload":"book","value":2}},{"type":"web_url","title":"Menu","url":"https://u"}]}`,
		},
		{
			send.Buttons("Book?", send.Button{Title: "Yes", Payload: "y"}, send.Button{Title: "Menu", URL: "https://u"}),
			`{"type":"BUTTON","text":"Book?","buttons":[{"type":"postback","title":"Yes","payload":"y"},` +
				`{"type":"web_url","title":"Menu","url":"https://u"}]}`,
		},
		{
			send.Carousel(
				send.Card{Title: "A", Subtitle: "b", ImageURL: "https://u", Buttons: []send.Button{{Title: "Go", URL: "https://u"}}},
				send.Card{Title: "B"},
			),
			`{"type":"CAROUSEL","carousel":[{"title":"A","subtitle":"b","image_url":"https://u",` +
				`"buttons":[{"type":"web_url","title":"Go","url":"https://u"}]},{"title":"B"}]}`,
		},
		{
			send.News(send.Article{Title: "A", Description: "b", URL: "https://u", PicURL: "https://p", Unknown: document.O("k", 1)}),
			`{"type":"NEWS","articles":[{"title":"A","description":"b","url":"https://u","picurl":"https://p","k":1}]}`,
		},
		{send.BravoTemplate("order", "en_US"), `{"type":"TEMPLATE","elementName":"order","languageCode":"en_US"}`},
		{
			send.BravoTemplate("order", "en", document.O("type", "body")),
			`{"type":"TEMPLATE","elementName":"order","languageCode":"en","components":[{"type":"body"}]}`,
		},
		{send.Other("MAP", document.O("lat", 1.5, "type", "ignored")), `{"type":"MAP","lat":1.5}`},
		{send.Raw(document.O("x", 1, "type", "MAP")), `{"x":1,"type":"MAP"}`},
		{send.Text("Hi").With("transform", document.O("upper", true)), `{"type":"TEXT","text":"Hi","transform":{"upper":true}}`},
	} {
		text, err := json.Marshal(c.made)
		require.NoError(t, err)
		require.Equal(t, c.want, string(text))
		require.Equal(t, c.want, c.made.String())
		require.NoError(t, c.made.Validate())
	}
}

func TestResponse_WrittenAsRead(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `{}`, `{"text":"before its type","type":"TEXT"}`,
		`{"type":"TEXT","text":"Hi","transform":null,"z":[1,{"y":[]}],"a":{"c":1,"b":2.5}}`,
		`{"type":"WHATEVER","nested":{"type":"x","deep":[[null,true]]},"text":7}`,
		`{"type":5}`,
	} {
		var read send.Response
		require.NoError(t, json.Unmarshal([]byte(text), &read))
		require.Equal(t, text, read.String())
		require.Equal(t, text, marshal(t, read))
		var again send.Response
		require.NoError(t, document.DecodeJSON([]byte(text), &again))
		require.Equal(t, read, again)
	}
}

func TestResponse_OnlyObjects(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`"Hi"`, `[]`, `7`, `true`, `""`, `"[]"`, `"null"`, `"{"`, `"\"{}\""`} {
		var read struct {
			Response send.Response `json:"response"`
		}
		err := document.DecodeJSON([]byte(`{"response":`+text+`}`), &read)
		requireField(t, err, "response")
	}
}

func TestResponse_TextHoldsObject(t *testing.T) {
	t.Parallel()
	read := decoded[struct {
		Response send.Response `json:"response"`
	}](t, `{"response":"{\"type\":\"TEXT\", \"text\":\"Hi\"}"}`)
	require.Equal(t, send.Text("Hi"), read.Response)
}

func TestResponseWith_LeavesTheGiven(t *testing.T) {
	t.Parallel()
	first := send.Text("Hi")
	second := first.With("text", "Bye")
	require.Equal(t, "Hi", first.Text())
	require.Equal(t, "Bye", second.Text())
}

func TestResponse_ReadInTypes(t *testing.T) {
	t.Parallel()
	yes, menu := send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://u")
	yes.Unknown = document.O("hint", "now")
	buttons := send.Buttons("Book?", yes, menu)
	require.Equal(t, send.TypeButton, buttons.Type())
	require.Equal(t, "Book?", buttons.Text())
	require.Equal(t, []send.Button{yes, menu}, buttons.Buttons())
	require.Equal(t, "now", document.Get(buttons, "buttons.0.hint", ""))

	replies := []send.QuickReply{{ContentType: "text", Title: "Yes", Payload: "y", Unknown: document.O("image_url", "https://u")}}
	require.Equal(t, replies, send.QuickReplies("?", replies...).QuickReplies())
	cards := []send.Card{{Title: "A", Buttons: []send.Button{menu}, Unknown: document.O("k", int64(1))}, {Title: "B"}}
	require.Equal(t, cards, send.Carousel(cards...).Cards())

	articles := []send.Article{{Title: "A", PicURL: "https://p", Unknown: document.O("k", int64(1))}}
	require.Equal(t, articles, send.News(articles...).Articles())
	require.Equal(t, []document.Object{document.O("type", "body")}, send.BravoTemplate("a", "en", document.O("type", "body")).Components())

	require.Nil(t, send.Text("Hi").Buttons())
	require.Empty(t, send.Response{}.Type())
	require.Equal(t, document.O("text", "Hi", "x", 1), send.Text("Hi").With("x", 1).Data())
	require.Equal(t, document.O("type", "TEXT", "text", "Hi"), send.Text("Hi").Object())
	require.Equal(t, document.O(), send.Response{}.Data())
}

func TestParts_KeepUnknownKeys(t *testing.T) {
	t.Parallel()
	button := `{"type":"call","title":"Ring","number":"5"}`
	require.JSONEq(t, button, rewritten[send.Button](t, button))
	card := `{"title":"A","badge":{"b":1}}`
	require.JSONEq(t, card, rewritten[send.Card](t, card))
	article := `{"title":"A","badge":{"b":1}}`
	require.JSONEq(t, article, rewritten[send.Article](t, article))
	reply := `{"content_type":"text","image_url":"https://u"}`
	require.JSONEq(t, reply, rewritten[send.QuickReply](t, reply))
}

func TestParts_Refuse(t *testing.T) {
	t.Parallel()
	for _, part := range []json.Unmarshaler{new(send.Button), new(send.Card), new(send.Article), new(send.QuickReply)} {
		requireField(t, json.Unmarshal([]byte(`{"title":7}`), part), "title")
	}
	requireField(t, json.Unmarshal([]byte(`7`), new(send.Response)), "")
}

// rewritten reads JSON as a T and writes it again.
func rewritten[T any](t *testing.T, text string) string {
	t.Helper()
	var read T
	require.NoError(t, json.Unmarshal([]byte(text), &read))
	written, err := json.Marshal(read)
	require.NoError(t, err)
	return string(written)
}

// A stored literal response read by Raw does not send the SDK's own field to platforms.
func TestRaw_OfAStoredLiteral(t *testing.T) {
	t.Parallel()
	stored, err := document.Encode(send.Text("I am {{firstName}}"))
	require.NoError(t, err)
	require.True(t, stored.Has("_literal"))
	require.False(t, read[send.Response](t, stored.String()).Object().Has("_literal"), "no platform gets it")
	require.Equal(t, send.Text("I am {{firstName}}").String(), send.Raw(stored).String())
}
