package members_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/member"
)

func changesOf(before, after *member.Member) (document.Object, error) {
	return members.WrittenBackOf(before).Changes(members.WrittenBackOf(after))
}

func withMeta(meta document.Object) *member.Member { return &member.Member{Meta: meta} }

func TestChanges_NameThatNoPathHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, before, after, want string }{
		{"a dot", `{"a": {"x.y": 1, "z": 1}, "b": 1}`, `{"a": {"x.y": 2, "z": 2}, "b": 2}`, `{"$set": {"meta.a": {"x.y": 2, "z": 2}, "meta.b": 2}}`},
		{"no letter", `{"a": {"": 1}}`, `{"a": {"": 2}}`, `{"$set": {"meta.a": {"": 2}}}`},
		{"a dollar", `{"a": {"$set": 1}}`, `{"a": {"$set": 2}}`, `{"$set": {"meta.a": {"$set": 2}}}`},
		{"selectors of arrays", `{"a": {"$[]": 1, "$": 1}}`, `{"a": {"$[]": 2, "$": 1}}`, `{"$set": {"meta.a": {"$[]": 2, "$": 1}}}`},
		{"a field that was removed", `{"a": {"x.y": 1, "z": 1}}`, `{"a": {"z": 1}}`, `{"$set": {"meta.a": {"z": 1}}}`},
		{"a change below such a name", `{"a": {"x.y": {"z": 1}}}`, `{"a": {"x.y": {"z": 2}}}`, `{"$set": {"meta.a": {"x.y": {"z": 2}}}}`},
		{"in a new object", `{}`, `{"a": {"b": {"x.y": 1}, "c": 1}}`, `{"$set": {"meta.a.b": {"x.y": 1}, "meta.a.c": 1}}`},
		{"at the top", `{"a": 1}`, `{"a": 2, "x.y": 1}`, `{"$set": {"meta": {"a": 2, "x.y": 1}}}`},
		{"all that there was", `{"x.y": 1}`, `{}`, `{"$set": {"meta": {}}}`},
		{"one that stays is left alone", `{"a": {"x.y": {"q": 1, "p": 1}, "z": 1}}`, `{"a": {"x.y": {"p": 1, "q": 1}, "z": 2}}`, `{"$set": {"meta.a.z": 2}}`},
	} {
		before := object(t, c.before)
		got, err := changesOf(withMeta(before), withMeta(object(t, c.after)))
		require.NoError(t, err, c.rule)
		require.Equal(t, object(t, c.want).String(), got.String(), c.rule)
		requireSameMember(t, withMeta(object(t, c.after)), written(t, newApps(t), withMeta(before), got), c.rule)
	}
}

func TestChanges_OnlyFieldsWrittenBack(t *testing.T) {
	t.Parallel()
	before := &member.Member{
		ID: "m1", FirstName: "Ada", Email: "a@example.com", Group: "g1", CustomLocale: "en",
		BotMeta: member.BotMeta{Object: document.O("tree", "t1", "liveChat", true)},
	}
	after := &member.Member{
		ID: "m2", FirstName: "Bob", Profile: document.O("age", 1), Tags: document.A("x"), Unknown: document.O("y", 1), CustomLocale: "fr",
		BotMeta: member.BotMeta{Object: document.O("tree", "t1", "nodeCompositeId", "n1")},
	}
	got, err := changesOf(before, after)
	require.NoError(t, err)
	require.JSONEq(t, `{"$set": {"botMeta.nodeCompositeId": "n1", "customLocale": "fr"}, "$unset": {"botMeta.liveChat": "", "group": ""}}`, got.String())
	got, err = changesOf(&member.Member{}, &member.Member{Group: "g1"})
	require.NoError(t, err)
	require.JSONEq(t, `{"$set": {"group": "g1"}}`, got.String())
}

func TestChanges_OnlyTheTypeDiffers(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1000)
	values := []any{0, 0.0, math.Copysign(0, -1), 1, 1.0, true, nil, "", "1970-01-01T00:00:01.000Z", at, at.Add(time.Millisecond), document.O(), document.A()}
	for i, before := range values {
		for j, after := range values {
			got, err := changesOf(withMeta(document.O("a", before)), withMeta(document.O("a", after)))
			require.NoError(t, err)
			require.Equal(t, i == j, got.IsZero(), "%v and %v", before, after)
			got, err = changesOf(withMeta(document.O("a", document.A(before))), withMeta(document.O("a", document.A(after))))
			require.NoError(t, err)
			require.Equal(t, i == j, got.IsZero(), "%v and %v in an array", before, after)
		}
	}
	nan := document.O("a", math.NaN())
	got, err := changesOf(withMeta(nan), withMeta(document.O("a", math.NaN())))
	require.NoError(t, err)
	require.True(t, got.IsZero(), "NaN is what it was")
}

// nested returns value inside the given number of nested objects.
func nested(levels int, value any) document.Object {
	for range levels - 1 {
		value = document.O("k", value)
	}
	return document.O("k", value)
}

func TestChanges_Depth(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	const deepest = document.MaxDepth - 1 // The member adds one level.
	for _, c := range []struct{ before, after document.Object }{
		{document.O(), nested(deepest, 1)},
		{nested(deepest, 1), nested(deepest, 2)},
		{document.O("k", 1), nested(deepest, 1)},
		{nested(deepest-1, 1), nested(deepest-1, document.O("x.y", 1))},
	} {
		changes, err := changesOf(withMeta(c.before), withMeta(c.after))
		require.NoError(t, err)
		requireSameMember(t, withMeta(c.after), written(t, a, withMeta(c.before), changes))
	}
	_, err := changesOf(withMeta(document.O()), withMeta(nested(deepest+1, 1)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "meta")
}

func TestChanges_Refuses(t *testing.T) {
	t.Parallel()
	failed := document.O("a", 1)
	failed.Set("a.b", 1)
	_, err := changesOf(withMeta(document.O("a", 1)), withMeta(failed))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "meta.a.b")
	_, err = changesOf(&member.Member{}, &member.Member{BotMeta: member.BotMeta{Object: document.O("a", make(chan int))}})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "botMeta.a")
	_, err = changesOf(&member.Member{}, withMeta(document.O("a", strings.Repeat("x", document.MaxSize))))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "meta")

	// Each level contains the next one twice, so a few objects have a vast number of paths.
	var twice any = 1
	for range document.MaxDepth - 2 {
		twice = document.O("l", twice, "r", twice)
	}
	_, err = changesOf(&member.Member{}, withMeta(twice.(document.Object)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "meta")
}

func TestChanges_PathsWithinAnUpdate(t *testing.T) {
	t.Parallel()
	many, long := document.O(), document.O()
	for i := range 1000 {
		many = many.With(string(rune('a'+i%26))+strings.Repeat("x", i/26), i)
	}
	for i := range 15 { // Their paths fit into an update; their values do not fit as well.
		long = long.With(strconv.Itoa(i), strings.Repeat("x", 1<<18))
	}
	for _, leaves := range []document.Object{many, long} {
		after := &member.Member{
			Meta: document.O(strings.Repeat("k", 1<<20), leaves), BotMeta: member.BotMeta{Object: document.O("a", 1)}, Group: "g1",
		}
		before := &member.Member{Meta: document.O("a", 1), BotMeta: member.BotMeta{Object: document.O("b", document.O())}}
		changes, err := changesOf(before, after)
		require.NoError(t, err)
		set, _ := document.Get(changes, "$set", document.O()).Field("meta")
		require.Equal(t, after.Meta, set)
		requireSameMember(t, after, written(t, newApps(t), before, changes))
		fewer := *after
		fewer.Meta = document.O(strings.Repeat("k", 1<<20), document.O())
		changes, err = changesOf(&fewer, after)
		require.NoError(t, err)
		require.Equal(t, []string{"meta"}, document.Get(changes, "$set", document.O()).Keys(), "what is the same stays as it is")
	}
	after := withMeta(document.O(strings.Repeat("k", 1<<20), many))
	changes, err := changesOf(after, withMeta(document.O(strings.Repeat("k", 1<<20), document.O())))
	require.NoError(t, err)
	require.True(t, changes.Has("$set.meta"), "a thousand fields were removed")
}

// written inserts stored, applies changes with PatchMembers and returns the result.
func written(t *testing.T, a *apps, stored *member.Member, changes document.Object) *member.Member {
	t.Helper()
	inserted, err := a.mine.Insert(t.Context(), *stored)
	require.NoError(t, err)
	if changes.IsZero() {
		return load(t, a.mine, inserted.ID)
	}
	_, err = a.mine.PatchMembers(t.Context(), member.PatchParams{MemberID: inserted.ID, Patch: changes, WithModifier: true})
	require.NoError(t, err, "%s of %s", changes, inserted.Meta)
	return load(t, a.mine, inserted.ID)
}

// requireSameMember compares the fields that a run writes back, ignoring the order of fields.
func requireSameMember(t *testing.T, want, got *member.Member, about ...any) {
	t.Helper()
	require.Equal(t, inOrder(want.Meta), inOrder(got.Meta), about...)
	require.Equal(t, inOrder(want.BotMeta.Object), inOrder(got.BotMeta.Object), about...)
	require.Equal(t, want.Group+"|"+want.CustomLocale, got.Group+"|"+got.CustomLocale, about...)
}

// inOrder formats a value with the types of its scalars and with its fields sorted by name.
func inOrder(value any) string {
	var text strings.Builder
	switch v := value.(type) {
	case document.Object:
		text.WriteByte('{')
		keys := v.Keys()
		slices.Sort(keys)
		for _, key := range keys {
			field, _ := v.Field(key)
			fmt.Fprintf(&text, "%q: %s, ", key, inOrder(field))
		}
		text.WriteByte('}')
	case document.Array:
		text.WriteByte('[')
		for _, item := range v.All() {
			text.WriteString(inOrder(item) + ", ")
		}
		text.WriteByte(']')
	default:
		fmt.Fprintf(&text, "%T %v", v, v)
	}
	return text.String()
}

// randomMembers draws values from a few names and scalars, so that any two values have much in
// common.
type randomMembers struct {
	*rand.Rand

	names []string
}

// value draws a value with at most depth levels of nesting.
func (r randomMembers) value(depth int) any {
	kinds := 4
	if depth > 0 {
		kinds = 8
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return float64(r.IntN(2))
	case 2, 3:
		return r.IntN(3)
	case 4:
		items := document.A()
		for range r.IntN(3) {
			items = items.Append(r.value(depth - 1))
		}
		return items
	default:
		return r.object(depth)
	}
}

func (r randomMembers) object(depth int) document.Object {
	o := document.O()
	for range r.IntN(4) {
		o = o.With(r.names[r.IntN(len(r.names))], r.value(depth-1))
	}
	return o
}

// changed returns value after a random change of the kinds that a run makes.
func (r randomMembers) changed(value any, depth int) any {
	o, ok := value.(document.Object)
	if !ok || r.IntN(8) == 0 {
		return r.value(depth)
	}
	if r.IntN(3) == 0 {
		return o
	}
	next := document.O()
	keys := o.Keys()
	r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	for _, key := range keys {
		field, _ := o.Field(key)
		switch r.IntN(4) {
		case 0:
		case 1:
			next = next.With(key, r.changed(field, depth-1))
		default:
			next = next.With(key, field)
		}
	}
	if r.IntN(2) == 0 {
		next = next.With(r.names[r.IntN(len(r.names))], r.value(depth-1))
	}
	return next
}

// changedObject returns o after a random change, or an absent object.
func (r randomMembers) changedObject(o document.Object) document.Object {
	next, ok := r.changed(o, 4).(document.Object)
	if !ok {
		return document.Object{}
	}
	return next
}

func (r randomMembers) member() *member.Member {
	return &member.Member{
		Meta: r.object(4), BotMeta: member.BotMeta{Object: r.object(3)},
		Group: []string{"", "g1", "g2"}[r.IntN(3)], CustomLocale: []string{"", "en", "fr"}[r.IntN(3)],
	}
}

func (r randomMembers) run(m *member.Member) *member.Member {
	after := *m
	after.Meta, after.BotMeta.Object = r.changedObject(m.Meta), r.changedObject(m.BotMeta.Object)
	if r.IntN(2) == 0 {
		after.Group, after.CustomLocale = r.member().Group, r.member().CustomLocale
	}
	return &after
}

const roundsOfChanges = 3000

func TestChanges_MakeTheMember(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	r := randomMembers{rand.New(rand.NewPCG(1, 1)), []string{"a", "b", "c", "0", "1", "x.y", "", "$set", "_id"}}
	for range roundsOfChanges {
		before := r.member()
		after := r.run(before)
		changes, err := changesOf(before, after)
		require.NoError(t, err)
		about := fmt.Sprintf("%s of %s to %s", changes, before.Meta, after.Meta)
		requireSameMember(t, after, written(t, a, before, changes), about)
		isSame := inOrder(before.Meta) == inOrder(after.Meta) && inOrder(before.BotMeta.Object) == inOrder(after.BotMeta.Object) &&
			before.Group == after.Group && before.CustomLocale == after.CustomLocale
		require.Equal(t, isSame, changes.IsZero(), about)
	}
}

func BenchmarkChanges(b *testing.B) {
	meta := document.O()
	for i := range 20 {
		meta = meta.With(fmt.Sprint("field", i), document.O("id", i, "name", "a name", "list", document.A(1, 2, document.O("x", 1))))
	}
	before := withMeta(meta)
	changed := withMeta(meta)
	changed.Meta.Set("field9.name", "another name")
	text, err := document.AppendJSON(nil, meta)
	require.NoError(b, err)
	var anew member.Member
	require.NoError(b, document.DecodeJSON(fmt.Appendf(nil, `{"meta": %s}`, text), &anew))
	for _, c := range []struct {
		name  string
		after *member.Member
	}{{"none", withMeta(meta)}, {"one", changed}, {"anew", &anew}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := changesOf(before, c.after); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
