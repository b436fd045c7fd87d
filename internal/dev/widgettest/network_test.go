package widgettest_test

import (
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
)

func TestNetwork_OfflineAndBack(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Offline(true)
	chat.cuts()
	p.Sees(".status", "No connection")
	p.says("one")
	p.says("two")
	p.Sees(".retry", "Not sent. Tap to retry.")
	p.Holds(`root.querySelector("[role=alert]").textContent === "Not sent. Tap to retry."`)
	chat.says("bot", "", `{"type":"TEXT","text":"Where are you?"}`)
	p.Offline(false)
	p.Sees(".in", "Where are you?")
	p.SeesNot(".waits")
	p.SeesNot(".status")
	bodies := chat.hears(3)
	require.Len(t, bodies, 3, "each is sent once")
	require.Equal(t, `"one" "two"`, field(t, bodies[1], "text")+" "+field(t, bodies[2], "text"))
	require.Equal(t, "hi,Where are you?,one,two", p.Evaluates(`$$(".list .bubble").map((one) => one.innerText).filter((text) => !text.startsWith("Hello")).join()`))
}

func TestNetwork_QueueSurvivesAReload(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	chat.refuses("messages", http.StatusBadGateway)
	p.says("kept")
	p.Sees(".waits .bubble", "kept")
	p.reloads()
	p.opens()
	p.Sees(".waits .bubble", "kept")
	p.Sees(".retry", "Not sent. Tap to retry.")
	chat.refuses("messages", http.StatusRequestEntityTooLarge) // After this status, the page only tries again after a click.
	p.Sees(".retry", "Not sent: request entity too large")
	chat.refuses("messages", 0)
	p.Clicks(".retry", "Not sent")
	p.SeesNot(".waits")
	require.Equal(t, `"kept"`, field(t, chat.hears(2)[1], "text"))
}

// When something else changes, a button that the visitor may be about to press must not be replaced.
func TestNetwork_RetryStaysWhileMoreIsWritten(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	chat.refuses("messages", http.StatusRequestEntityTooLarge)
	p.says("one")
	p.Sees(".retry", "Not sent")
	p.Runs(`window.pressed = $(".retry", "Not sent")`)
	p.says("two")
	p.Holds(`$$(".waits").length === 2 && $$(".retry").length === 4`)
	require.Equal(t, "true", p.Evaluates(`pressed.isConnected && $(".retry", "Not sent") === pressed`))
}

func TestNetwork_RefusedMessageIsDiscarded(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	chat.refuses("messages", http.StatusRequestEntityTooLarge)
	p.says("long")
	p.Sees(".retry", "Not sent: request entity too large")
	chat.refuses("messages", 0)
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Clicks(".retry", "Discard")
	p.SeesNot(".waits")
	require.Len(t, chat.hears(1), 1)
}

func TestNetwork_BusyServerIsAskedLater(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	chat.refuses("messages", http.StatusTooManyRequests)
	p.says("hi")
	p.Sees(".waits", "Sending")
	chat.refuses("messages", 0)
	p.Sees(".in", "Hello Ada")
	require.Empty(t, p.Evaluates(`root.querySelector("[role=alert]").textContent`), "a wait is not a failure")
}

func TestNetwork_CutStreamResumes(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	for range 5 {
		chat.waitsFor("one stream", func(who *visitor) bool { return len(who.streams) == 1 })
		chat.cuts()
		chat.says("bot", "", `{"type":"TEXT","text":"More"}`)
	}
	p.Holds(`$$(".in").length === 6`)
	chat.waitsFor("one stream", func(who *visitor) bool { return len(who.streams) == 1 })
	require.Equal(t, "6", p.Evaluates(`$$(".in").length`))
}

// The widget waits 10 seconds for each of two streams and then polls.
func TestNetwork_SilentStreamsArePolled(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	chat := newServer(t)
	chat.isSilent = true
	p := open(t, chat, "")
	p.opens()
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.SeesNot(".status")
	chat.says("bot", "", `{"type":"TEXT","text":"The kettle boils."}`)
	p.Sees(".in", "The kettle boils.")
	chat.mu.Lock()
	defer chat.mu.Unlock()
	require.GreaterOrEqual(t, chat.polls, 2)
}

func TestNetwork_UnknownChannel(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	chat.refuses("session", http.StatusNotFound)
	p := open(t, chat, "")
	p.opens()
	p.Sees(".status", "The chat is not available.")
}

func TestTabs_ShareOneStream(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	first := open(t, chat, "")
	first.opens()
	first.says("hi")
	first.Sees(".in", "Hello Ada")
	second := first.another()
	second.opens()
	second.Sees(".in", "Hello Ada")
	second.says("sure?")
	first.Sees(".in", "Are you sure?")
	second.Sees(".in", "Are you sure?")
	chat.tells(`{"kind":"read","seq":3}`)
	require.Equal(t, "4", first.Evaluates(`$$(".list .entry").length`))
	chat.waitsFor("one stream", func(who *visitor) bool { return len(who.streams) == 1 })
	require.Len(t, chat.heard("session"), 1)

	// When the listening tab is closed, another tab takes over.
	chat.says("bot", "", `{"type":"TEXT","text":"Before"}`)
	second.Sees(".in", "Before")
	first.Does(chromedp.Navigate("about:blank"))
	chat.says("bot", "", `{"type":"TEXT","text":"After"}`)
	second.Sees(".in", "After")

	// The browser may have kept the first page in its back/forward cache.
	first.Does(chromedp.Evaluate[chromedp.Void](`history.back(); undefined`))
	first.Holds(`$$(".entry").length === 6`)
	second.Does(chromedp.Navigate("about:blank"))
	chat.says("bot", "", `{"type":"TEXT","text":"Back"}`)
	first.Holds(`$$(".entry").length === 7`)
}

func TestTabs_ReadInOneIsReadInAll(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	first := open(t, chat, "")
	first.opens()
	first.says("hi")
	first.Sees(".in", "Hello Ada")
	second := first.another()
	first.Evaluates(`widget.close()`)
	chat.says("bot", "", `{"type":"TEXT","text":"News"}`)
	first.Sees(".badge", "1")
	second.Sees(".badge", "1")
	second.opens()
	first.SeesNot(".badge")
	second.Evaluates(`widget.signOut()`)
	first.Holds(`$$(".entry").length === 0`)
}
