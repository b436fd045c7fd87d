package script

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// FuzzHost gives the host what a script that has taken its engine over could: no text makes it panic.
func FuzzHost(f *testing.F) {
	engine, err := New(Options{MaxCalls: 1_000_000})
	require.NoError(f, err)
	program, err := engine.Compile("fuzz.js", "return 1")
	require.NoError(f, err)
	bot := fakes.New().AddMember(member.Member{}).Context()
	for _, seed := range []string{
		"op\n[\"getMember\",{\"memberId\":\"x\"},[[\"member\",true,{\"meta\":{\"a\":[1,U,D5,I7,R[\"a\",\"i\"],X\"no\",-0,NaN,-Infinity,\"\\u0041\"]}}],[\"x\",false,5]],[\"y\"]]",
		"op\n[\"countDataSource\",{\"filter\":{\"a\":R[\"a\"],\"$in\":[R[\"b\",\"g\"]]}},[],[]]", "op\n[", "op\n[\"x\",L,[],[]]", "log\n[\"info\",\"text\",\"    at f (x.js:1:2)\"]",
		"fail\n{\"text\":\"x\",\"stack\":\"at x:1:1\",\"number\":-1}", "get\n\"member\"", "get\n\"x\"", "find\n[\"\",\"./x\"]", "load\n\"x\"", "part\n\"web\"", "part\n\"x\"", "timer\n[1,5,true]", "clear\n1",
		"fetch\n{\"url\":\"x\",\"body\":\"!\"}", "cancel\n7", "numbers\nnull", "url\n{}", "decode\n{}", "random\n-1", "sortKey\n{}", "x", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := &run{engine: engine, program: program, bot: bot, seen: map[string]any{}, spent: spent{shared: &shared{}}}
		r.ctx = r.deadline.begin(t.Context(), engine.options.Deadline, nil)
		defer r.deadline.end()
		require.NoError(t, engine.slots.Enter(context.Background(), ""))
		defer engine.slots.Leave("")
		r.prepared, r.in, err = program.take(t.Context(), quickjs.Run{Host: r.host, Now: r.now, Busy: engine.options.MaxBusy})
		require.NoError(t, err)
		defer r.in.Close()
		_, err := r.host(text)
		require.NotContains(t, display.Text(err), "panic", text)
	})
}
