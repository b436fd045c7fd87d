package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// What a process of its own measures, see settings.probe.
const (
	// probeStart is how long the first engine takes. Its argument is the folder for compiled code.
	probeStart = "start"
	// probeMemory is what runs take that wait. Its argument is the script.
	probeMemory = "memory"
)

// probe measures what only a process of its own can, and prints nanoseconds or bytes.
//
//nolint:contextcheck // An engine is made without a context.
func probe(ctx context.Context, kind, argument string, out io.Writer) error {
	var measured int64
	var err error
	if kind == probeStart {
		begin := time.Now()
		_, err = script.New(script.Options{CacheDir: argument})
		measured = int64(time.Since(begin))
	} else {
		measured, err = memoryOfWaiting(ctx, argument)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(out, measured)
	return err
}

// probed has another process of this program measure something.
func probed(ctx context.Context, kind, argument string) (int64, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	command := exec.CommandContext(ctx, program, "-probe", kind, "-argument", argument) //nolint:gosec // It is this program.
	command.Stderr = os.Stderr
	text, err := command.Output()
	if err != nil {
		return 0, fmt.Errorf("measuring %s in another process: %w", kind, err)
	}
	return strconv.ParseInt(string(text), 10, 64)
}

// The goals of the first engine of a process, and of runs that wait.
const (
	mostOfFirst   = timing(500 * time.Millisecond)
	mostOfCached  = timing(50 * time.Millisecond)
	mostOfWaiting = 40 << 20
)

// waiting is how many runs wait at once.
const waiting = 100

// What the runs do: they read the member, and wait for an operation.
const (
	waitingSource = "const { firstName } = this.member\n" +
		"const { _id } = await this.getChannel({ channelId: this.channel._id })\nreturn firstName + _id"
	packagesBefore = "this.moment.utc(0).format(); this.lodash.groupBy([1.2, 2.3], Math.floor)\n"
)

// printProcesses prints what processes of their own measure.
func (s *scriptStage) printProcesses(ctx context.Context, out *strings.Builder, of settings) error {
	folder, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // What is left is in a folder for what is temporary.
	fmt.Fprint(out, "\n| what a process needs | figure | goal |\n|---|---|---|\n")
	if _, err := probed(ctx, probeStart, folder); err != nil { // It fills the folder.
		return err
	}
	for _, row := range []struct {
		title, folder string
		most          timing
	}{
		{"its first engine", "", mostOfFirst},
		{"its first engine, with the folder for compiled code", folder, mostOfCached},
	} {
		var all []timing
		for range of.rounds {
			took, err := probed(ctx, probeStart, row.folder)
			if err != nil {
				return err
			}
			all = append(all, timing(took))
		}
		slices.Sort(all)
		median := all[len(all)/2]
		fmt.Fprintf(out, "| %s | %s, at least %s | %s |\n", row.title, median, all[0], scriptGoal{most: row.most}.String(median, 0))
	}
	for _, row := range []struct{ title, source string }{
		{"100 runs that wait", waitingSource},
		{"100 runs that wait, after moment and lodash", packagesBefore + waitingSource},
	} {
		if row.source != waitingSource && !s.hasPackages {
			continue
		}
		if _, err := os.Stat(smaps); err != nil { // Only Linux says it.
			continue
		}
		taken, err := probed(ctx, probeMemory, row.source)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s, beyond one | %.1f MB | ≤ %d MB %s |\n", row.title, float64(taken)/(1<<20), mostOfWaiting>>20,
			yesOrNo(taken, mostOfWaiting))
	}
	return nil
}

// memoryOfWaiting returns how much more memory this process takes while many runs of a script wait for an operation at
// once than while one does.
//
//nolint:contextcheck // What is made before the runs takes no context.
func memoryOfWaiting(ctx context.Context, source string) (all int64, err error) {
	engine, err := script.New(script.Options{Modules: os.DirFS(packagesFolder), MaxBusy: mostBusy, Deadline: time.Hour})
	if err != nil {
		return 0, err
	}
	program, err := engine.Compile("waiting.js", source)
	if err != nil {
		return 0, err
	}
	// Each operation notes that it was called, and waits.
	called, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	hold := func(ctx context.Context, _ *botctx.Call, next botctx.Next) (any, error) {
		called <- struct{}{}
		<-goOn
		return next(ctx)
	}
	platform := fakes.New(fakes.Config(func(c *botctx.Config) { c.Interceptors = append(c.Interceptors, hold) }))
	ada := platform.AddMember(member.Member{FirstName: "Ada"})
	var one int64
	for i := range waiting {
		bot := ada.Context()
		go func() {
			_, err := program.Run(ctx, bot)
			ended <- err
		}()
		select {
		case <-called:
		case err := <-ended:
			return 0, fmt.Errorf("a run did not wait: %w", err)
		}
		if i == 0 {
			if one, err = ownMemory(); err != nil {
				return 0, err
			}
		}
	}
	if all, err = ownMemory(); err != nil {
		return 0, err
	}
	close(goOn)
	for range waiting {
		if err := <-ended; err != nil {
			return 0, err
		}
	}
	return all - one, nil
}

// smaps is the file in which Linux says what memory this process takes.
const smaps = "/proc/self/smaps_rollup"

// ownMemory returns how many bytes of memory this process takes. Pages that several mappings share count once.
func ownMemory() (int64, error) {
	debug.FreeOSMemory()
	text, err := os.ReadFile(smaps)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "Pss:" {
			kilobytes, err := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no Pss", smaps)
}
