package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// The limits of requests and of the last steps of a stop.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	lastTime   = 5 * time.Second
)

// service is the host while it runs.
type service struct {
	config   config
	log      *slog.Logger
	store    *openedStore
	demo     *demoReceiver
	runtime  *botctx.Runtime
	listener net.Listener
	server   *http.Server
	// runs lets messages in until the service stops, ending ends when those in it have
	// had their time.
	runs   *gate
	ending context.Context //nolint:containedctx // It is the end of the service, not of a call.
	endAll context.CancelFunc
}

// open opens the store and listens. What it opens, serve closes.
func open(ctx context.Context, c config, log *slog.Logger, out io.Writer) (*service, error) {
	s := &service{config: c, log: log, runs: newGate()}
	s.ending, s.endAll = context.WithCancel(context.WithoutCancel(ctx))
	if err := s.openParts(ctx, out); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// openParts opens one part after the other, until one fails.
func (s *service) openParts(ctx context.Context, out io.Writer) error {
	var err error
	if s.store, err = openStore(ctx, s.config); err != nil {
		return err
	}
	channels := slices.Clone(s.config.channels)
	if s.config.demo {
		last := &channels[len(channels)-1]
		if s.demo, err = startDemo(ctx, last.secrets, out); err != nil {
			return err
		}
		last.URL = s.demo.url
	}
	web, err := s.build(channels)
	if err != nil {
		return err
	}
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.listen); err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	s.server = &http.Server{
		Handler:           s.routes(web),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	return nil
}

// build makes the connector and the runtime with the bot.
func (s *service) build(channels []channelSettings) (*webhook.Connector, error) {
	allow := s.config.allow
	if s.config.demo {
		allow = append(slices.Clone(allow), demoHost)
	}
	client, err := outbound.New(outbound.Config{Allow: allow, MaxRedirects: new(0)})
	if err != nil {
		return nil, err
	}
	load := loader(channels)
	web, err := webhook.New(webhook.Config{LoadChannel: load, HTTP: client, Now: s.config.now})
	if err != nil {
		return nil, err
	}
	s.runtime, err = botctx.New(botctx.Config{
		Store:       s.store,
		Connectors:  map[channel.Type]send.Connector{channel.Webchat: web, channel.Custom: web},
		LoadChannel: load,
		Now:         s.config.now,
		Scheduler:   agenda.SchedulerConfig{Log: s.log, ShutdownTimeout: s.config.stopWithin},
	})
	if err != nil {
		return nil, err
	}
	return web, s.runtime.Handle(bistro{remindAfter: s.config.remindAfter}.nodes()...)
}

// routes returns what the service answers.
func (s *service) routes(web *webhook.Connector) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", web.Handler(s.receive))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	return mux
}

// receive runs the bot for a message, unless the service stops: the sender is then
// answered 503, and sends it again.
func (s *service) receive(ctx context.Context, inbound botctx.Inbound) error {
	if !s.runs.enter() {
		return boterr.New(boterr.Unavailable, "", "the service stops: send it again")
	}
	defer s.runs.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.ending, cancel)
	defer stop()
	err := s.runtime.Receive(ctx, inbound)
	if err != nil {
		s.log.WarnContext(ctx, "run failed", "app", inbound.App, "channel", inbound.Channel,
			"message", inbound.Event.MessageID, "code", boterr.CodeOf(err), "error", err)
	}
	return err
}

// ready tells whether messages can be taken: the service is not about to stop, and the store
// answers.
func (s *service) ready(w http.ResponseWriter, r *http.Request) {
	if !s.runs.isOpen() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), lastTime)
	defer cancel()
	if _, err := s.store.Now(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

// serve takes requests and runs agendas until ctx ends, and then stops in good order.
func (s *service) serve(ctx context.Context) error {
	scheduling, stopScheduling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopScheduling()
	scheduled := make(chan error, 1)
	go func() { scheduled <- s.runtime.Run(scheduling) }()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(s.listener) }()
	s.log.InfoContext(ctx, "serving", "address", s.listener.Addr().String(), "store", s.config.store)

	var err error
	select {
	case <-ctx.Done():
	case err = <-served: // The listener broke.
	}
	s.log.InfoContext(ctx, "stopping", "within", s.config.stopWithin)
	stopScheduling()
	s.finishRuns()
	err = errors.Join(err, <-scheduled, s.close(ctx))
	s.log.InfoContext(ctx, "stopped")
	return err
}

// finishRuns refuses messages, and gives the runs under way the time to finish. Meanwhile
// /readyz answers 503, so that a load balancer turns to others.
func (s *service) finishRuns() {
	timer := time.AfterFunc(s.config.stopWithin, s.endAll)
	defer timer.Stop()
	select {
	case <-s.runs.close():
	case <-s.ending.Done():
	}
}

// close closes what open has opened, the last first: no run is left that needs it.
func (s *service) close(ctx context.Context) error {
	s.endAll()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	var problems []error
	if s.server != nil {
		problems = append(problems, s.server.Shutdown(ctx))
	}
	problems = append(problems, s.demo.close())
	if s.store != nil {
		problems = append(problems, s.store.close(ctx))
	}
	return errors.Join(problems...)
}
