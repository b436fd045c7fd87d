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
// Without -url it plays a conversation with scripted replies (play). assistant_test.go shows how to test
// such a bot without a network.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
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
				_, err := io.WriteString(out, play())
				return err
			}
			return chat(ctx, settings, in, out)
		},
	}.Run(args, problems)
}

// chat is a conversation with the assistant in the terminal. The model's texts cannot control the terminal.
func chat(ctx context.Context, settings Settings, in io.Reader, out io.Writer) error {
	if err := settings.check(); err != nil {
		return err
	}
	client, err := clientFor(settings.URL)
	if err != nil {
		return err
	}
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.HTTP = client }))
	return console.Console{
		Platform: p, Members: []*fakes.Actor{open(p, settings)},
		CannotSave: "a model gives another answer each time. Tests script its replies, as assistant_test.go does with newShop and says",
		In:         in, Out: out,
	}.Run(ctx)
}

// clientFor returns the guarded client. The address in the settings is the host's own, so it may be in the
// host's network, such as a model on the same machine.
func clientFor(address string) (*outbound.Client, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return nil, boterr.Invalid("url", "is not an HTTP or HTTPS address")
	}
	return outbound.New(outbound.Config{Allow: []string{parsed.Host}, MaxRedirects: new(0), Timeout: time.Minute})
}

// open opens the shop: its bot, its orders, and Ada, who has two of them.
func open(p *fakes.Platform, settings Settings) *fakes.Actor {
	p.Handle((&Assistant{settings}).Nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	p.AddData("orders",
		document.O("member", ada.ID(), "tea", "Assam", "grams", 250, "status", "sent", "number", 1),
		document.O("member", ada.ID(), "tea", "Sencha", "grams", 100, "status", "open", "number", 2, "cost", 7),
		document.O("member", bob.ID(), "tea", "Lapsang", "grams", 500, "status", "open", "number", 3),
	)
	return ada
}

// modelURL is the address of the model of scripted replies.
const modelURL = "https://models.example/v1"

// scripted returns the settings for a model with scripted replies.
func scripted(log io.Writer) Settings {
	return Settings{
		URL: modelURL, Model: "small", Key: channel.NewSecret("key-0123456789"), Timeout: 30 * time.Second,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}
}

// says is a reply of the model with a text.
func says(text string) web.Reply {
	return web.JSON(200, `{"choices": [{"message": {"role": "assistant", "content": `+quoted(text)+`}}]}`)
}

// wants is a reply of the model that calls a tool.
func wants(tool, arguments string) web.Reply {
	call := `{"id": "call-1", "type": "function", "function": {"name": ` + quoted(tool) + `, "arguments": ` + quoted(arguments) + `}}`
	return web.JSON(200, `{"choices": [{"message": {"role": "assistant", "content": null, "tool_calls": [`+call+`]}}]}`)
}

func quoted(text string) string {
	encoded, err := json.Marshal(text)
	if err != nil {
		return `""` // Strings never fail.
	}
	return string(encoded)
}

func play() string {
	p := fakes.New()
	ada := open(p, scripted(io.Discard))
	var lines strings.Builder
	for _, turn := range []struct {
		asked   string
		replies []web.Reply
	}{
		{"Which tea wakes me up?", []web.Reply{says("Assam does: it is strong, and goes well with milk.")}},
		{"And what did I order?", []web.Reply{
			wants("my_orders", `{"status": "open"}`), says("100 grams of Sencha are on their way to you soon."),
		}},
		{"What did Bob order?", []web.Reply{
			wants("my_orders", `{"member": "member-2"}`), says("I can only tell you of your own orders."),
		}},
	} {
		p.ReplyHTTP("POST", modelURL+"/chat/completions", turn.replies[0], turn.replies[1:]...)
		ada.Says(turn.asked)
		lines.WriteString("Ada: " + turn.asked + "\nBot: " + ada.Last() + "\n")
	}
	return lines.String()
}
