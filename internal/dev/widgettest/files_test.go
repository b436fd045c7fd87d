package widgettest_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

// picture returns a picture of 8 × 8 pixels.
func picture(t *testing.T) []byte {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, png.Encode(&text, image.NewGray(image.Rect(0, 0, 8, 8))))
	return text.Bytes()
}

// gives passes a file to the widget by a paste or drop event.
func (p *tab) gives(event, selector, name string, content []byte) {
	p.T.Helper()
	p.Evaluates(fmt.Sprintf(`(() => {
		const data = new DataTransfer();
		data.items.add(new File([Uint8Array.from(%s)], %q));
		const options = { bubbles: true, cancelable: true, composed: true };
		root.querySelector(%q).dispatchEvent(%s);
	})()`, numbers(content), name, selector, event))
}

const (
	paste = `new ClipboardEvent("paste", { ...options, clipboardData: data })`
	drop  = `new DragEvent("drop", { ...options, dataTransfer: data })`
)

// numbers returns bytes as a JavaScript array.
func numbers(content []byte) string {
	list := make([]int, len(content))
	for i, one := range content {
		list[i] = int(one)
	}
	return fmt.Sprintf("[%s]", bytes.Trim(bytes.ReplaceAll(fmt.Append(nil, list), []byte(" "), []byte(",")), "[]"))
}

func TestFiles_FromTheVisitor(t *testing.T) {
	t.Parallel()
	chat, p := opened(t, "")
	p.gives(paste, "#field", "lid.png", picture(t))
	p.Holds(`$(".out img")?.naturalWidth === 8 && $(".out img").alt === "lid.png"`)
	p.gives(drop, "#panel", "order.txt", []byte("one kettle"))
	p.Sees(".out a", "order.txt")
	bodies := chat.hears(2)
	require.JSONEq(t, fmt.Sprintf(`[{"type":"image","url":"%s/chat/files/0","name":"lid.png"}]`, chat.URL), field(t, bodies[0], "attachments"))
	require.JSONEq(t, fmt.Sprintf(`[{"type":"file","url":"%s/chat/files/1","name":"order.txt"}]`, chat.URL), field(t, bodies[1], "attachments"))
	p.keepsPolicy()
}

func TestFiles_ProgressIsShown(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	chat.held = make(chan struct{})
	p := open(t, chat, "")
	p.opens()
	p.gives(drop, "#panel", "order.txt", []byte("one kettle"))
	p.Holds(`$(".waits progress").value === 1`)
	close(chat.held)
	p.Sees(".list .out a", "order.txt")
	p.SeesNot("progress")
}

func TestFiles_Refused(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "")
	p.gives(drop, "#panel", "page.html", []byte("<!doctype html><script>alert(1)</script>"))
	p.Sees(".waits", "page.html")
	p.Sees(".retry", "Not sent: unsupported media type")
	p.Clicks(".retry", "Discard")
	p.SeesNot(".waits")
}

func TestFiles_OfflineAndBack(t *testing.T) {
	t.Parallel()
	_, p := opened(t, "")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Offline(true)
	p.gives(drop, "#panel", "order.txt", []byte("one kettle"))
	p.Sees(".retry", "Not sent. Tap to retry.")
	p.Offline(false)
	p.Sees(".list .out a", "order.txt")
	p.SeesNot(".waits")
}

func TestFiles_FromTheBot(t *testing.T) {
	t.Parallel()
	chat := newServer(t)
	chat.files = []uploaded{{name: "lid.png", mediaType: "image/png", content: picture(t)}}
	p := open(t, chat, "")
	p.opens()
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	chat.says("bot", "", fmt.Sprintf(`{"type":"IMAGE","url":"%s/chat/files/0"}`, chat.URL))
	p.Holds(`$(".in img")?.naturalWidth === 8`)
	chat.says("bot", "", `{"type":"IMAGE","url":"files/7"}`)
	p.Holds(`$$(".in a.file").some((one) => one.innerText === "Picture")`)
	chat.says("bot", "", `{"type":"FILE","url":"https://shop.example/a%20bill.pdf"}`)
	p.Sees(".in a.file", "a bill.pdf")
	chat.says("bot", "", `{"type":"AUDIO","url":"files/0","name":"Ring"}`)
	p.Holds(`$("audio[controls]").getAttribute("aria-label") === "Ring"`)
	p.keepsPolicy()
}
