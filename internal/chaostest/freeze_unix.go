//go:build unix

package chaostest

import (
	"os"
	"syscall"
)

// freeze has a process do nothing until it is thawed.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// thaw has a process that was frozen go on.
func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
