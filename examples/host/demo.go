package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

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
