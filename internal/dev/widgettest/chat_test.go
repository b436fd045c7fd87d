package widgettest_test

import (
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// answers are the bot's responses to texts and payloads.
var answers = map[string]string{
	"hi":     `{"type":"TEXT","text":"Hello **Ada**, see [the shop](https://shop.example/a).\n\n- kettles\n- lids"}`,
	"sure?":  `{"type":"QUICK_REPLIES","text":"Are you sure?","quickReplies":[{"content_type":"text","title":"Yes","payload":"yes"},{"content_type":"text","title":"No","payload":"no"},{"content_type":"text","title":"Later","payload":"later"}]}`,
	"no":     `{"type":"TEXT","text":"As you like."}`,
	"table":  `{"type":"BUTTON","text":"A table?","buttons":[{"type":"postback","title":"Seven","payload":{"payload":"book","value":19}},{"type":"web_url","title":"Menu","url":"https://shop.example/menu"}]}`,
	"cards":  `{"type":"CAROUSEL","carousel":[{"title":"Kettle","subtitle":"Two litres","buttons":[{"type":"postback","title":"Buy it","payload":"kettle"}]},{"title":"Lid","subtitle":"Tight","image_url":"files/0","buttons":[{"type":"postback","title":"Buy","payload":"lid"}]}]}`,
	"kettle": `{"type":"TEXT","text":"One kettle."}`,
}

func TestChat_Conversation(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "")
	require.Empty(t, chat.heard("session"), "a visitor who does not open the chat leaves no trace")
	p.opens()
	p.Sees(".head h2", "Chat")
	p.says("hi")
	p.Sees(".in strong", "Ada")
	p.Sees(".in a", "the shop")
	require.Equal(t, "https://shop.example/a _blank noopener noreferrer nofollow", p.Evaluates(`[$(".in a").href, $(".in a").target, $(".in a").rel].join(" ")`))
	require.Equal(t, "2", p.Evaluates(`$$(".in li").length`))
	require.Len(t, chat.hears(1), 1)
	p.keepsPolicy()
}

func TestChat_Marks(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hello")
	p.Sees(".marks", "Sent")
	chat.tells(`{"kind":"delivered","seq":1}`)
	p.Sees(".marks", "Delivered")
	chat.tells(`{"kind":"read","seq":1}`)
	p.Sees(".marks", "Read")
	chat.tells(`{"kind":"typing","from":"agent","name":"Grace"}`)
	p.Holds(`$(".typing") && root.querySelector(".typing").textContent === "Grace is typing"`)
	chat.says("agent", "Grace", `{"type":"TEXT","text":"Good morning"}`)
	p.Sees(".in .bubble", "Good morning")
	p.Sees(".in .name", "Grace")
	p.Holds(`root.querySelector(".in .hidden").textContent === "Grace said:"`)
	p.SeesNot(".typing")
	p.SeesNot(".marks")
	p.Holds(`told.some(([name, detail]) => name === "message" && detail.name === "Grace")`)
	p.says("hello again")
	require.Len(t, chat.hears(2), 2)
	require.NotEmpty(t, chat.heard("typing"))
	require.Equal(t, []string{`{"seq":2}`}, chat.heard("read"))
}

func TestChat_QuickReplies(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("sure?")
	p.Sees(".replies[role=toolbar] button", "Yes")
	require.Equal(t, "0 -1 -1", p.Evaluates(`$$(".replies button").map((one) => one.tabIndex).join(" ")`))
	p.Clicks(".replies button", "No")
	p.Sees(".out .bubble", "No")
	p.Sees(".in .bubble", "As you like.")
	p.SeesNot(".replies")
	require.Equal(t, "field", p.Evaluates(`root.activeElement.id`))
	tapped := chat.hears(2)[1]
	require.Equal(t, `"PAYLOAD" "No" "no"`, field(t, tapped, "type")+" "+field(t, tapped, "title")+" "+field(t, tapped, "payload"))
	p.keepsPolicy()
}

func TestChat_ButtonsAndCards(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	chat.files = []uploaded{{name: "lid.png", mediaType: "image/png", content: picture(t)}}
	p := open(t, chat, "")
	p.opens()
	p.says("table")
	p.Sees(".buttons a", "Menu")
	require.Equal(t, "https://shop.example/menu", p.Evaluates(`$(".buttons a").href`))
	p.Clicks(".buttons button", "Seven")
	require.JSONEq(t, `{"payload":"book","value":19}`, field(t, chat.hears(2)[1], "payload"), "the payload is sent as it came")
	p.says("cards")
	p.Sees(".card", "Two litres")
	p.Holds(`$(".card img")?.naturalWidth === 8`)
	p.Clicks(".card button", "Buy it")
	p.Sees(".in", "One kettle.")
	p.keepsPolicy()
}

func TestChat_ReloadShowsWhatWasSaid(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	for range 60 {
		chat.says("bot", "", `{"type":"TEXT","text":"More"}`)
	}
	chat.says("bot", "", `{"type":"TEXT","text":"The end"}`)
	p.Sees(".in", "The end")
	p.Holds(`$$(".in").length === 62`)
	p.reloads()
	p.Holds(`$$(".list .entry").length === 50`)
	require.Equal(t, "0", p.Evaluates(`widget.unread`), "it was read before")
	p.opens()
	p.Holds(`(() => { const log = root.querySelector(".log"); return log.scrollTop + log.clientHeight >= log.scrollHeight - 2; })()`)
	p.Clicks(".more", "Earlier messages")
	p.Sees(".in", "Hello Ada")
	p.SeesNot(".more")
	require.Equal(t, "hi", p.Evaluates(`$$(".list .entry .bubble")[0].innerText`), "the order is kept")
	require.Len(t, chat.heard("session"), 1)
	p.keepsPolicy()
}

func TestChat_UnreadWhileClosed(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Types(kb.Escape)
	p.SeesNot("#panel")
	require.Equal(t, "launcher", p.Evaluates(`root.activeElement.className`), "the focus goes back")
	chat.says("bot", "", `{"type":"TEXT","text":"The kettle boils."}`)
	p.Sees(".badge", "1")
	p.Sees(".preview", "The kettle boils.")
	require.Equal(t, "Open chat, 1 unread", p.Evaluates(`$(".launcher").getAttribute("aria-label")`))
	p.Evaluates(`Object.defineProperty(document, "hidden", { value: true, configurable: true }) && document.dispatchEvent(new Event("visibilitychange"))`)
	p.Holds(`document.title === "(1) Shop"`)
	p.Evaluates(`Object.defineProperty(document, "hidden", { value: false }) && document.dispatchEvent(new Event("visibilitychange"))`)
	p.Holds(`document.title === "Shop"`)
	p.Clicks(".peek", "The kettle boils.")
	p.SeesNot(".badge")
	p.SeesNot(".preview")
	p.Holds(`widget.unread === 0 && told.some(([name, detail]) => name === "unread" && detail.count === 1)`)
}

func TestChat_Sound(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "")
	p.Evaluates(`(() => {
		window.notes = 0;
		const create = AudioContext.prototype.createOscillator;
		AudioContext.prototype.createOscillator = function () { notes++; return create.call(this); };
		Object.defineProperty(AudioContext.prototype, "state", { value: "running" });
	})()`)
	p.opens()
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	require.Equal(t, "0", p.Evaluates(`notes`), "the visitor sees the message")
	p.Types(kb.Escape)
	chat.says("bot", "", `{"type":"TEXT","text":"The kettle boils."}`)
	p.Holds(`notes === 2`)
	p.opens()
	p.Clicks(".icon", "Sound")
	p.Holds(`$(".icon", "Sound").getAttribute("aria-pressed") === "false"`)
	p.Types(kb.Escape)
	p.SeesNot("#panel")
	chat.says("bot", "", `{"type":"TEXT","text":"It still boils."}`)
	p.Sees(".preview", "It still boils.")
	require.Equal(t, "2", p.Evaluates(`notes`))
	p.reloads()
	require.Equal(t, "false", p.Evaluates(`root.querySelector("[aria-pressed]").getAttribute("aria-pressed")`))
}

func TestChat_StoresNothingBeforeConsent(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "?storage=none")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	require.Equal(t, "0 0", p.Evaluates(`localStorage.length + " " + sessionStorage.length`))
	p.reloads()
	p.opens()
	p.says("sure?")
	p.Sees(".in", "Are you sure?")
	require.Equal(t, "2", p.Evaluates(`$$(".entry").length`))
}

func TestChat_PageCommandsIt(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "?heading=Kettles")
	p.Evaluates(`widget.open()`)
	p.Sees(".head", "Kettles")
	p.Evaluates(`widget.send("hi")`)
	p.Sees(".in", "Hello Ada")
	p.Evaluates(`widget.sendEvent("basket", { price: 7 })`)
	event := chat.hears(2)[1]
	require.Equal(t, `"WEB_EVENT"`, field(t, event, "type"))
	require.JSONEq(t, `{"name":"basket","value":{"price":7}}`, field(t, event, "data"))
	p.Evaluates(`widget.texts = { write: "Ask about kettles" }`)
	p.Holds(`$("#field").placeholder === "Ask about kettles"`)
	p.Sees(".in", "Hello Ada")
	p.Evaluates(`widget.close()`)
	p.SeesNot("#panel")
	require.Equal(t, "ready open close", p.Evaluates(`told.map(([name]) => name).filter((name) => ["ready", "open", "close"].includes(name)).filter((name, i, all) => name !== all[i - 1]).join(" ")`))
	require.Equal(t, "2", p.Evaluates(`$$(".list .entry").length`), "an event of the page is not shown")
	p.keepsPolicy()
}

func TestChat_UserIsKnownUntilSignOut(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Evaluates(`widget.identify("signed:grace")`)
	p.SeesNot(".entry")
	p.says("sure?")
	p.Sees(".in", "Are you sure?")
	require.Equal(t, "u:grace", chat.last.id)
	p.Evaluates(`widget.identify("forged").then(() => "taken", (err) => err.status)`)
	p.Sees(".in", "Are you sure?")
	p.Evaluates(`widget.signOut()`)
	p.SeesNot(".entry")
	require.Equal(t, "0", p.Evaluates(`Object.keys(localStorage).length`))
	p.Evaluates(`widget.send("hi")`)
	p.Sees(".in", "Hello Ada")
	require.NotEqual(t, "u:grace", chat.last.id)
	p.Evaluates(`widget.identify("signed:grace", { merge: true })`)
	p.Holds(`$(".in", "Hello Ada") && !$(".in", "Are you sure?")`)
}

func TestChat_ExpiredTokenIsReplaced(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	chat.forgets()
	p.says("sure?")
	p.Sees(".in", "Are you sure?")
}

func TestChat_InThePage(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	p := open(t, chat, "?inline")
	p.SeesNot(".launcher")
	require.NotEqual(t, "chat-widget", p.Evaluates(`document.activeElement.localName`), "the page keeps the focus")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	require.Equal(t, "region", p.Evaluates(`$("#panel").getAttribute("role")`))
	p.keepsPolicy()
}

func TestChat_RemovedFromThePage(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	chat.waitsFor("one stream", func(who *visitor) bool { return len(who.streams) == 1 })
	p.Evaluates(`widget.remove()`)
	chat.waitsFor("the end of the stream", func(who *visitor) bool { return len(who.streams) == 0 })
}
