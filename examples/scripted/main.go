// Command scripted talks to a bot that is a folder of scripts, in the terminal or in the browser. The scripts
// can be changed while it runs: the next message is answered by their new version.
//
//	go -C examples run ./scripted
//	go -C examples run ./scripted -simulator
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/examples/program"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/script"
)

// inGo returns the nodes of the bot that are written in Go, in addition to the nodes of the folder.
func inGo() []*botctx.Node {
	return []*botctx.Node{{
		ID: "hours", Trigger: botctx.TextIs("hours"), Global: botctx.GlobalInTree,
		Responses: botctx.Say("We are there from 7 to 19."),
	}}
}

// options returns the options of the scripts. The compiled engine is kept, so that the next start is faster.
func options() script.Options {
	folder, err := os.UserCacheDir()
	if err != nil {
		return script.Options{}
	}
	return script.Options{CacheDir: filepath.Join(folder, "botctx-quickjs")}
}

// nodes returns the whole bot: the nodes of a folder, and the nodes in Go.
func nodes(bot fs.FS) ([]*botctx.Node, error) {
	goNodes := inGo()
	loaded, err := script.Load(bot, options(), goNodes...)
	return slices.Concat(loaded, goNodes), err
}

// talk runs the conversation. At each tick it reloads the folder if it has changed.
func talk(ctx context.Context, bot fs.FS, welcome string, ticks <-chan time.Time) error {
	goNodes := inGo()
	watcher := script.Watch(bot, options(), goNodes...)
	loaded, _, err := watcher.Look()
	if err != nil {
		return err
	}
	p := fakes.New()
	p.Handle(slices.Concat(loaded, goNodes)...)
	go watcher.Run(ctx, ticks, func(changed ...*botctx.Node) error {
		return p.Runtime().Replace(slices.Concat(changed, goNodes)...)
	})
	return console.Console{Platform: p, Welcome: welcome, Test: console.Test{Platform: "newBar(t)"}}.Run(ctx)
}

// simulate serves the page of the simulator, which shows the scripts' log and broken changes.
func simulate(ctx context.Context, bot fs.FS, address string, out io.Writer) error {
	goNodes, log, options := inGo(), &simulator.Log{}, options()
	options.Console = slog.New(log.Handler())
	watcher := script.Watch(bot, options, goNodes...)
	look := func() ([]*botctx.Node, bool, error) {
		loaded, hasChanged, err := watcher.Look()
		return slices.Concat(loaded, goNodes), hasChanged, err
	}
	return simulator.Simulator{
		Reload: look, Log: log, Bot: "Bar", Test: simulator.Test{Nodes: "loaded(t)"}, Address: address, Out: out,
	}.Serve(ctx)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

const usage = `Usage: scripted [-bot folder] [-simulator [-address host:port]]

A bot of scripts, in the terminal or in a page of the browser. The scripts can be changed meanwhile.
`

// run runs the program and returns its exit code.
func run(ctx context.Context, args []string, out, problems io.Writer) int {
	folder, address, isPage := "scripted/bot", simulator.DefaultAddress, false
	return program.Program{
		Name: "scripted", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar(&folder, "bot", folder, "the `folder` of the bot")
			flags.BoolVar(&isPage, "simulator", isPage, "try it in the browser")
			flags.StringVar(&address, "address", address, "where the page is, as `host:port`")
		},
		Check: func(*flag.FlagSet) error {
			if !isPage && address != simulator.DefaultAddress {
				return errors.New("-address needs -simulator: give both")
			}
			return nil
		},
		Do: func() error {
			if _, err := os.Stat(folder); err != nil {
				return fmt.Errorf("-bot does not name an existing folder: %w", err)
			}
			if isPage {
				return simulate(ctx, os.DirFS(folder), address, out)
			}
			welcome := "Say hi. The scripts in " + folder + " can be changed meanwhile. Ctrl-D ends it."
			return talk(ctx, os.DirFS(folder), welcome, time.Tick(time.Second))
		},
	}.Run(args, problems)
}
