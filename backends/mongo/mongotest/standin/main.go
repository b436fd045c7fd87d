// Command standin is a server of the MongoDB protocol for tests: FerretDB over SQLite,
// behind a proxy that lets one command through at a time, because its findAndModify and
// its updates are not atomic. It prints its address and runs until its input ends.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	folder, err := os.MkdirTemp("", "standin")
	if err != nil {
		return fmt.Errorf("making a folder for the data: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	s, err := start(folder)
	if err != nil {
		return err
	}
	defer s.close()
	fmt.Println(s.uri) //nolint:forbidigo // It is what the command is for.
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
