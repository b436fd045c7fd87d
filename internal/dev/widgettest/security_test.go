package widgettest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// markups are texts that would have an effect if they became markup.
var markups = []string{
	`<img src=x onerror="window.injected=1">`,
	`<script>window.injected=1</script>`,
	`"><svg onload="window.injected=1">`,
	`{{constructor.constructor('window.injected=1')()}}`,
	`[link](javascript:window.injected=1)`,
	`[link](https://shop.example/"onmouseover="window.injected=1)`,
}

// addresses are URLs that must be neither followed nor loaded.
var addresses = []string{
	`javascript:window.injected=1`,
	"java\nscript:window.injected=1",
	`data:text/html,<script>parent.injected=1</script>`,
	`blob:https://shop.example/1`,
	`file:///etc/passwd`,
	`https://ada:lovelace@shop.example/`,
}

// responses are responses of each type with a text and an address in every field.
func responses(text, url string) []map[string]any {
	type object = map[string]any
	button := []object{
		{"type": text, "title": text, "payload": text, "url": url},
		{"type": "web_url", "title": text, "url": url},
		{"type": "postback", "title": text, "payload": object{"payload": text, "value": url}},
	}
	return []object{
		{"type": "TEXT", "text": text},
		{"type": text, "text": text},
		{"type": "IMAGE", "url": url, "name": text, "text": text},
		{"type": "AUDIO", "url": url, "name": text},
		{"type": "VIDEO", "url": url, "name": text},
		{"type": "FILE", "url": url, "name": text},
		{"type": "BUTTON", "text": text, "buttons": button},
		{"type": "CAROUSEL", "carousel": []object{{"title": text, "subtitle": text, "image_url": url, "buttons": button}}},
		{"type": "NEWS", "articles": []object{{"title": text, "description": text, "url": url, "picurl": url}}},
		{"type": "MISC", "text": text, "attachments": []object{{"type": text, "url": url, "name": text}, {"type": "image", "url": url, "name": text}}},
		{"type": "PAYLOAD", "title": text, "payload": text},
		{"type": "QUICK_REPLIES", "text": text, "quickReplies": []object{{"content_type": text, "title": text, "payload": text}}},
	}
}

func TestSecurity_EveryFieldIsText(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "?heading="+`%3Cimg%20src=x%20onerror=window.injected=1%3E`)
	p.opens()
	p.says("hello")
	p.Sees(".list .out", "hello")
	count := 1
	for i, text := range markups {
		for _, response := range responses(text, addresses[i%len(addresses)]) {
			body, err := json.Marshal(response)
			require.NoError(t, err)
			chat.says("bot", text, string(body))
			chat.says("me", "", string(body))
			count += 2
		}
		typing, err := json.Marshal(map[string]string{"kind": "typing", "from": "agent", "name": text})
		require.NoError(t, err)
		chat.tells(string(typing))
	}
	p.says(markups[0])
	p.Holds(fmt.Sprintf(`$$(".list .entry").length === %d`, count+1))
	p.Evaluates(`widget.close()`)
	chat.says("bot", "", `{"type":"TEXT","text":"<img src=x onerror=window.injected=1>"}`)
	p.Sees(".preview", "<img src=x")
	p.Evaluates(`widget.open()`)
	p.Evaluates(fmt.Sprintf(`widget.texts = { title: %[1]q, bot: %[1]q, write: %[1]q, sent: %[1]q }`, markups[0]))
	p.Sees(".head", "<img")

	require.Equal(t, "undefined", p.Evaluates(`typeof window.injected`))
	require.Empty(t, p.Evaluates(`[...new Set($$("*").map((one) => one.localName))].filter((name) => ["script", "iframe", "object", "embed", "base", "style", "link", "meta"].includes(name)).join()`))
	require.Empty(t, p.Evaluates(`$$("*").flatMap((one) => [...one.attributes]).filter(({ name }) => name.startsWith("on")).map((one) => one.name).join()`))
	require.Empty(t, p.Evaluates(`$$("[href], [src]").map((one) => one.href ?? one.src).filter((url) => !/^(https:|mailto:|tel:)/.test(url) || /ada:/.test(url)).join()`))
	require.Empty(t, p.Evaluates(`$$("a").filter((one) => one.rel !== "noopener noreferrer nofollow").map((one) => one.href).join()`))
	p.keepsPolicy()
}

// Faulty bot logic may send fields of any type.
func TestSecurity_FieldsOfAnyType(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hello")
	p.Sees(".list .out", "hello")
	for _, value := range []string{"null", "7", "true", `"text"`, "[]", "{}", "[null]", "[[]]", `{"toString":1}`} {
		fields := strings.Join([]string{"text", "url", "name", "title", "buttons", "carousel", "articles", "attachments", "quickReplies", "duration"}, `":`+value+`,"`)
		for _, kind := range []string{`"TEXT"`, `"IMAGE"`, `"BUTTON"`, `"CAROUSEL"`, `"NEWS"`, `"MISC"`, `"PAYLOAD"`, `"QUICK_REPLIES"`, `"TYPING"`, value} {
			chat.says("bot", "", fmt.Sprintf(`{"type":%s,"%s":%s}`, kind, fields, value))
			chat.says("me", "", fmt.Sprintf(`{"type":%s,"%s":%s}`, kind, fields, value))
		}
		chat.says("bot", "", fmt.Sprintf(`{"type":"CAROUSEL","carousel":[{"title":%[1]s,"subtitle":%[1]s,"image_url":%[1]s,"buttons":[{"title":%[1]s,"url":%[1]s}]}]}`, value))
		for _, event := range []string{
			`{"kind":"read","seq":%s}`, `{"kind":"delivered","seq":%s}`, `{"kind":"typing","from":%s}`, `{"kind":"message","seq":%s}`,
			`{"kind":"message","seq":-1,"response":%s}`, `{"kind":%s}`, `%s`,
		} {
			chat.tells(fmt.Sprintf(event, value))
		}
	}
	chat.tells(`{`)
	p.says("sure?")
	p.Sees(".replies", "Later")
	p.reloads()
	p.opens()
	p.Sees(".replies", "Later")
	p.keepsPolicy()
}

// An attacker's long texts must not slow down the page.
func TestSecurity_LongTexts(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hello")
	p.Sees(".list .out", "hello")
	for _, piece := range []string{"*", "[a](", "**a ", "`", "- a\n", "https://a.b "} {
		body, err := json.Marshal(map[string]string{"type": "TEXT", "text": strings.Repeat(piece, 100_000/len(piece))})
		require.NoError(t, err)
		chat.says("bot", "", string(body))
	}
	p.says("hi")
	p.Sees(".in", "Hello Ada")
}
