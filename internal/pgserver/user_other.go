//go:build !unix

package pgserver

import (
	"errors"
	"os/exec"
)

// runAsOther fails: the shell around the server needs a Unix.
func runAsOther(*exec.Cmd, string) error { return errors.ErrUnsupported }
