package main

import (
	"bufio"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// modulePath is the path of the root module. All other module paths start with it.
const modulePath = "github.com/botctx/go-sdk/"

// The calls that the program in the folder calls can make. For "way", the functions on the stack are counted, and
// for the others, the functions that ran.
const (
	callSend    = "send"
	callWebhook = "webhook"
	callRead    = "read"
	callWay     = "way"
)

// enter makes the calls and records the functions that they enter.
func (c *checkout) enter(ctx context.Context) error {
	folder, err := os.MkdirTemp("", "figures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // The system clears it otherwise.
	in, program := filepath.Join(c.root, "internal", "dev"), filepath.Join(folder, "calls")
	_, err = run(ctx, in, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+modulePath+"...",
		"-o", program, "./figures/calls")
	if err != nil {
		return err
	}
	for _, call := range []string{callSend, callWebhook, callRead} {
		counters := filepath.Join(folder, call)
		profile := counters + ".txt"
		if err := os.Mkdir(counters, 0o750); err != nil {
			return err
		}
		if _, err := run(ctx, in, program, call, counters); err != nil {
			return err
		}
		if _, err := run(ctx, in, "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile); err != nil {
			return err
		}
		if c.entered[call], err = c.functionsIn(profile); err != nil {
			return err
		}
	}
	way, err := run(ctx, in, program, callWay, folder)
	c.entered[callWay] = strings.Fields(way)
	return err
}

// run runs a command in a folder, and returns its output.
func run(ctx context.Context, in, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // The go command, and the program that it has built.
	command.Dir = in
	var printed, problems strings.Builder
	command.Stdout, command.Stderr = &printed, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, &printed, &problems)
	}
	return printed.String(), nil
}

// functionsIn returns the functions that ran a statement, from a coverage profile. A function literal counts as part
// of the function that contains it.
func (c *checkout) functionsIn(profile string) ([]string, error) {
	opened, err := os.Open(profile) //nolint:gosec // It was just written.
	if err != nil {
		return nil, err
	}
	defer opened.Close() //nolint:errcheck // The file was only read.
	seen := map[string]bool{}
	var found []string
	for lines := bufio.NewScanner(opened); lines.Scan(); {
		path, block, _ := strings.Cut(strings.TrimPrefix(lines.Text(), modulePath), ":")
		var line, column, toLine, toColumn, statements, count int
		if _, err := fmt.Sscanf(block, "%d.%d,%d.%d %d %d", &line, &column, &toLine, &toColumn, &statements, &count); err != nil || count == 0 {
			continue // The first line is the mode.
		}
		if name := c.functionAt(path, token.Position{Line: line, Column: column}); name != "" && !seen[name] {
			seen[name] = true
			found = append(found, name)
		}
	}
	return found, nil
}

// functionAt returns the name of the function at a position, with its file.
func (c *checkout) functionAt(path string, at token.Position) string {
	for _, f := range c.files {
		if f.path != path {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			function, isFunction := declaration.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			from, to := c.positions.Position(function.Pos()), c.positions.Position(function.End())
			isAfter := at.Line > from.Line || at.Line == from.Line && at.Column >= from.Column
			isBefore := at.Line < to.Line || at.Line == to.Line && at.Column <= to.Column
			if isAfter && isBefore {
				return path + ": " + nameOf(function)
			}
		}
	}
	return ""
}

func filesOf(functions []string) int {
	files := map[string]bool{}
	for _, name := range functions {
		path, _, _ := strings.Cut(name, ": ")
		files[path] = true
	}
	return len(files)
}
