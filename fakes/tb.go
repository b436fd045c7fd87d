package fakes

import (
	"fmt"

	"github.com/botctx/go-sdk/internal/display"
)

// TB is what a platform needs of a test. *testing.T and *testing.B have it.
type TB interface {
	// Helper marks the caller as no place to report.
	Helper()
	// Name returns the name of the test.
	Name() string
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
	// Logf adds to the test's log.
	Logf(format string, args ...any)
	// Failed reports whether the test has failed.
	Failed() bool
	// Cleanup calls a function when the test has ended.
	Cleanup(f func())
}

// For makes misuse and failed runs end a test, and prints the platform's transcript
// where the test failed. A platform without it panics.
func For(t TB) Option {
	return func(s *settings) { s.test = visibleTB{t} }
}

// visibleTB is a test whose output does nothing to a terminal, whatever members wrote.
type visibleTB struct{ TB }

// Fatalf implements TB.
func (t visibleTB) Fatalf(format string, args ...any) {
	t.Helper()
	t.TB.Fatalf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

// Logf implements TB.
func (t visibleTB) Logf(format string, args ...any) {
	t.Helper()
	t.TB.Logf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

// noTest stands for the test where there is none.
type noTest struct{}

func (noTest) Helper() {}

func (noTest) Name() string { return "" }

func (noTest) Fatalf(format string, args ...any) {
	panic(display.Visible(fmt.Sprintf(format, args...)))
}

func (noTest) Logf(string, ...any) {}

func (noTest) Failed() bool { return false }

func (noTest) Cleanup(func()) {}
