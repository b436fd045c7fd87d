// Command scripted talks to a bot that is a folder of scripts, in the terminal. While it runs, the scripts can be
// changed: the next message is answered by what they say then.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/console"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/script"
)

// inGo are the nodes of the bot that are written in Go. Those of the folder stand beside them.
func inGo() []*botctx.Node {
	return []*botctx.Node{{
		ID: "hours", Trigger: botctx.TextIs("hours"), Global: botctx.GlobalInTree,
		Responses: botctx.Say("We are there from 7 to 19."),
	}}
}

// nodes are the whole bot: the nodes of a folder, and those in Go.
func nodes(bot fs.FS) ([]*botctx.Node, error) {
	beside := inGo()
	loaded, err := script.Load(bot, script.Options{}, beside...)
	return slices.Concat(loaded, beside), err
}

// talk has the conversation, and loads the folder again where it has changed at a tick.
func talk(ctx context.Context, bot fs.FS, ticks <-chan time.Time) error {
	beside := inGo()
	watcher := script.Watch(bot, script.Options{Console: slog.Default()}, beside...)
	loaded, _, err := watcher.Look()
	if err != nil {
		return err
	}
	p := fakes.New()
	p.Handle(slices.Concat(loaded, beside)...)
	go watcher.Run(ctx, ticks, func(changed ...*botctx.Node) error {
		return p.Runtime().Replace(slices.Concat(changed, beside)...)
	})
	return console.Console{Platform: p}.Run(ctx)
}

func main() {
	folder := flag.String("bot", "scripted/bot", "the folder of the bot")
	flag.Parse()
	fmt.Println("Say hi. The scripts in " + *folder + " can be changed meanwhile. Ctrl-D ends it.")
	ctx, cancel := context.WithCancel(context.Background())
	err := talk(ctx, os.DirFS(*folder), time.Tick(time.Second))
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scripted:", err)
		os.Exit(1)
	}
}
