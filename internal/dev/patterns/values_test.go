package patterns_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/script"
	"github.com/botctx/go-sdk/send"
)

// big is an integer that a JavaScript number cannot represent.
const big = int64(1)<<53 + 1

// noon is a date. noonText is the same date in scripts.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 7000000, time.UTC)

const noonText = "new Date('2026-01-02T12:00:00.007Z')"

// row has a value of each type, and keys that the script engine moves to the front.
func row() document.Object {
	return document.O("_id", "r1", "at", noon, "big", big, "small", -big, "n", 2.5, "z", "ä😀", "2", true, "1", document.A(noon, nil, big),
		"in", document.O("10", noon, "b", document.O(), "9", int64(9)), "__proto__", "p")
}

func newEngine(t *testing.T) *script.Engine {
	t.Helper()
	engine, err := script.New(onAnyMachine(script.Options{}))
	require.NoError(t, err)
	return engine
}

// onEachStore runs a test on each store. The data source "rows" has one row.
func onEachStore(t *testing.T, play func(t *testing.T, s *stage, run func(source string) (any, error))) {
	t.Helper()
	engine := newEngine(t)
	for name := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stores[name])
			s.AddData("rows", row())
			s.keeps("meta", document.O("row", row(), "name", "Ada"))
			play(t, s, func(source string) (any, error) {
				program, err := engine.Compile("values.js", source)
				require.NoError(t, err)
				return program.Run(t.Context(), s.ada.Context())
			})
		})
	}
}

// counting maps filters to whether they match the row.
var counting = map[string]bool{
	"{at: " + noonText + "}":                          true,
	"{at: {$gt: " + noonText + "}}":                   false,
	"{at: {$in: [null, " + noonText + "]}}":           true,
	"{'1': " + noonText + "}":                         true,
	"{at: '2026-01-02T12:00:00.007Z'}":                false,
	"{big: 9007199254740993n}":                        true,
	"{big: {$gte: 9007199254740993n}}":                true,
	"{big: 9007199254740994n}":                        false,
	"{n: 5n}":                                         false,
	"{z: /^Ä/i}":                                      true,
	"{z: /^Ä/}":                                       false,
	"{z: {$not: /^Ä/i}}":                              false,
	"{z: {$in: ['x', /^Ä/i]}}":                        true,
	"{z: {$nin: [/^Ä/i]}}":                            false,
	"{$or: [{z: /b/}, {z: {$regex: /^ä/g}}]}":         true,
	"{'in.10': " + noonText + ", z: {$exists: true}}": true,
	"{z: new String('ä😀'), n: new Number(2.5)}":       true,
	"Object.assign(Object.create(null), {_id: 'r1'})": true,
	"{at: new (class extends Date {})(" + "'2026-01-02T12:00:00.007Z')}": true,
}

func TestValues_InFilters(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, _ *stage, run func(string) (any, error)) {
		t.Helper()
		for filter, isFound := range counting {
			want := int64(0)
			if isFound {
				want = 1
			}
			for _, operation := range []string{
				"this.countDataSource({dataSourceId: 'rows', filter: %s})",
				"(await this.fetchDataFromDataSource({dataSourceId: 'rows', filter: %s})).length",
				"(await this.fetchDistinctDataFromDataSource({dataSourceId: 'rows', key: '_id', filter: %s})).length",
			} {
				found, err := run("return " + fmt.Sprintf(operation, filter))
				require.NoError(t, err, filter)
				require.EqualValues(t, want, found, "%s %s", operation, filter)
			}
		}
	})
}

// givingBack are scripts that read the row and write it back. The row must stay the same.
var givingBack = []string{
	"const [row] = await this.fetchDataFromDataSource({dataSourceId: 'rows'}); await this.upsertDataToDataSource({dataSourceId: 'rows', data: row})",
	"const rows = await this.fetchDataFromDataSource({dataSourceId: 'rows'}); await this.upsertDataToDataSource({dataSourceId: 'rows', data: rows.map((row) => ({...row}))})",
	"const [{_id, ...row}] = await this.fetchDataFromDataSource({dataSourceId: 'rows'}); await this.patchDataToDataSource({dataSourceId: 'rows', filter: {_id}, patch: {$set: row}, withModifier: true})",
	"const [{_id, ...row}] = await this.fetchDataFromDataSource({dataSourceId: 'rows'}); await this.findAndModifyDataFromDataSource({dataSourceId: 'rows', filter: {_id}, patch: {$set: row}, withModifier: true})",
	"const [row] = await this.fetchDataFromDataSource({dataSourceId: 'rows', filter: (await this.fetchDataFromDataSource({dataSourceId: 'rows'}))[0]}); if (!row) throw new Error('not found by itself')",
	"const {meta} = await this.getMember({memberId: this.member._id}); await this.patchMembers({memberId: this.member._id, patch: {meta}})",
	"const m = await this.findAndModifyMember({filter: {_id: this.member._id}, patch: {$set: {'meta.row': this.member.meta.row}}}); this.member.meta.row = this.member.meta.row",
	"const {row} = this.member.meta; this.member.meta = {name: 'Ada', ...this.member.meta, row}",
	"this.member.meta = {row: {...this.member.meta.row}, name: 'Ada'}",
	"this.row = this.member.meta.row; await this.getChannel({channelId: this.channel._id}); this.member.meta.row = this.row",
	"return {member: this.member}",
}

func TestValues_GivenBackUnchanged(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *stage, run func(string) (any, error)) {
		t.Helper()
		want := row()
		for _, source := range givingBack {
			_, err := run(source)
			require.NoError(t, err, source)
			stored := s.Data("rows")
			require.Len(t, stored, 1, source)
			for name, value := range want.All() {
				got, _ := stored[0].Field(name)
				require.True(t, document.Identical(value, got), "%s: %s is %v", source, name, got)
			}
			meta, isThere := s.ada.Member().Meta.Lookup("row")
			require.True(t, isThere, source)
			require.True(t, document.Identical(want, meta), "%s: %v", source, meta)
		}
	})
}

// kinds maps expressions to the values that Go must receive.
var kinds = map[string]any{
	noonText: noon, "9007199254740993n": big, "7n": int64(7), "5": int64(5), "2.5": 2.5, "-0.5": -0.5, "1e21": 1e21, "'ä😀'": "ä😀", "true": true, "null": nil,
	"[1, [" + noonText + ", undefined]]":          document.A(1, document.A(noon, nil)),
	"{b: 1, a: {2: 1, 1: 2}, u: undefined}":       document.O("b", 1, "a", document.O("1", 2, "2", 1)),
	"new Proxy({a: [1]}, {})":                     document.O("a", document.A(1)),
	"{get a() { return 1 }, toString: undefined}": document.O("a", 1),
	"{toJSON: () => ({a: 1})}":                    document.O("a", 1),
	"'\\ud83d'":                                   "\uFFFD",
}

func TestValues_EachKindEverywhere(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *stage, run func(string) (any, error)) {
		t.Helper()
		for expression, want := range kinds {
			want, err := document.ValueOf(want)
			require.NoError(t, err)
			result, err := run(`const v = (` + expression + `)
				const at = {memberId: this.member._id}
				await this.upsertDataToDataSource({dataSourceId: 'kinds', data: {_id: 'upsert', v}})
				await this.upsertDataToDataSource({dataSourceId: 'kinds', data: [{_id: 'patch'}, {_id: 'modify'}]})
				await this.patchDataToDataSource({dataSourceId: 'kinds', filter: {_id: 'patch'}, patch: {$set: {v}}, withModifier: true})
				await this.findAndModifyDataFromDataSource({dataSourceId: 'kinds', filter: {_id: 'modify'}, patch: {$set: {v}}, withModifier: true})
				await this.patchMembers({...at, patch: {$set: {'meta.patched': v}}, withModifier: true})
				await this.newAgenda({...at, nodeCompositeId: 'later', nextRunAt: new Date(2000000000000), tag: 'kinds', meta: {v}})
				this.member.meta.own = v
				this.left = v
				return v`)
			require.NoError(t, err, expression)
			require.True(t, document.Identical(want, result), "%s: returned %v", expression, result)
			stored := s.Data("kinds")
			require.Len(t, stored, 3)
			for _, entry := range stored {
				require.True(t, document.Identical(want, entry.Value("v")), "%s: %v", expression, entry)
			}
			patched, _ := s.ada.Member().Meta.Lookup("patched")
			require.True(t, document.Identical(want, patched), "%s: the member has %v", expression, patched)
			agendas := s.ada.Agendas()
			require.Len(t, agendas, 1)
			require.True(t, document.Identical(want, agendas[0].Meta.Value("v")), "%s: the agenda has %v", expression, agendas[0].Meta)
			require.EqualValues(t, 2000000000000, agendas[0].NextRunAt, "a Date is its milliseconds where a number is wanted")
			_, err = run("await this.deleteMemberAgenda({memberId: this.member._id, tag: 'kinds'})")
			require.NoError(t, err)
		}
	})
}

// refused maps values that documents cannot hold to the errors.
var refused = map[string]string{
	"new Map([[1, 2]])":            "is an instance of Map",
	"new Set([1])":                 "is an instance of Set",
	"() => 1":                      "is a function",
	"class A {}":                   "is a function",
	"Symbol('s')":                  "is a symbol",
	"new (class Cart { n = 1 })()": "is an instance of Cart",
	"new Uint8Array(2)":            "is an instance of Uint8Array",
	"new Error('e')":               "is an instance of Error",
	"Promise.resolve(1)":           "is a promise: await it",
	"(() => { const o = {}; o.o = o; return o })()":                            "contains itself",
	"(() => { const a = []; a.push([a]); return a })()":                        "contains itself",
	"(() => { let o = 1; for (let i = 0; i < 300; i++) o = [o]; return o })()": "nested too deep",
	"new Date(NaN)":         "is an invalid date",
	"2n ** 63n":             "is a BigInt of more than 64 bits",
	"/a/":                   "is a regular expression: only filters take them",
	"Object.create({a: 1})": "is an instance of",
}

func TestValues_RefusedByPath(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *stage, run func(string) (any, error)) {
		t.Helper()
		for expression, want := range refused {
			for place, path := range map[string]string{
				"await this.upsertDataToDataSource({dataSourceId: 'none', data: {a: [{v}]}})":                                  "data.a[0].v",
				"await this.patchMembers({memberId: this.member._id, patch: {$set: {'meta.v': v}}, withModifier: true})":       "patch.$set.meta.v",
				"await this.newAgenda({memberId: this.member._id, nodeCompositeId: 'x', nextRunAt: 2000000000000, meta: {v}})": "meta.v",
				"this.member.meta.v = v":  "member.meta.v",
				"return {v}":              "result.v",
				"this.agendaMeta.v = [v]": "agendaMeta.v[0]",
			} {
				_, err := run("const v = " + expression + "\n" + place)
				require.ErrorIs(t, err, boterr.InvalidArgument, "%s %s", expression, place)
				require.ErrorContains(t, err, path, "%s %s", expression, place)
				require.ErrorContains(t, err, want, "%s %s", expression, place)
			}
		}
		require.Empty(t, s.Data("none"))
		require.Empty(t, s.ada.Agendas())
	})
}

// undefineds maps selections with undefined to the paths in the errors.
var undefineds = map[string]string{
	"countDataSource({dataSourceId: 'rows', filter: {_id: undefined}})":                                                  "filter._id",
	"countDataSource({dataSourceId: 'rows', filter: undefined})":                                                         "filter",
	"countDataSource({dataSourceId: 'rows', filter: {$or: [{a: undefined}]}})":                                           "filter.$or[0].a",
	"fetchDataFromDataSource({dataSourceId: 'rows', filter: {a: {$in: [undefined]}}})":                                   "filter.a.$in[0]",
	"fetchDistinctDataFromDataSource({dataSourceId: 'rows', key: undefined})":                                            "key",
	"patchDataToDataSource({dataSourceId: 'rows', filter: {_id: undefined}, patch: {a: 1}})":                             "filter._id",
	"patchDataToDataSource({dataSourceId: 'rows', filter: {}, patch: {$pull: {a: {b: undefined}}}, withModifier: true})": "patch.$pull.a.b",
	"findAndModifyDataFromDataSource({dataSourceId: 'rows', filter: {_id: undefined}, patch: {a: 1}})":                   "filter._id",
	"fetchGeoNearFromDataSource({dataSourceId: 'rows', data: {query: {a: undefined}}})":                                  "data.query.a",
	"patchMembers({memberId: undefined, patch: {}})":                                                                     "memberId",
	"findAndModifyMember({filter: {_id: undefined}, patch: {}})":                                                         "filter._id",
	"getMember({memberId: undefined})":                                                                                   "memberId",
	"deleteMemberAgenda({memberId: 'x', tag: undefined})":                                                                "tag",
	"deleteMemberAgenda({memberId: undefined, tag: 'x'})":                                                                "memberId",
	"sendResponse({member: undefined, response: {type: 'TEXT', text: 'x'}})":                                             "member",
	"sendResponse({memberId: [undefined], response: {type: 'TEXT', text: 'x'}})":                                         "memberId[0]",
	"getAssignmentsByMeta({meta: {ticket: undefined}})":                                                                  "meta.ticket",
	"endLiveChat({channel: undefined})":                                                                                  "channel",
}

func TestValues_UndefinedSelectsNothing(t *testing.T) {
	t.Parallel()
	onEachStore(t, func(t *testing.T, s *stage, run func(string) (any, error)) {
		t.Helper()
		for call, path := range undefineds {
			_, err := run("await this." + call)
			require.ErrorIs(t, err, boterr.InvalidArgument, call)
			failed, ok := boterr.AsError(err)
			require.True(t, ok, call)
			require.Equal(t, path, failed.Field, call)
			require.ErrorContains(t, err, "is undefined", call)
		}
		require.Empty(t, s.Sent())
	})
}

func TestValues_AgendaMeta(t *testing.T) {
	t.Parallel()
	engine := newEngine(t)
	for name := range stores {
		s := newStage(t, stores[name])
		program, err := engine.Compile("later.js", "const {at, big, 1: one} = this.agendaMeta.row\n"+
			"this.member.meta.seen = [at instanceof Date, typeof big, one, Object.keys(this.agendaMeta)]; this.member.meta.row = this.agendaMeta.row")
		require.NoError(t, err)
		var seen any
		s.Handle(&botctx.Node{ID: "later", Pre: botctx.Do(func(_ context.Context, bot *botctx.Context) error {
			seen = bot.AgendaMeta.Value("row")
			return nil
		}, program.Action()), Entry: true})
		plan, err := engine.Compile("plan.js", "await this.newAgenda({memberId: this.member._id, nodeCompositeId: 'later', nextRunAt: new Date(Date.now() + 1000), meta: {row: this.row}})")
		require.NoError(t, err)
		bot := s.ada.Context()
		bot.Values["row"] = row()
		_, err = plan.Run(t.Context(), bot)
		require.NoError(t, err)
		s.Advance(2 * time.Second)
		meta := s.ada.Member().Meta
		require.Equal(t, document.Text(row()), document.Text(seen), "as the node is given it")
		require.JSONEq(t, row().String(), document.Text(meta.Value("row")))
		require.True(t, document.Identical(document.A(true, "bigint", document.A(noon, nil, big), document.A("row")), meta.Value("seen")), "%v", meta)
	}
}

func answers() []pattern {
	return []pattern{
		{
			name: "saved-answer",
			talk: func(s *stage) { s.says("weather", " Oslo ", "and?") },
		},
		{
			name: "button-value",
			talk: func(s *stage) {
				tap := func(payload any) {
					s.ada.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)})
				}
				tap(document.O("payload", "size", "value", document.O("size", "large", "price", 4)))
				tap("size")
			},
		},
		{
			name: "locale",
			talk: func(s *stage) { s.says("hi", "deutsch", "hi", "english", "hi") },
		},
	}
}

// tables are patterns for data sources.
func tables() []pattern {
	return []pattern{
		{
			name: "form-to-table", needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.AddData("registrations", document.O("name", "Bob", "member", "somebody else"))
				s.keeps("botMeta.tempData", document.O("name", " Ada ", "email", "ada@example.com", "guests", "2", "spam", true))
			},
			talk: func(s *stage) { s.says("register") },
		},
		{
			name:    "mixed-upsert",
			prepare: func(s *stage) { s.AddData("products", document.O("_id", "tea", "price", 2, "kind", "hot")) },
			talk:    func(s *stage) { s.says("stock") },
		},
		{
			name: "menu", needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.AddData("dishes",
					document.O("name", "Tea", "category", "drinks", "price", 2.5, "on", true),
					document.O("name", "Cake", "category", "sweets", "price", 4, "on", true),
					document.O("name", "Milk", "category", "drinks", "price", 1.5, "on", true),
					document.O("name", "Soup", "category", "starters", "price", 5, "on", false))
			},
			talk: func(s *stage) { s.says("menu"); s.ada.TapsOn("Drinks"); s.ada.Taps("category:starters") },
		},
		{
			name: "bulk-patch",
			prepare: func(s *stage) {
				s.AddData("products",
					document.O("kind", "tea", "price", 4), document.O("kind", "tea", "price", 1),
					document.O("kind", "tea", "price", 3, "tags", document.A("green")),
					document.O("kind", "coffee", "price", 5), document.O("kind", "coffee", "price", 6))
			},
			talk: func(s *stage) { s.says("sale") },
		},
	}
}
