//go:build unix

package chaostest

import (
	"os"
	"syscall"
)

// freeze suspends a process until it is thawed.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// thaw continues a frozen process.
func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
