package main

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/member"
)

// These types have the same fields but no methods, so that they are decoded by reflection.
type (
	plainMember  member.Member
	plainChannel channel.Channel
	plainAgenda  agenda.Record
)

func TestDecodeField_ReadsAsReflectionDoes(t *testing.T) {
	t.Parallel()
	count := rounds.Of(t, 2_000, 50_000)
	holdsToReflection[member.Member, plainMember](t, count)
	// A channel decodes these fields in its own methods.
	holdsToReflection[channel.Channel, plainChannel](t, count, "info", "metadata")
	holdsToReflection[agenda.Record, plainAgenda](t, count)
}

// holdsToReflection decodes objects with arbitrary fields into a struct and into the same struct without methods. The
// results and errors must be equal. It ignores the fields in without.
func holdsToReflection[T, Reflected any](t *testing.T, count int, without ...string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	keys := append(keysOf(reflect.TypeFor[T]()), "unknown", "further")
	keys = slices.DeleteFunc(keys, func(key string) bool { return slices.Contains(without, key) })
	read := 0
	for range count {
		o := objectOf(random, keys)
		var byField T
		var byReflection Reflected
		err, expected := document.Decode(o, &byField), document.Decode(o, &byReflection)
		if expected != nil {
			require.EqualError(t, err, expected.Error(), "%s", o)
			continue
		}
		require.NoError(t, err, "%s", o)
		require.Equal(t, reflect.ValueOf(byReflection).Convert(reflect.TypeFor[T]()).Interface(), byField, "%s", o)
		read++
	}
	require.NotZero(t, read, "all objects were refused")
}

// objectOf returns an object with some of the keys. Half of its fields have arbitrary values, the others typical
// ones.
func objectOf(random *rand.Rand, keys []string) document.Object {
	usual := []any{"a text", "", int64(5), int64(1_790_000_000_000), true, false, nil, 5.0, 5.5, document.O("a", 1), document.A("b")}
	made := document.O()
	for range random.IntN(4) {
		value := usual[random.IntN(len(usual))]
		if random.IntN(2) == 0 {
			value = arbitrary.Value(random, 2)
		}
		if _, err := document.AppendJSON(nil, value); err != nil {
			continue // A value with NaN does not equal itself.
		}
		made = made.With(keys[random.IntN(len(keys))], value)
	}
	return made
}

// keysOf returns the document names of a struct's fields.
func keysOf(t reflect.Type) []string {
	var keys []string
	for field := range t.Fields() {
		switch {
		case field.Anonymous:
			keys = append(keys, keysOf(field.Type)...)
		case field.IsExported():
			keys = append(keys, strings.TrimSuffix(field.Tag.Get("json"), ",omitzero"))
		}
	}
	return keys
}
