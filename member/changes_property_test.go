package member_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// written returns what a member is after an update by PatchMembers.
func written(t *testing.T, a *apps, stored *member.Member, changes document.Object) *member.Member {
	t.Helper()
	inserted, err := a.mine.Insert(t.Context(), *stored)
	require.NoError(t, err)
	if changes.IsZero() {
		return load(t, a.mine, inserted.ID)
	}
	_, err = a.mine.PatchMembers(t.Context(), member.PatchMembersParams{MemberID: inserted.ID, Patch: changes, WithModifier: true})
	require.NoError(t, err, "%s of %s", changes, inserted.Meta)
	return load(t, a.mine, inserted.ID)
}

// requireSameMember compares what a run writes back, but for the order of fields.
func requireSameMember(t *testing.T, want, got *member.Member, about ...any) {
	t.Helper()
	require.Equal(t, inOrder(want.Meta), inOrder(got.Meta), about...)
	require.Equal(t, inOrder(want.BotMeta.Object), inOrder(got.BotMeta.Object), about...)
	require.Equal(t, want.Group+"|"+want.CustomLocale, got.Group+"|"+got.CustomLocale, about...)
}

// inOrder returns a value as text, with the types of scalars and the fields in the
// order of their names.
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

// randomMembers draws values out of few names and scalars, so that two of them have
// much in common.
type randomMembers struct {
	*rand.Rand

	names []string
}

// value draws a value nested at most depth levels.
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

// object draws an object.
func (r randomMembers) object(depth int) document.Object {
	o := document.O()
	for range r.IntN(4) {
		o = o.With(r.names[r.IntN(len(r.names))], r.value(depth-1))
	}
	return o
}

// changed draws what a run makes of a value.
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

// changedObject draws what a run makes of an object that stays one.
func (r randomMembers) changedObject(o document.Object) document.Object {
	next, ok := r.changed(o, 4).(document.Object)
	if !ok {
		return document.Object{}
	}
	return next
}

// member draws a member.
func (r randomMembers) member() *member.Member {
	return &member.Member{
		Meta: r.object(4), BotMeta: member.BotMeta{Object: r.object(3)},
		Group: []string{"", "g1", "g2"}[r.IntN(3)], CustomLocale: []string{"", "en", "fr"}[r.IntN(3)],
	}
}

// run draws what a run makes of a member.
func (r randomMembers) run(m *member.Member) *member.Member {
	after := *m
	after.Meta, after.BotMeta.Object = r.changedObject(m.Meta), r.changedObject(m.BotMeta.Object)
	if r.IntN(2) == 0 {
		after.Group, after.CustomLocale = r.member().Group, r.member().CustomLocale
	}
	return &after
}

// writeBeside draws what another writer makes of an object without touching what the
// run changes in it, and what is wanted after both.
func (r randomMembers) writeBeside(before, after document.Object) (stored, wanted document.Object) {
	stored, wanted = before, after
	if r.IntN(2) == 0 {
		stored, wanted = stored.With("other", 1), wanted.With("other", 1)
	}
	for key, value := range after.All() {
		old, known := before.Field(key)
		to, isObject := value.(document.Object)
		from, wasObject := old.(document.Object)
		switch {
		case isObject && (wasObject || !known && to.Len() > 0):
			inner, wantedInner := r.writeBeside(from, to)
			wanted = wanted.With(key, wantedInner)
			if known || inner.Len() > 0 {
				stored = stored.With(key, inner)
			}
		case known && inOrder(old) == inOrder(value) && r.IntN(2) == 0:
			stored, wanted = stored.With(key, "other"), wanted.With(key, "other")
		}
	}
	return stored, wanted
}

// roundsOfChanges is the number of random inputs of a property.
const roundsOfChanges = 3000

func TestChanges_MakeTheMember(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	r := randomMembers{rand.New(rand.NewPCG(1, 1)), []string{"a", "b", "c", "0", "1", "x.y", "", "$set", "_id"}}
	for range roundsOfChanges {
		before := r.member()
		after := r.run(before)
		changes, err := member.Changes(before, after)
		require.NoError(t, err)
		about := fmt.Sprintf("%s of %s to %s", changes, before.Meta, after.Meta)
		requireSameMember(t, after, written(t, a, before, changes), about)
		isSame := inOrder(before.Meta) == inOrder(after.Meta) && inOrder(before.BotMeta.Object) == inOrder(after.BotMeta.Object) &&
			before.Group == after.Group && before.CustomLocale == after.CustomLocale
		require.Equal(t, isSame, changes.IsZero(), about)
	}
}

func TestChanges_LeaveOtherWrites(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	r := randomMembers{rand.New(rand.NewPCG(2, 2)), []string{"a", "b", "c", "0", "1", "_id"}}
	for range roundsOfChanges {
		before := r.member()
		after := r.run(before)
		changes, err := member.Changes(before, after)
		require.NoError(t, err)
		stored, wanted := *before, *after
		stored.Meta, wanted.Meta = r.writeBeside(before.Meta, after.Meta)
		stored.BotMeta.Object, wanted.BotMeta.Object = r.writeBeside(before.BotMeta.Object, after.BotMeta.Object)
		if before.Group == after.Group {
			stored.Group, wanted.Group = "g3", "g3"
		}
		requireSameMember(t, &wanted, written(t, a, &stored, changes),
			"%s of %s to %s, where %s is stored", changes, before.Meta, after.Meta, stored.Meta)
	}
}

// BenchmarkChanges tells what looking for changes costs, of a member with a usual meta:
// where there are none, where one of its fields was set, and where all of it was read
// anew.
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
				if _, err := member.Changes(before, c.after); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
