package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// noting returns a lookup that notes whether a variable of the service is set.
func noting(lookup func(string) (string, bool), isSet *bool) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := lookup(name)
		*isSet = *isSet || ok && strings.HasPrefix(name, "HOST_")
		return value, ok
	}
}

// try configures a service without any settings, for a first try on this machine: a page with a chat, a desk and the
// operators' page, over a temporary file.
func (c *config) try() {
	secret := func() channel.Secret { return channel.NewSecret(rand.Text() + rand.Text()) }
	c.isTrial, c.adminToken = true, secret()
	c.agents = map[string]channel.Secret{"grace": secret()}
	c.channels = []channelSettings{
		{App: demoChannel.App, ID: "site", Type: channel.Webchat, Origins: []string{"self"}, secrets: []channel.Secret{secret()}},
		{App: demoChannel.App, ID: "desk", Type: channel.Desk},
	}
}

// openTrial creates the folder for the files of a trial run.
func (c *config) openTrial() (remove func(), err error) {
	folder, err := os.MkdirTemp("", "botctx-host-")
	if err != nil {
		return nil, err
	}
	c.file = filepath.Join(folder, "bots.db")
	c.files = "file://" + filepath.ToSlash(filepath.Join(folder, "files")) + "?create_dir=true"
	return func() { _ = os.RemoveAll(folder) }, nil
}

// listenOn listens on the configured address. A trial run takes a free port if the usual one is taken.
func (c config) listenOn(ctx context.Context) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.listen)
	if c.isTrial && errors.Is(err, syscall.EADDRINUSE) {
		listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	return listener, nil
}

// welcome prints the addresses of a trial run. The last two are links that each sign in once.
func (s *service) welcome(out io.Writer) {
	_, _ = fmt.Fprintf(out, `Open in a browser:

  the chat       %[1]s/
  the desk       %[1]s%[2]s  (as Grace; works once)
  the operators  %[1]s%[3]s  (works once)

Write "a table for 4 at 19:30" in the chat, or ask for a person and answer at the desk.
Control-C ends it, and removes the records: with -file, -channels and other flags they stay.
`, s.url(), s.signIns.link("grace"), s.signIns.link(operator))
}

// chatPage is the HTML of the page that shows the chat.
const chatPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The bistro</title>
<h1>The bistro</h1>
<p>The chat is in the corner. Book a table, or ask for a person.</p>
<script src="%s" data-channel="site" async></script>
`

func servePage(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' https:; media-src 'self'")
	_, _ = fmt.Fprintf(w, chatPage, chatPath+webchat.Widget().Name)
}

// demoVariable holds the secret of the channel of -demo.
const demoVariable = "HOST_DEMO_SECRET"

// demoChannel is the channel of -demo. Its address is known once the receiver listens.
var demoChannel = channelSettings{App: "bistro", ID: "demo", Type: channel.Custom, SecretVariable: demoVariable}

const demoHost = "127.0.0.1"

// demoReceiver replaces a chat: it receives the bot's messages, and prints them.
type demoReceiver struct {
	server *http.Server
	url    string
}

// startDemo starts a receiver on a free port, reachable only from this machine.
func startDemo(ctx context.Context, secrets []channel.Secret, out io.Writer) (*demoReceiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", demoHost+":0")
	if err != nil {
		return nil, fmt.Errorf("starting the receiver of -demo: %w", err)
	}
	d := &demoReceiver{
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{ReadHeaderTimeout: headerTime, ReadTimeout: headerTime, Handler: printMessages(secrets, out)},
	}
	go func() { _ = d.server.Serve(listener) }()
	return d, nil
}

func (d *demoReceiver) close() error {
	if d == nil {
		return nil
	}
	return d.server.Close()
}

// printMessages prints correctly signed messages.
func printMessages(secrets []channel.Secret, out io.Writer) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = webhook.Verify(r.Header, body, time.Now(), time.Minute, secrets...)
		}
		if err == nil {
			err = printMessage(out, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
}

func printMessage(out io.Writer, body []byte) error {
	value, err := document.ParseJSON(body)
	if err != nil {
		return err
	}
	message, isObject := value.(document.Object)
	if !isObject {
		return errors.New("the body must be an object")
	}
	_, err = fmt.Fprintf(out, "to %s: %s\n",
		boterr.Visible(document.Get(message, "to", "")), boterr.Visible(document.Get(message, "response.text", "")))
	return err
}
