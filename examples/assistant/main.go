// Command assistant is the bot of a tea shop, which answers by asking a language model: any model with a chat
// completions API, as many servers and programs offer.
//
//	go -C examples run ./assistant
//	ASSISTANT_KEY=... go -C examples run ./assistant -url https://models.example/v1 -model small
//
// It shows bot.Fetch through the guarded client, with the key only in a header; tools that are operations,
// called by name with arguments that the bot builds (tools.go); and how to distrust a model: its answers are
// literal texts, it is limited in rounds, time and size, and it only sees and does what the list of tools
// allows, for the member who writes (assistant.go, model.go).
//
// Without -url it plays a conversation with scripted replies (play.go). assistant_test.go shows how to test
// such a bot without a network.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/examples/program"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `Usage: assistant [-url address -model name] [-limit name] [-tokens number]

A bot that asks a language model. Without an address it plays a conversation with scripted replies.
The key of the API is taken from ASSISTANT_KEY.
`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	settings := Settings{
		Key: channel.NewSecret(os.Getenv("ASSISTANT_KEY")), Timeout: 30 * time.Second,
		Log: slog.New(slog.NewTextHandler(problems, nil)),
	}
	return program.Program{
		Name: "assistant", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&settings.URL, "url", "", "the address of the model's API, such as https://models.example/v1")
			flags.StringVar(&settings.Model, "model", "small", "the name of the model there")
			flags.StringVar(&settings.Limit, "limit", limitTokens, "the name of the limit of tokens: "+limitTokens+" or "+limitCompletionTokens)
			flags.IntVar(&settings.MaxTokens, "tokens", maxAnswer, "the limit of tokens; a model that reasons needs some thousands")
		},
		Check: func(flags *flag.FlagSet) error {
			var err error
			flags.Visit(func(given *flag.Flag) {
				if settings.URL == "" {
					err = fmt.Errorf("-%s needs -url: the scripted conversation asks no model", given.Name)
				}
			})
			return err
		},
		Do: func() error {
			if settings.URL == "" {
				return program.Printed(out, play)()
			}
			return chat(ctx, settings, in, out)
		},
	}.Run(args, problems)
}
