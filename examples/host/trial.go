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

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/channel"
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
