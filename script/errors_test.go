package script_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/script"
)

func TestError_WhatIsThrown(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct {
		text string
		code boterr.Code
	}{
		"\nthrow {a: 1}":        {`test.js: internal: the script threw {"a":1}`, boterr.Internal},
		"\nthrow 'no'":          {"test.js: internal: the script threw no", boterr.Internal},
		"\nthrow undefined":     {"test.js: internal: the script threw undefined", boterr.Internal},
		"\nthrow {toString: 1}": {`test.js: internal: the script threw a value that cannot be made a text`, boterr.Internal},
		"setTimeout(() => {\nthrow new Error('late') })\nawait new Promise((done) => setTimeout(done, 5))": {"test.js:2:11: internal: Error: late", boterr.Internal},
		"\nawait import('fs')":                            {"test.js: unsupported: import() is not supported: use require", boterr.Unsupported},
		"\nfunction f() { return f() }\nf()":              {"test.js:2:23: resource exhausted: functions call each other too deep", boterr.ResourceExhausted},
		"for (;;) {}":                                     {"test.js: resource exhausted: the script computed for more than 100ms: see Options.MaxBusy", boterr.ResourceExhausted},
		"try { for (;;); } catch {} finally { return 1 }": {"see Options.MaxBusy", boterr.ResourceExhausted},
		"\nfor (;;) { try { await this.getMember({memberId: 'x'}) } catch {} }": {
			"test.js:2:29: resource exhausted: the script has made more than 1000 calls", boterr.ResourceExhausted,
		},
		"const a = []\nfor (;;) a.push(new Array(1000).fill(1))": {"see Options.MaxMemory", boterr.ResourceExhausted},
		"return 'x'.repeat(2e6)":                                 {"test.js: resource exhausted: result: is larger than 1048576 bytes of JSON: see Options.MaxResultBytes", boterr.ResourceExhausted},
		"return new Array(6e5).fill(1)":                          {"see Options.MaxResultBytes", boterr.ResourceExhausted},
	} {
		options := script.Options{MaxBusy: time.Minute, MaxMemory: 32 << 20, MaxResultBytes: 1 << 20}
		if strings.Contains(want.text, "MaxBusy") {
			options.MaxBusy = 100 * time.Millisecond
		}
		s := newStage(t, options)
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		require.ErrorContains(t, err, want.text, source)
		require.Equal(t, want.code, boterr.CodeOf(err), source)
	}
}
