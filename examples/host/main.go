// Command host is a small HTTP service over the SDK, to copy from: messages of members arrive as signed
// webhooks, a bot answers by others, and agendas run as they fall due.
//
//	go -C examples/host run . -demo
//
// README.md shows a conversation with curl. config.go reads flags and environment, channels.go the channels
// and their secrets, store.go opens the store, service.go starts, serves and stops, operators.go has the
// operators' pages, metrics.go the metrics, bot.go the bot, and demo.go the receiver that -demo uses in place
// of a chat.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
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

// run is the program, until ctx ends. It returns the exit code: 1 if something
// failed, 2 if the configuration is wrong.
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
	s, err := open(ctx, c, log, out)
	if err == nil {
		err = s.serve(ctx)
	}
	if err != nil {
		log.ErrorContext(ctx, "failed", "error", err)
		return 1
	}
	return 0
}
