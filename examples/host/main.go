// Command host is a small HTTP service over the SDK, to copy from: messages of members arrive as signed
// webhooks, a bot answers by webhooks, and agendas run when they are due.
//
//	go -C examples run ./host
//
// README.md shows a conversation with curl. config.go reads flags and environment, channels.go the channels
// and their secrets, with the channel on Telegram, store.go opens the store, and service.go starts, serves and stops,
// with the operators' pages and the metrics. bot.go has the bot, chat.go the chat for web pages and the agents' desk,
// signin.go who may see which page, and trial.go what runs without any settings, and the receiver that -demo uses in
// place of a chat.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // A second signal ends the process at once.
	code := run(ctx, os.Args[1:], os.LookupEnv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// serve runs the service until ctx ends.
func serve(ctx context.Context, c config, log *slog.Logger, out io.Writer) error {
	s, err := open(ctx, c, log, out)
	if err != nil {
		return err
	}
	return s.serve(ctx)
}

// check asks a service on this machine whether it is alive.
func check(ctx context.Context, listen string) error {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // The service listens on all addresses.
	}
	ctx, cancel := context.WithTimeout(ctx, lastTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/healthz", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{}} // Without a proxy.
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	if err := answer.Body.Close(); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answers %s: see its log", answer.Status)
	}
	return nil
}

// run runs the program until ctx ends. It returns the exit code: 1 if something failed, 2 if the
// configuration is wrong.
func run(
	ctx context.Context, args []string, lookup func(string) (string, bool), out, problems io.Writer,
) int {
	c, err := parse(args, lookup, out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		_, _ = fmt.Fprintln(problems, "host: the configuration is wrong; host -help shows all of it")
		_, _ = fmt.Fprintln(problems, err)
		return 2
	}
	log := slog.New(slog.NewTextHandler(problems, &slog.HandlerOptions{Level: c.logLevel}))
	switch {
	case c.isCheck:
		err = check(ctx, c.listen)
	case c.show != "":
		err = show(ctx, c, out)
	default:
		err = serve(ctx, c, log, out)
	}
	if err != nil {
		log.ErrorContext(ctx, "failed", "error", err)
		return 1
	}
	return 0
}
