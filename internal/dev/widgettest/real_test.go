package widgettest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

const (
	app    = "kettles"
	secret = "0123456789abcdef0123456789abcdef"
)

// files stores files in memory.
type files struct {
	mu   sync.Mutex
	held map[string][]byte
}

func (f *files) Put(_ context.Context, file utility.StoredFile) error {
	content, err := io.ReadAll(file.Content)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held[file.Key] = content
	return err
}

func (f *files) Open(_ context.Context, key string) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	content, exists := f.held[key]
	if !exists {
		return nil, boterr.New(boterr.NotFound, "", "there is no file %s", key)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

func (f *files) Remove(_ context.Context, key string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.held, key)
	return nil
}

// host is a host with a bot, the real handler, and a shop whose page embeds the chat.
type host struct {
	t       *testing.T
	store   store.Store
	runtime *botctx.Runtime
	chat    *webchat.Connector
	shop    string
}

// newHost starts a host. Its bot has the answers of server's bot, and also repeats payloads and names of files.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{t: t, store: memstore.New()}
	mux := http.NewServeMux()
	server := chromiumtest.Serve(t, mux)
	var err error
	h.chat, err = webchat.New(webchat.Config{Store: h.store, Files: &files{held: map[string][]byte{}}, URL: server.URL + "/chat/"})
	require.NoError(t, err)
	h.runtime, err = botctx.New(botctx.Config{Store: h.store, Connectors: map[channel.Type]send.Connector{channel.Webchat: h.chat}})
	require.NoError(t, err)
	h.runtime.HandleFunc(bot(server.URL + "/chat/"))
	mux.Handle("/chat/", h.chat.Handler(h.runtime.Accept))
	h.shop = newShop(t, server.URL+"/chat/")
	_, err = h.runtime.SaveChannel(t.Context(), app, &channel.Channel{
		ID: "shop", Type: channel.Webchat, On: true,
		Metadata: document.O("origins", document.A(strings.TrimSuffix(h.shop, "/"))),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", secret))},
	})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.runtime.Run(ctx) }()
	t.Cleanup(func() {
		h.chat.Close()
		stop()
		require.NoError(t, <-ended)
	})
	return h
}

// bot returns a bot that sends the known answers, with addresses relative to base.
func bot(base string) func(ctx context.Context, bot *botctx.Context) error {
	return func(ctx context.Context, bot *botctx.Context) error {
		event := bot.MessageEvent
		response, isKnown := answers[event.Text()+event.Payload()]
		if !isKnown {
			name := document.Get(event.Data, "attachments.0.name", "")
			return bot.Reply(ctx, send.Text(fmt.Sprintf("%s %s %s", event.Type, event.Payload(), name)))
		}
		var decoded send.Response
		if err := decoded.UnmarshalJSON([]byte(strings.ReplaceAll(response, `"files/`, `"`+base+"files/"))); err != nil {
			return err
		}
		return bot.Reply(ctx, decoded)
	}
}

// sign returns the token of a user.
func (h *host) sign(id string) string {
	h.t.Helper()
	token, err := webchat.SignUser(channel.NewSecret(secret), webchat.User{
		ID: id, Expires: time.Now().Add(time.Minute), FirstName: "Ada",
	})
	require.NoError(h.t, err)
	return token
}

func TestReal_Conversation(t *testing.T) {
	t.Parallel()
	p := openAt(t, newHost(t).shop)
	p.opens()
	p.says("hi")
	p.Sees(".in strong", "Ada")
	p.says("sure?")
	p.Clicks(".replies button", "No")
	p.Sees(".in", "As you like.")
	p.SeesNot(".replies")
	p.says("table")
	p.Clicks(".buttons button", "Seven")
	p.Sees(".in", "PAYLOAD book")
	p.says("cards")
	p.Clicks(".card button", "Buy it")
	p.Sees(".in", "One kettle.")
	p.reloads()
	p.opens()
	p.Sees(".in", "One kettle.")
	require.Equal(t, "14", p.Evaluates(`$$(".list .entry").length`))
	p.keepsPolicy()
}

func TestReal_Files(t *testing.T) {
	t.Parallel()
	p := openAt(t, newHost(t).shop)
	p.opens()
	p.gives(paste, "#field", "lid.png", picture(t))
	p.Holds(`$(".list .out img")?.naturalWidth === 8`)
	p.Sees(".in", "MISC lid.png")
	p.gives(drop, "#panel", "order.txt", []byte("one kettle"))
	p.Sees(".list .out a", "order.txt")
	p.Sees(".in", "MISC order.txt")
	p.gives(drop, "#panel", "page.html", []byte("<!doctype html><script>alert(1)</script>"))
	p.Sees(".retry", "cannot be sent")
	p.keepsPolicy()
}

func TestReal_OfflineAndBack(t *testing.T) {
	t.Parallel()
	p := openAt(t, newHost(t).shop)
	p.opens()
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Offline(true)
	p.says("sure?")
	p.Sees(".retry", "Not sent. Tap to retry.")
	p.Offline(false)
	p.Sees(".in", "Are you sure?")
	require.Equal(t, "4", p.Evaluates(`$$(".entry").length`))
}

func TestReal_TwoTabs(t *testing.T) {
	t.Parallel()
	first := openAt(t, newHost(t).shop)
	first.opens()
	first.says("hi")
	first.Sees(".in", "Hello Ada")
	second := first.another()
	second.opens()
	second.Sees(".in", "Hello Ada")
	second.says("sure?")
	first.Sees(".in", "Are you sure?")
	second.Sees(".in", "Are you sure?")
	require.Equal(t, "4 4", first.Evaluates(`$$(".entry").length`)+" "+second.Evaluates(`$$(".entry").length`))
}

func TestReal_UserAndErasure(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	p := openAt(t, h.shop)
	p.opens()
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Evaluates(fmt.Sprintf(`widget.identify(%q, { merge: true })`, h.sign("7")))
	p.Sees(".in", "Hello Ada")
	p.says("sure?")
	p.Sees(".in", "Are you sure?")
	require.NoError(t, h.chat.EraseMember(t.Context(), &member.Member{App: app, Channel: "shop", ExternalID: "u:7"}))
	p.SeesNot(".entry")
	p.says("hi")
	p.Sees(".in", "Hello Ada")
	p.Evaluates(`widget.signOut()`)
	p.SeesNot(".entry")
	p.Evaluates(fmt.Sprintf(`widget.identify(%q)`, h.sign("7")))
	p.Sees(".in", "Hello Ada")
	p.keepsPolicy()
}
