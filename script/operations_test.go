package script_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// Each operation is a function on `this`, and fails there as over JSON.
func TestOperation_EachOfAll(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	bot := s.AddMember(member.Member{}).Context()
	for _, op := range botctx.Ops() {
		_, overJSON := bot.Call(t.Context(), string(op), json.RawMessage(`{"noSuchParameter": 1}`))
		wanted, _ := boterr.AsError(overJSON)
		_, err := s.compile("\nreturn await this."+string(op)+"({ noSuchParameter: 1 })").Run(t.Context(), bot)
		if overJSON == nil {
			require.NoError(t, err, op)
			continue
		}
		failed, isError := errors.AsType[*script.Error](err)
		require.True(t, isError, "%s: %v", op, err)
		require.Equal(t, 2, failed.Line, "%s: %v", op, err)
		got, _ := boterr.AsError(err)
		require.Equal(t, [3]string{string(wanted.Code), wanted.Op, wanted.Field}, [3]string{string(got.Code), got.Op, got.Field}, op)
	}
}

// What the engine below cannot read is put in plainer words, with a map by which errors tell their place.
func TestError_NamesPlaceOfPlainerWords(t *testing.T) {
	t.Parallel()
	s := newStage(t, script.Options{})
	for source, line := range map[string]int{
		"async function* g() {\n  yield 1\n}\nfor await (const x of g()) {\n  null.x\n}":                 5,
		"async function* g() {\n  yield 1\n\n  throw new Error('b')\n}\nfor await (const x of g()) {\n}": 4,
		"for await (const x of [1]) {\n\n  f()\n}\nfunction f() {\n  throw new Error('c')\n}":            6,
		"async function* g() {}\n\n\nawait this.getMember({ memberId: 'nobody' })":                       4,
	} {
		_, err := s.compile(source).Run(t.Context(), s.ada.Context())
		failed, isError := errors.AsType[*script.Error](err)
		require.True(t, isError, "%s: %v", source, err)
		require.Equal(t, "test.js", failed.File, source)
		require.Equal(t, line, failed.Line, "%s: %v", source, err)
	}
}
