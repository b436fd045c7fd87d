// Command small is a host in one file, to begin with: a bot behind a signed webhook, over a file or a database.
// The folder above has everything else that a service needs.
//
//	BOTS_CHAT=https://chat.example/said BOTS_SECRET=$(openssl rand -hex 32) go -C examples/host run ./small
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// settings are the settings in the environment.
type settings struct {
	// listen is the address to listen on. store is a file or the address of a database.
	listen, store string
	// chat is the address for the bot's messages; secret signs both ways.
	chat   string
	secret channel.Secret
	// allow are hosts in the service's own network that it may post to.
	allow []string
}

// fromEnvironment returns the settings, with defaults for a first try.
func fromEnvironment() settings {
	return settings{
		listen: or(os.Getenv("BOTS_LISTEN"), "127.0.0.1:8080"),
		store:  or(os.Getenv("BOTS_STORE"), "bots.db"),
		chat:   os.Getenv("BOTS_CHAT"),
		secret: channel.NewSecret(os.Getenv("BOTS_SECRET")),
		allow:  strings.Fields(os.Getenv("BOTS_ALLOW")),
	}
}

// check refuses settings with which the bot could not answer.
func (s settings) check() error {
	if err := webhook.CheckSecret(s.secret); err != nil {
		return fmt.Errorf("BOTS_SECRET: %w", err)
	}
	allow, err := outbound.ParseAllowList(s.allow...)
	if err != nil {
		return fmt.Errorf("BOTS_ALLOW: %w", err)
	}
	chat, err := outbound.ParseURL(s.chat)
	if err == nil {
		err = outbound.CheckURL(chat, allow)
	}
	if err != nil {
		return fmt.Errorf("BOTS_CHAT: %w", err)
	}
	return nil
}

// or returns text, or other if it is empty.
func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, fromEnvironment())
	stop()
	if err != nil {
		slog.Error("the host ended", "error", err)
		os.Exit(1)
	}
}

// run listens, and serves until ctx ends.
func run(ctx context.Context, s settings) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return err
	}
	return host(ctx, listener, s)
}

// host opens the store, and serves until ctx ends.
func host(ctx context.Context, listener net.Listener, s settings) error {
	database, closeStore, err := openStore(ctx, s.store)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	rt, web, err := newRuntime(ctx, database, s)
	if err != nil {
		return errors.Join(err, listener.Close(), closeStore())
	}
	slog.InfoContext(ctx, "listening", "address", listener.Addr().String())
	return errors.Join(serve(ctx, listener, routes(rt, web), rt), closeStore())
}

// openStore opens a database of PostgreSQL or MongoDB, or a file.
func openStore(ctx context.Context, address string) (store.Store, func() error, error) {
	switch scheme, _, _ := strings.Cut(address, ":"); scheme {
	case "postgres", "postgresql":
		database, err := postgres.Open(ctx, address)
		if err != nil {
			return nil, nil, err
		}
		return database, func() error { database.Close(); return nil }, nil
	case "mongodb", "mongodb+srv":
		database, err := mongo.Open(ctx, address)
		if err != nil {
			return nil, nil, err
		}
		return database, func() error { return database.Close(context.WithoutCancel(ctx)) }, nil
	default:
		database, err := sqlite.Open(address)
		if err != nil {
			return nil, nil, err
		}
		return database, database.Close, nil
	}
}

// newRuntime returns the bot over its store, and the connector of its channel.
func newRuntime(ctx context.Context, database store.Store, s settings) (*botctx.Runtime, *webhook.Connector, error) {
	if err := s.check(); err != nil {
		return nil, nil, err
	}
	client, err := outbound.New(outbound.Config{Allow: s.allow, MaxRedirects: new(0)})
	if err != nil {
		return nil, nil, err
	}
	web, err := webhook.New(webhook.Config{LoadChannel: webhook.Stored(database), HTTP: client})
	if err != nil {
		return nil, nil, err
	}
	rt, err := botctx.New(botctx.Config{
		Store:        database,
		Connectors:   map[channel.Type]send.Connector{channel.Webchat: web},
		Interceptors: []botctx.Interceptor{botctx.Logged(slog.Default())},
		Logger:       slog.Default(),
	})
	if err != nil {
		return nil, nil, err
	}
	if err := botctx.EnsureIndexes(ctx, database); err != nil {
		return nil, nil, err
	}
	_, err = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: channel.Webchat, On: true,
		Metadata: document.O("webhookUrl", s.chat),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webhookSecret", s.secret.Reveal()))},
	})
	if err != nil {
		return nil, nil, err
	}
	err = rt.Handle(nodes()...)
	return rt, web, err
}

// nodes are the bot.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "greeting", Trigger: botctx.AnyText(), Pre: botctx.Do(count), Responses: botctx.Say("Hello {{firstName}}, message {{meta.count}}.")},
	}
}

// count counts the messages of a member.
func count(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("count", document.Get(bot.Member.Meta, "count", 0)+1)
	return nil
}

// routes returns the routes of the host.
func routes(rt *botctx.Runtime, web *webhook.Connector) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", web.Handler(rt.Accept)) // It answers when the message is in the store.
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := rt.Ready(r.Context()); err != nil {
			http.Error(w, "the store takes no writes", http.StatusServiceUnavailable)
		}
	})
	return mux
}

// closeWithin is the time for answering requests after all runs have ended.
const closeWithin = 5 * time.Second

// serve accepts messages, and runs the bot for them and agendas, until ctx ends; then it waits for current
// runs.
func serve(ctx context.Context, listener net.Listener, handler http.Handler, rt *botctx.Runtime) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(listener)
		stop() // If the listener fails, the host ends.
	}()
	err := rt.Run(ctx) // Run handles accepted messages and agendas until ctx ends.
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeWithin)
	defer cancel()
	err = errors.Join(err, server.Shutdown(ending)) // Messages that have arrived are stored and answered.
	if broken := <-served; !errors.Is(broken, http.ErrServerClosed) {
		err = errors.Join(err, broken)
	}
	return err
}
