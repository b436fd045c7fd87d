package document_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
)

func TestGet_Brackets(t *testing.T) {
	t.Parallel()
	o := parse(t, `{"a": [{"b": 1, "c.d": 2}, [3]], "say \"hi\"": 4, "it's": 5, "back\\slash": 6, "x[0]": 7, "x": [8], "-1": 9}`)
	for path, want := range map[string]int{
		`a[0].b`: 1, `a[0][b]`: 1, `a[0]["b"]`: 1, `["a"][0].b`: 1, `[a].0['b']`: 1, `a.0.b`: 1,
		`a[0]["c.d"]`: 2, `a.0['c.d']`: 2,
		`a[1][0]`: 3, `a[1].0`: 3, `a.1[0]`: 3,
		`["say \"hi\""]`: 4, `['say "hi"']`: 4, `["it's"]`: 5, `['it\'s']`: 5, `["back\\slash"]`: 6,
		`x[0]`: 7, `x.0`: 8, `x["0"]`: 8, `[-1]`: 9,
	} {
		require.Equal(t, want, document.Get(o, path, 0), path)
		require.True(t, o.Has(path), path)
	}
	for _, path := range []string{
		`a[2]`, `a[-1]`, `a[00]`, `a[0]b`, `a[0`, `a[`, `a[]`, `a]`, `a[0].`, `a["0]`, `a["0"`, `a["0\`, `a[0.b]`, `[`, `a[[0]]`,
	} {
		require.Equal(t, -1, document.Get(o, path, -1), path)
	}
}

func TestLookup_FindsEveryValueBySpellingsOfItsPath(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 500, 20_000) {
		random := rand.New(rand.NewPCG(uint64(seed), 1))
		var path []string
		value := any("found")
		for range 1 + random.IntN(5) {
			if random.IntN(3) == 0 {
				value, path = document.A(nil, value), append([]string{"1"}, path...)
				continue
			}
			name := anyName(random)
			value, path = document.O("other", 0, name, value), append([]string{name}, path...)
		}
		o, isObject := value.(document.Object)
		if !isObject {
			o, path = document.O("list", value), append([]string{"list"}, path...)
		}
		spelled := spell(random, path)
		require.Equal(t, "found", document.Get(o, spelled, ""), "seed %d: %s of %s", seed, spelled, o)
	}
}

func TestLookup_BracketsHideNothingThatDotsFind(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 2_000, 100_000) {
		random := rand.New(rand.NewPCG(uint64(seed), 2))
		path := anyText(random, `ab0.[]"'\`)
		if document.CheckPath(path) != nil {
			continue
		}
		var o document.Object
		o.Set(path, "found")
		require.NoError(t, o.Err(), "%q", path)
		require.Equal(t, "found", document.Get(o, path, ""), "seed %d: %q", seed, path)
		document.Get(document.O("a", document.A(0), "b", document.O()), path, "") // Must not panic.
	}
}

// anyName draws the name of a field. It does not look like the beginning of a bracket.
func anyName(random *rand.Rand) string {
	return "n" + anyText(random, `ab0.]"'\ `)
}

// anyText draws a short text from some characters.
func anyText(random *rand.Rand, characters string) string {
	var text strings.Builder
	for range 1 + random.IntN(7) {
		text.WriteByte(characters[random.IntN(len(characters))])
	}
	return text.String()
}

// spell writes a path in a random valid spelling.
func spell(random *rand.Rand, path []string) string {
	var spelled strings.Builder
	for i, part := range path {
		_, notIndex := strconv.Atoi(part)
		isPlain := !strings.ContainsAny(part, `.[]"'\`)
		switch {
		case isPlain && random.IntN(2) == 0:
			if i > 0 {
				spelled.WriteByte('.')
			}
			spelled.WriteString(part)
		case notIndex == nil && random.IntN(2) == 0:
			spelled.WriteString("[" + part + "]")
		default:
			quote := []string{`"`, `'`}[random.IntN(2)]
			part = strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(part)
			spelled.WriteString("[" + quote + part + quote + "]")
		}
	}
	return spelled.String()
}

func BenchmarkLookup(b *testing.B) {
	o := document.O("meta", document.O("order", document.O("items", document.A(document.O("id", 1)))))
	for _, path := range []string{"meta.order.items.0.id", "meta.order.none", "meta.order.items[0].id"} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o.Lookup(path)
			}
		})
	}
}
