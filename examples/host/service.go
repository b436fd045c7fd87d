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
	// readTime is for a request's headers and its body, which has ten seconds of its own.
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
	// runs lets messages in until the service stops.
	runs *gate
	// ending ends when the runs in it have had their time.
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
	s.server = &http.Server{
		Handler:           leaveUnread(s.routes(web.Handler(measured.Receive(channel.Webchat, s.receive)), metrics)),
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
	web, err := webhook.New(webhook.Config{LoadChannel: load, HTTP: client, Now: s.config.now})
	if err != nil {
		return nil, err
	}
	s.runtime, err = botctx.New(botctx.Config{
		Store:        measured.Store(s.store, s.config.store),
		Connectors:   measured.Connectors(map[channel.Type]send.Connector{channel.Webchat: web}),
		Interceptors: []botctx.Interceptor{measured.Interceptor(), botctx.Logged(s.log)},
		LoadChannel:  load,
		Now:          s.config.now,
		Scheduler:    measured.Scheduler(agenda.SchedulerConfig{ShutdownTimeout: s.config.stopWithin}),
		Logger:       s.log,
	})
	if err != nil {
		return nil, err
	}
	if _, err := measured.Observe(s.runtime.Scheduler()); err != nil { // Until the end of the process.
		return nil, err
	}
	return web, s.runtime.Handle(bistro{remindAfter: s.config.remindAfter}.nodes()...)
}

// routes returns what the service answers.
func (s *service) routes(inbound, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /inbound", inbound)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", metrics)
	return mux
}

// leaveUnread closes the connection after a request that has a body where none is wanted. Else the
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

// receive runs the bot for a message, unless the service stops: the sender is then
// answered 503, and sends it again.
func (s *service) receive(ctx context.Context, inbound botctx.Inbound) error {
	if !s.runs.enter() {
		return boterr.New(boterr.Unavailable, "", "the service stops: send it again")
	}
	defer s.runs.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(s.ending, cancel) //nolint:contextcheck // The service ends on its own, not with the request.
	defer stop()
	err := s.runtime.Receive(ctx, inbound)
	if err != nil {
		s.logFailure(ctx, inbound, err)
	}
	return err
}

// logFailure tells where a run failed. The sentence of the error may hold what members write,
// and is for debugging.
func (s *service) logFailure(ctx context.Context, inbound botctx.Inbound, err error) {
	log := s.log.With("app", inbound.App, "channel", inbound.Channel, "message", inbound.Event.MessageID)
	where, _ := errors.AsType[*botctx.RunError](err)
	if where != nil {
		log = log.With("node", where.Node.String(), "part", where.Part)
	}
	log.WarnContext(ctx, "run failed", "code", boterr.CodeOf(err))
	log.DebugContext(ctx, "run failed because", "error", err)
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
		problems = append(problems, s.closeStore(ctx))
	}
	return errors.Join(problems...)
}
