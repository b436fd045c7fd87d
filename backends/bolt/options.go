package bolt

import (
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

// Option is a setting of a Store.
type Option func(*settings)

type settings struct {
	now      func() time.Time
	lockWait time.Duration
	noSync   bool
	logger   *slog.Logger
}

// WithNow sets the clock that Store.Now reads. The default is the machine's.
func WithNow(now func() time.Time) Option {
	return func(s *settings) { s.now = now }
}

// WithLockWait sets how long Open waits for another process to close the file, such as
// one that is being replaced by this one. The default is one second; zero and less is
// not to wait.
func WithLockWait(wait time.Duration) Option {
	return func(s *settings) { s.lockWait = wait }
}

// WithoutSync answers writes before the disk has them, which is faster by far. They
// survive the end of the process, but where the machine stops, the file may be damaged: it
// is for what can be made again, such as an import. The default is to wait for the disk.
func WithoutSync() Option {
	return func(s *settings) { s.noSync = true }
}

// WithLogger sets where Open writes a warning about a file whose newest commit it may have
// lost; see Stats.HasFallenBack. The default is slog.Default; nil writes nothing.
func WithLogger(logger *slog.Logger) Option {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return func(s *settings) { s.logger = logger }
}

func settingsOf(options []Option) (settings, error) {
	s := settings{now: time.Now, lockWait: time.Second, logger: slog.Default()}
	for i, option := range options {
		if option == nil {
			return s, boterr.Invalid("options", "option %d is nil; leave it out", i)
		}
		option(&s)
	}
	if s.now == nil {
		return s, boterr.Invalid("now", "the clock is nil; give a function, or leave WithNow out")
	}
	// bbolt takes zero for waiting without end.
	s.lockWait = max(s.lockWait, 1)
	return s, nil
}
