package quickjs_test

import (
	"testing"

	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// BenchmarkRun takes an instance, calls a function that was compiled, and gives the instance back.
func BenchmarkRun(b *testing.B) {
	s := newSnapshot(b, "")
	in := take(b, s, quickjs.Run{})
	bytecode, err := in.Compile("one.js", "(function (text) { return JSON.parse(text).a })")
	if err != nil {
		b.Fatal(err)
	}
	in.Release()
	for b.Loop() {
		in := take(b, s, quickjs.Run{})
		function, err := in.Load(bytecode)
		if err != nil {
			b.Fatal(err)
		}
		text, _ := in.NewString(`{"a":1}`)
		if _, err = in.Call(function, text); err != nil {
			b.Fatal(err)
		}
		in.Release()
	}
}

// BenchmarkTake makes an instance and closes it.
func BenchmarkTake(b *testing.B) {
	s := newSnapshot(b, "")
	for b.Loop() {
		take(b, s, quickjs.Run{}).Close()
	}
}

// BenchmarkHost calls the host from a script, a thousand times.
func BenchmarkHost(b *testing.B) {
	s := newSnapshot(b, "")
	in := take(b, s, quickjs.Run{Host: func(text string) (string, error) { return text, nil }})
	defer in.Release()
	for b.Loop() {
		if _, err := in.Eval("host.js", "for (let i = 0; i < 1000; i++) host('hello')"); err != nil {
			b.Fatal(err)
		}
	}
}
