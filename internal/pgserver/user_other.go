//go:build !unix

package pgserver

import (
	"errors"
	"os/exec"
)

// runAsOther returns an error: the script that runs the server needs Unix.
func runAsOther(*exec.Cmd, string) error { return errors.ErrUnsupported }
