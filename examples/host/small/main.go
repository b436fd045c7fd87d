// Command small is a host in one file, to begin with: a bot in a chat on a page, over a file or a database.
// The folder above has everything else that a service needs.
//
//	go -C examples run ./host/small
package main

import (
	"cmp"
	"context"
	"crypto/rand"
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
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// settings are the settings in the environment.
type settings struct {
	// listen is the address to listen on. store is a file or the address of a database.
	listen, store string
	// origin is the origin of the page that may show the chat; secret signs the tokens of its visitors.
	origin string
	secret channel.Secret
}

// fromEnvironment returns the settings, with defaults for a first try.
func fromEnvironment() settings {
	return settings{
		listen: cmp.Or(os.Getenv("BOTS_LISTEN"), "127.0.0.1:8080"),
		store:  cmp.Or(os.Getenv("BOTS_STORE"), "bots.db"),
		origin: cmp.Or(os.Getenv("BOTS_ORIGIN"), "self"),
		secret: channel.NewSecret(cmp.Or(os.Getenv("BOTS_SECRET"), rand.Text()+rand.Text())),
	}
}

func main() {
	if os.Getenv("BOTS_SECRET") == "" {
		slog.Warn("BOTS_SECRET is not set: visitors lose their chat when the host restarts")
	}
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
	if len(s.secret.Reveal()) < webchat.MinSecret {
		return fmt.Errorf("BOTS_SECRET has fewer than %d bytes: make one with openssl rand -hex 32", webchat.MinSecret)
	}
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
	rt, chat, err := newRuntime(ctx, database, s)
	if err != nil {
		return errors.Join(err, listener.Close(), closeStore())
	}
	slog.InfoContext(ctx, "listening", "address", "http://"+listener.Addr().String())
	server := &http.Server{
		Handler:           routes(rt, chat),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       20 * time.Second,
		IdleTimeout:       2 * time.Minute,
	}
	server.RegisterOnShutdown(chat.Close) // Close ends the streams of open pages.
	return errors.Join(serve(ctx, listener, server, rt), closeStore())
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
func newRuntime(ctx context.Context, database store.Store, s settings) (*botctx.Runtime, *webchat.Connector, error) {
	chat, err := webchat.New(webchat.Config{Store: database})
	if err != nil {
		return nil, nil, err
	}
	rt, err := botctx.New(botctx.Config{
		Store:        database,
		Connectors:   map[channel.Type]send.Connector{channel.Webchat: chat},
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
		Metadata: document.O("origins", document.A(s.origin)),
		Info:     channel.OtherInfo{Hidden: channel.Hide(document.O("webchatSecret", s.secret.Reveal()))},
	})
	if err != nil {
		return nil, nil, err
	}
	err = rt.Handle(nodes()...)
	return rt, chat, err
}

// nodes returns a bot that counts the messages of each member.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "greeting", Trigger: botctx.AnyText(), Pre: botctx.Do(count), Responses: botctx.Say("This is your message {{meta.count}}.")},
	}
}

// count counts the messages of a member.
func count(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("count", document.Get(bot.Member.Meta, "count", 0)+1)
	return nil
}

// page is the HTML of a page that shows the chat.
const page = `<!doctype html>
<meta charset="utf-8">
<title>My bot</title>
<script src="/chat/widget.js" data-channel="chat" async></script>
`

// routes serves the chat, a page that shows it, and the checks of the host's health.
func routes(rt *botctx.Runtime, chat *webchat.Connector) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/chat/", chat.Handler(rt.Accept)) // The request of a message returns once the store has it.
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, page) })
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
func serve(ctx context.Context, listener net.Listener, server *http.Server, rt *botctx.Runtime) error {
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
