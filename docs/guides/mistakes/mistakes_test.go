// Package mistakes_test contains eleven common mistakes in bots, and for each the test that finds it. The guide is mistakes.md.
package mistakes_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// mistake is a correct bot, the same bot with a mistake, and a test that distinguishes them.
type mistake struct {
	right, wrong []*botctx.Node
	test         func(t tester, nodes []*botctx.Node)
	// tells is the test's message for the wrong bot.
	tells string
}

// tester is the part of *testing.T that these tests need.
type tester interface {
	fakes.TB
	require.TestingT
}

func mistakes() map[string]mistake {
	return map[string]mistake{
		"a filter that forgets whose":    wrongFilter(),
		"a tag that is forgotten":        forgottenTag(),
		"a place that is booked twice":   doubleBooking(),
		"a failure that nobody expected": unexpectedFailure(),
		"a text that becomes a template": injection(),
		"a text that becomes a filter":   operatorInjection(),
		"an update that is lost":         lostUpdate(),
		"a fallback that comes first":    wrongPriority(),
		"an agenda that stays":           forgottenAgenda(),
		"a time in the wrong zone":       wrongZone(),
		"a change that is not written":   forgottenWriteBack(),
	}
}

func TestMistakes_TheRightBotPasses(t *testing.T) {
	t.Parallel()
	for name, m := range mistakes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m.test(t, m.right)
		})
	}
}

func TestMistakes_TheWrongBotIsCaught(t *testing.T) {
	t.Parallel()
	require.Len(t, mistakes(), 11)
	for name, m := range mistakes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := outcomeOf(func(t tester) { m.test(t, m.wrong) })
			require.Contains(t, told, m.tells)
		})
	}
}

// outcomeOf runs a test to its end, and returns why it failed, or "" if it did not.
func outcomeOf(test func(t tester)) string {
	r := &recorder{}
	r.apart(func() { test(r) })
	for _, atEnd := range slices.Backward(r.atEnd) {
		r.apart(atEnd)
	}
	return strings.Join(r.failures, "\n")
}

// recorder is a test that remembers why it failed.
type recorder struct {
	mu       sync.Mutex
	failures []string
	atEnd    []func()
}

// apart calls a function on a goroutine that it may end.
func (r *recorder) apart(call func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	<-done
}

func (*recorder) Helper() {}

func (*recorder) Name() string { return "TestOfABot" }

func (*recorder) Logf(string, ...any) {}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (*recorder) FailNow() { runtime.Goexit() }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.failures) > 0
}

func (r *recorder) Cleanup(f func()) { r.atEnd = append(r.atEnd, f) }
