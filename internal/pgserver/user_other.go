//go:build !unix

package pgserver

import (
	"errors"
	"os/exec"
)

// runAsOther fails, because the shell script needs Unix.
func runAsOther(*exec.Cmd, string) error { return errors.ErrUnsupported }
