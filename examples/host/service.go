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
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// The limits of requests and of the last steps of a stop.
const (
	headerTime = 10 * time.Second
	// readTime is for a request's headers and its body, which has another ten seconds.
	readTime = headerTime + 10*time.Second
	idleTime = 2 * time.Minute
	lastTime = 5 * time.Second
)

// service is the host while it runs.
type service struct {
	config     config
	log        *slog.Logger
	store      store.Store
	closeStore func(ctx context.Context) error
	demo       *demoReceiver
	runtime    *botctx.Runtime
	listener   net.Listener
	server     *http.Server
	isStopping atomic.Bool
}

// open opens the store and listens. What it opens, serve closes.
func open(ctx context.Context, c config, log *slog.Logger, out io.Writer) (*service, error) {
	s := &service{config: c, log: log}
	if err := s.openParts(ctx, out); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// openParts opens one part after the other, until one fails.
func (s *service) openParts(ctx context.Context, out io.Writer) error {
	var err error
	if s.store, s.closeStore, err = openStore(ctx, s.config); err != nil {
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
	measured, metrics, err := newMetrics()
	if err != nil {
		return err
	}
	web, err := s.build(channels, measured)
	if err != nil {
		return err
	}
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", s.config.listen); err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	routes, err := s.routes(web.Handler(s.accept), metrics)
	if err != nil {
		return err
	}
	s.server = &http.Server{
		Handler:           leaveUnread(routes),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       readTime,
		IdleTimeout:       idleTime,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	return nil
}

// build makes the connector and the runtime with the bot, which are measured.
func (s *service) build(channels []channelSettings, measured *otel.Instrumentation) (*webhook.Connector, error) {
	allow := s.config.allow
	if s.config.demo {
		allow = append(slices.Clone(allow), demoHost)
	}
	client, err := outbound.New(outbound.Config{Allow: allow, MaxRedirects: new(0)})
	if err != nil {
		return nil, err
	}
	load := loader(channels)
	drops := &send.Drops{Logger: s.log}
	web, err := webhook.New(webhook.Config{LoadChannel: load, HTTP: client, Now: s.config.now, Drops: drops})
	if err != nil {
		return nil, err
	}
	s.runtime, err = botctx.New(botctx.Config{
		Store:        measured.Store(s.store, s.config.store),
		Connectors:   measured.Connectors(map[channel.Type]send.Connector{channel.Webchat: web}),
		Interceptors: []botctx.Interceptor{measured.Interceptor(), botctx.Logged(s.log)},
		LoadChannel:  load,
		Now:          s.config.now,
		LaneLease:    s.config.takeOverAfter,
		Inbox:        measured.Inbox(botctx.InboxOptions{ShutdownTimeout: s.config.stopWithin, MaxPending: s.config.maxPending}),
		Scheduler:    measured.Scheduler(botctx.SchedulerOptions{ShutdownTimeout: s.config.stopWithin}),
		Logger:       s.log,
	})
	if err != nil {
		return nil, err
	}
	_, err = measured.Observe(s.runtime) // Until the end of the process, and so below.
	if err == nil {
		_, err = measured.ObserveInbox(s.runtime)
	}
	if err == nil {
		_, err = measured.ObserveDrops(drops)
	}
	if err != nil {
		return nil, err
	}
	return web, s.runtime.Handle(bistro{remindAfter: s.config.remindAfter}.nodes()...)
}

// routes returns what the service answers.
func (s *service) routes(inbound, metrics http.Handler) (http.Handler, error) {
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", inbound)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", metrics)
	if s.config.adminToken.Reveal() == "" {
		return mux, nil
	}
	operators, err := s.forOperators()
	mux.Handle(operatorsPath+"/", operators)
	return mux, err
}

// leaveUnread closes the connection after a request that has a body if none is wanted. Else the
// server would read that body before it answers, as slowly as it comes.
func leaveUnread(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost && r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // In the past: it reads no further.
		}
		next.ServeHTTP(w, r)
	})
}

// accept keeps a message in the store. The sender of one that was not kept is told so, and sends it
// again.
func (s *service) accept(ctx context.Context, inbound botctx.Inbound) error {
	err := s.runtime.Accept(ctx, inbound)
	if err != nil {
		s.log.WarnContext(ctx, "not accepted", "app", inbound.App, "channel", inbound.Channel,
			"message", inbound.Event.MessageID, "code", boterr.CodeOf(err))
	}
	return err
}

// ready reports whether the service takes messages: it is not about to stop, and the store takes writes.
func (s *service) ready(w http.ResponseWriter, r *http.Request) {
	if s.isStopping.Load() {
		http.Error(w, "stopping", http.StatusServiceUnavailable)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), lastTime)
	defer cancel()
	if err := s.runtime.Ready(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
		http.Error(w, "the store takes no writes", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ready\n")
}

// serve takes requests, runs the bot for what was accepted, and agendas, until ctx ends, and then
// stops in good order: what runs may finish, and what has not begun is left in the store. Meanwhile
// /readyz answers 503, so that a load balancer turns to others; what still arrives is kept.
func (s *service) serve(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- s.runtime.Run(running) }()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(s.listener) }()
	s.log.InfoContext(ctx, "serving", "address", s.listener.Addr().String(), "store", s.config.store)

	var err error
	select {
	case <-ctx.Done():
	case err = <-served: // The listener broke.
	}
	s.log.InfoContext(ctx, "stopping", "within", s.config.stopWithin)
	s.isStopping.Store(true)
	stop()
	err = errors.Join(err, <-ran, s.close(ctx))
	s.log.InfoContext(ctx, "stopped")
	return err
}

// close closes what open has opened, the last first: no run is left that needs it.
func (s *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	var problems []error
	if s.server != nil {
		problems = append(problems, s.server.Shutdown(ctx))
	}
	problems = append(problems, s.demo.close())
	if s.store != nil {
		problems = append(problems, s.closeStore(ctx))
	}
	return errors.Join(problems...)
}
