package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"

	"github.com/botctx/go-sdk/backends/blob"
	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/backends/telegram"
	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// The limits of requests and of the last steps of a stop.
const (
	headerTime = 10 * time.Second
	// readTime is the limit for a request's headers and body; the body has ten more seconds.
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
	telegram   *telegram.Connector
	desk       *desk.Desk
	chat       *webchat.Connector
	files      *blob.Store
	signIns    *signIns
	runtime    *botctx.Runtime
	listener   net.Listener
	server     *http.Server
	isStopping atomic.Bool
	// removeTrial removes the files of a trial run.
	removeTrial func()
}

// open opens the store and listens. serve closes the resources that open opened.
func open(ctx context.Context, c config, log *slog.Logger, out io.Writer) (*service, error) {
	s := &service{config: c, log: log, signIns: newSignIns(c.agents, c.adminToken), removeTrial: func() {}}
	if err := s.openParts(ctx, out); err != nil {
		return nil, errors.Join(err, s.close(ctx))
	}
	return s, nil
}

// openParts opens one part after the other, until one fails.
func (s *service) openParts(ctx context.Context, out io.Writer) error {
	var err error
	if s.config.isTrial {
		if s.removeTrial, err = s.config.openTrial(); err != nil {
			return err
		}
	}
	if s.listener, err = s.config.listenOn(ctx); err != nil {
		return err
	}
	if s.store, s.closeStore, err = openStore(ctx, s.config, s.log); err != nil {
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
	receivers, err := s.build(ctx, channels, measured)
	if err != nil {
		return err
	}
	routes, err := s.routes(receivers, metrics)
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
	s.server.RegisterOnShutdown(s.chat.Close) // Close ends the streams of open pages.
	s.server.RegisterOnShutdown(s.desk.Close)
	if s.config.isTrial {
		s.welcome(out)
	}
	return nil
}

// build creates the connectors and the instrumented runtime with the bot. It returns the handlers of the
// platforms' reports by pattern.
func (s *service) build(
	ctx context.Context, channels []channelSettings, measured *otel.Instrumentation,
) (map[string]http.Handler, error) {
	allow := s.config.allow
	if s.config.demo {
		allow = append(slices.Clone(allow), demoHost)
	}
	client, err := outbound.New(outbound.Config{Allow: allow, MaxRedirects: new(0)})
	if err != nil {
		return nil, err
	}
	load := loader(channels, s.config.telegramChannels()...)
	drops := &send.Drops{Logger: s.log}
	if s.telegram, err = s.newTelegram(load, drops); err != nil {
		return nil, err
	}
	web, err := webhook.New(webhook.Config{LoadChannel: load, HTTP: client, Now: s.config.now, Drops: drops})
	if err != nil {
		return nil, err
	}
	if s.desk, err = desk.New(desk.Config{Store: s.store, Now: s.config.now, Logger: s.log}); err != nil {
		return nil, err
	}
	if s.chat, err = s.newChat(ctx, drops); err != nil {
		return nil, err
	}
	all := platforms{
		connectors: map[channel.Type]send.Connector{
			channel.Custom: web, channel.Webchat: s.chat, desk.Type: s.desk, telegram.Type: telegram.Limited(s.telegram),
		},
		receivers: map[string]http.Handler{
			"POST /inbound": web.Handler(s.accept), chatPath: s.chat.Handler(s.accept),
		},
	}
	if err := s.addPlatforms(all, channels, drops); err != nil {
		return nil, err
	}
	s.runtime, err = botctx.New(botctx.Config{
		Store:        measured.Store(s.store, s.config.storeKind()),
		Connectors:   measured.Connectors(all.connectors),
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
	if err := s.observe(measured, drops); err != nil {
		return nil, err
	}
	if err := s.runtime.Handle(bistro{remindAfter: s.config.remindAfter}.nodes()...); err != nil {
		return nil, err
	}
	return all.receivers, s.addDesk(ctx, all.receivers)
}

// observe adds the metrics of the runtime and the connectors, until the process ends.
func (s *service) observe(measured *otel.Instrumentation, drops *send.Drops) error {
	_, err := measured.Observe(s.runtime)
	if err == nil {
		_, err = measured.ObserveInbox(s.runtime)
	}
	if err == nil {
		_, err = measured.ObserveDrops(drops)
	}
	return err
}

func (s *service) routes(receivers map[string]http.Handler, metrics http.Handler) (http.Handler, error) {
	mux := http.NewServeMux()
	for pattern, receiver := range receivers {
		mux.Handle(pattern, receiver)
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "alive\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.Handle("GET /metrics", metrics)
	if s.config.isTrial {
		mux.HandleFunc("GET "+signInPath, s.signIns.signIn)
		mux.HandleFunc("/", servePage)
	}
	if s.config.adminToken.Reveal() == "" {
		return mux, nil
	}
	operators, err := s.forOperators()
	mux.Handle(operatorsPath+"/", operators)
	return mux, err
}

// leaveUnread closes the connection after a request with an unwanted body. Otherwise the server would read
// that body before it answers, however slowly it arrives.
func leaveUnread(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost && r.ContentLength != 0 {
			w.Header().Set("Connection", "close")
			_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // A time in the past stops reading.
		}
		next.ServeHTTP(w, r)
	})
}

// accept stores a message. If that fails, the sender gets an error, and sends it again.
func (s *service) accept(ctx context.Context, inbound botctx.Inbound) error {
	err := s.runtime.Accept(ctx, inbound)
	if err != nil {
		s.log.WarnContext(ctx, "not accepted", "app", inbound.App, "channel", inbound.Channel,
			"message", inbound.Event.MessageID, "code", boterr.CodeOf(err))
	}
	return err
}

// ready reports whether the service accepts messages: it is not about to stop, and the store accepts writes.
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

// serve accepts requests, and runs the bot for accepted messages and agendas, until ctx ends, and then stops
// gracefully: current runs may finish, and the rest stays in the store. In the meantime /readyz answers 503,
// so that a load balancer chooses other processes; messages that still arrive are stored.
func (s *service) serve(ctx context.Context) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- s.runtime.Run(running) }()
	polled := make(chan error, 1)
	go func() { polled <- s.poll(running) }()
	served := make(chan error, 1)
	go func() { served <- s.server.Serve(s.listener) }()
	s.log.InfoContext(ctx, "serving", "address", s.listener.Addr().String(), "store", s.config.storeKind())

	var err error
	select {
	case <-ctx.Done():
	case err = <-served: // The listener broke.
	case err = <-polled: // Polling has failed for good.
		polled <- nil
	}
	s.log.InfoContext(ctx, "stopping", "within", s.config.stopWithin)
	s.isStopping.Store(true)
	stop()
	err = errors.Join(err, <-ran, <-polled, s.close(ctx))
	s.log.InfoContext(ctx, "stopped")
	return err
}

// close closes everything that open has opened, the last first: no run still needs it.
func (s *service) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
	defer cancel()
	var problems []error
	if s.server != nil {
		problems = append(problems, s.server.Shutdown(ctx))
	} else if s.listener != nil {
		problems = append(problems, s.listener.Close())
	}
	problems = append(problems, s.demo.close())
	if s.store != nil {
		problems = append(problems, s.closeStore(ctx))
	}
	if s.files != nil {
		problems = append(problems, s.files.Close())
	}
	s.removeTrial()
	return errors.Join(problems...)
}

// adminVariable holds the token of operators.
const (
	adminVariable = "HOST_ADMIN_TOKEN"
	minTokenBytes = 16
)

// operatorsPath is the path of the page on which operators see the records, and retry or discard dead
// letters.
const operatorsPath = "/admin"

// forOperators returns the operators' page for the apps that have channels here.
func (s *service) forOperators() (http.Handler, error) {
	var apps []string
	for _, one := range s.config.telegramChannels() {
		apps = append(apps, one.App)
	}
	for _, one := range s.config.channels {
		if !slices.Contains(apps, one.App) {
			apps = append(apps, one.App)
		}
	}
	view, err := admin.Handler(admin.Config{Runtime: s.runtime, Apps: apps, MayWrite: true, Logger: s.log})
	if err != nil {
		return nil, err
	}
	return s.signIns.only(isOperator, http.StripPrefix(operatorsPath, view)), nil
}

// isEqual compares tokens in constant time.
func isEqual(got, want string) bool {
	gotSum, wantSum := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(gotSum[:], wantSum[:]) == 1
}

// newMetrics returns the service's instrumentation, and the page on which Prometheus reads the metrics. Spans
// go to OpenTelemetry's global provider, which discards them unless a host has set one.
func newMetrics() (*otel.Instrumentation, http.Handler, error) {
	registry := prometheus.NewRegistry()
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, nil, err
	}
	measured, err := otel.New(otel.Config{MeterProvider: metric.NewMeterProvider(metric.WithReader(reader))})
	return measured, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), err
}
