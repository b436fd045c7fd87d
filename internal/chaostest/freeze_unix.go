//go:build unix

package chaostest

import (
	"os"
	"syscall"
)

// freeze suspends a process until thaw.
func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

// thaw resumes a frozen process.
func thaw(p *os.Process) error { return p.Signal(syscall.SIGCONT) }
