package browsertest_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
)

// printed matches the output of examples/host, which has the addresses of the chat, the desk and the operators' page.
var printed = regexp.MustCompile(`the chat +(http://\S+)\n *the desk +(http://\S+) .*\n *the operators +(http://\S+) `)

// buildLimit is the maximum time for go build, because its cache may be empty.
const buildLimit = 5 * time.Minute

// tryOut is the output of the running examples/host.
type tryOut struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *tryOut) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *tryOut) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// tryHost is a running examples/host with default settings.
type tryHost struct {
	chat, desk, operators string
	// stop interrupts the host and requires that it ends without an error and leaves no files.
	stop func()
}

// newTry builds and runs examples/host as its README.md describes.
func newTry(t *testing.T) tryHost {
	t.Helper()
	chromiumtest.Require(t)
	binary, folder := filepath.Join(t.TempDir(), "host"), t.TempDir()
	limit, cancel := context.WithTimeout(t.Context(), buildLimit)
	defer cancel()
	build := exec.CommandContext(limit, "go", "build", "-o", binary, "./host")
	build.Dir = "../../../examples"
	out, err := build.CombinedOutput()
	require.NoError(t, err, "go build within %s: %s", buildLimit, out)

	said := &tryOut{}
	host := exec.CommandContext(context.WithoutCancel(t.Context()), binary)
	host.Stdout, host.Stderr = said, said
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "HOST_") {
			host.Env = append(host.Env, one)
		}
	}
	host.Env = append(host.Env, "TMPDIR="+folder)
	require.NoError(t, host.Start())
	t.Cleanup(func() {
		if host.ProcessState == nil {
			_ = host.Process.Kill()
			_ = host.Wait()
		}
	})
	stop := func() {
		require.NoError(t, host.Process.Signal(os.Interrupt))
		require.NoError(t, host.Wait(), said)
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Empty(t, left, "the records are removed")
	}
	chromiumtest.Eventually(t, "the addresses that the program prints", func() bool { return printed.MatchString(said.String()) })
	addresses := printed.FindStringSubmatch(said.String())
	return tryHost{chat: addresses[1], desk: addresses[2], operators: addresses[3], stop: stop}
}

// asks types a message into the chat and presses Enter.
func (p *tab) asks(text string) {
	p.T.Helper()
	p.Sends("#field", text)
	p.Sees(".out .bubble", text)
}

// shot takes a picture of a page.
func (p *tab) shot() image.Image {
	p.T.Helper()
	picture, err := png.Decode(bytes.NewReader(p.Picture()))
	require.NoError(p.T, err)
	return picture
}

// mostPicture is the maximum size of a picture in docs/pictures in bytes.
const mostPicture = 150_000

// mostOf returns a palette of the most frequent colors in pictures.
func mostOf(pictures ...image.Image) color.Palette {
	counts := map[color.Color]int{color.White: 1}
	for _, one := range pictures {
		for y := range one.Bounds().Dy() {
			for x := range one.Bounds().Dx() {
				counts[one.At(x, y)]++
			}
		}
	}
	all := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int { return counts[b] - counts[a] })
	return all[:min(len(all), 256)]
}

// picturedTogether saves a picture of two pages side by side if BOTCTX_PICTURES names a folder.
func picturedTogether(left, right *tab, name string) {
	left.T.Helper()
	folder := os.Getenv(chromiumtest.PicturesVariable)
	if folder == "" {
		return
	}
	first, second := left.shot(), right.shot()
	const gap = 16
	at := image.Rect(0, 0, first.Bounds().Dx()+gap+second.Bounds().Dx(), max(first.Bounds().Dy(), second.Bounds().Dy()))
	both := image.NewPaletted(at, mostOf(first, second))
	draw.Draw(both, at, image.White, image.Point{}, draw.Src)
	draw.Draw(both, first.Bounds(), first, image.Point{}, draw.Src)
	draw.Draw(both, second.Bounds().Add(image.Pt(first.Bounds().Dx()+gap, 0)), second, image.Point{}, draw.Src)
	var text bytes.Buffer
	require.NoError(left.T, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&text, both))
	require.LessOrEqual(left.T, text.Len(), mostPicture)
	require.NoError(left.T, os.WriteFile(filepath.Join(folder, name+".png"), text.Bytes(), 0o600))
}

func TestHost_TriedWithoutSettings(t *testing.T) {
	t.Parallel()
	host := newTry(t)
	guest := window(t, host.chat)
	guest.Sized(420, 720)
	guest.Names = `const widget = document.querySelector("chat-widget"), root = widget.shadowRoot;`
	guest.Goes(host.chat, `$(".launcher")`)
	guest.Runs(`widget.open()`)
	guest.asks("a table for 4 at 19:30")
	guest.Sees(".in .bubble", "I hold a table for 4 at 19:30. Shall I book it, yes or no?")
	guest.asks("yes")
	guest.Sees(".in .bubble", "Booked: 4 at 19:30.")
	guest.asks("May I speak to a person?")
	guest.Sees(".in .bubble", "Someone will be with you soon.")

	grace := window(t, host.desk)
	grace.Sized(1280, 720)
	grace.Goes(host.desk, `$("main.has-list")`)
	grace.Sees(".head nav", "Waiting 1")
	grace.Presses("Waiting")
	grace.Clicks(`button.chat-row`, "")
	grace.Sees(".log", "May I speak to a person?")
	grace.opens("Before, with the bot")
	grace.Sees(".panel", "Booked: 4 at 19:30.")
	grace.Presses("Take")
	grace.Sees(".chat-head", "your chat")
	grace.writes("Good evening! How can I help?")
	guest.Sees(".in .bubble", "Good evening! How can I help?")
	guest.Sees(".in .name", "Grace")
	guest.asks("Is there a table by the window?")
	grace.Sees(".entry.member", "Is there a table by the window?")
	grace.writes("Yes, I keep it for you.")
	guest.Sees(".in .bubble", "Yes, I keep it for you.")
	grace.Presses("Mine")
	grace.Sees(".list", "Yes, I keep it for you.")
	picturedTogether(guest, grace, "chat-and-desk")

	grace.Presses("End")
	grace.Clicks(`dialog button.main`, "")
	grace.Sees(".talk", "This chat is over")
	guest.asks("a table for 2 at 20:00")
	guest.Sees(".in .bubble", "I hold a table for 2 at 20:00.")

	operator := window(t, host.operators)
	operator.Goes(host.operators, `$("body", "bistro")`)
	host.stop()
}
