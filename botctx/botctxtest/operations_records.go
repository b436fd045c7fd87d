package botctxtest

import (
	"slices"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var agendaOperations = []operation{
	{
		op: botctx.OpNewAgenda, call: calling(botctx.Operations.NewAgenda), scene: anAgenda, names: []string{"memberId"},
		refuses: badNewAgenda,
		input: func(p *place) document.Object {
			return document.O("memberId", p.scope.Member, "nodeCompositeId", p.node, "nextRunAt", later, "tag", "tag", "replace", true)
		},
	}, {
		op: botctx.OpUpdateAgenda, call: calling(botctx.Operations.UpdateAgenda), scene: anAgenda, refuses: badUpdateAgenda,
		input: func(p *place) document.Object {
			return document.O("memberId", p.scope.Member, "tag", "tag", "nextRunAt", later+1)
		},
	}, {
		op: botctx.OpDeleteMemberAgenda, call: calling(botctx.Operations.DeleteMemberAgenda), scene: anAgenda,
		refuses: func(*trial, *place) []change {
			return []change{{"no memberId, and a tag", document.O("memberId", nil, "tag", "tag"), "memberId"}}
		},
		input: func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
	},
}

// onlyThat returns changes that also remove all other parameters of the schedule.
func onlyThat(changes []change) []change {
	for i, one := range changes {
		alone := document.O("nextRunAt", nil, "tag", nil, "replace", nil)
		for parameter, value := range one.with.All() {
			alone = alone.With(parameter, value)
		}
		changes[i].with = alone
	}
	return changes
}

func badNewAgenda(*trial, *place) []change {
	return onlyThat([]change{
		{"a nextRunAt before 1970", document.O("nextRunAt", -1), "nextRunAt"},
		{"a runUntil before 1970", document.O("pattern", eachMinute, "runUntil", -1), "runUntil"},
		{"a pattern without runUntil", document.O("pattern", eachMinute), "runUntil"},
		{"a pattern that does not fire until runUntil", document.O("pattern", eachMinute, "runUntil", 1), "pattern"},
		{"a nextRunAt after runUntil", document.O("nextRunAt", later+1, "pattern", eachMinute, "runUntil", later), "nextRunAt"},
		{"a pattern of words", document.O("pattern", "every minute of a day", "runUntil", later), "pattern"},
		{"a pattern of four fields", document.O("pattern", "* * * *", "runUntil", later), "pattern"},
		{"a pattern beyond the hour", document.O("pattern", "61 * * * *", "runUntil", later), "pattern"},
		{"a pattern in a zone that is none", document.O("pattern", "CRON_TZ=Nowhere "+eachMinute, "runUntil", later), "pattern"},
		{"a nextRunAt with an invalid pattern", document.O("nextRunAt", later, "pattern", "x", "runUntil", later), "pattern"},
		{"a pattern that never fires", document.O("pattern", "0 0 30 2 *", "runUntil", later), "pattern"},
		{"replace without a tag", document.O("nextRunAt", later, "replace", true), "tag"},
	})
}

func badUpdateAgenda(t *trial, _ *place) []change {
	t.schedule(agenda.NewParams{Tag: "each", Pattern: eachMinute, RunUntil: later, NextRunAt: later - 5})
	return onlyThat([]change{
		{"no memberId, and a tag", document.O("memberId", nil, "tag", "tag", "nextRunAt", later), "memberId"},
		{"replace without a tag", document.O("replace", true), "tag"},
		{"a nextRunAt before 1970", document.O("nextRunAt", -1), "nextRunAt"},
		{"a runUntil before 1970", document.O("runUntil", -1), "runUntil"},
		{"no pattern", document.O("pattern", "x", "runUntil", later), "pattern"},
		{"no pattern, of nobody", document.O("memberId", unique("member"), "pattern", "x", "runUntil", later), "pattern"},
		{"a pattern that never fires", document.O("pattern", "0 0 30 2 *", "runUntil", later), "pattern"},
		{"a pattern that does not fire until runUntil", document.O("pattern", eachMinute, "runUntil", 1), "pattern"},
		{"a nextRunAt after runUntil", document.O("pattern", eachMinute, "nextRunAt", later+1, "runUntil", later), "nextRunAt"},
		{"a nextRunAt after the stored runUntil", document.O("tag", "each", "nextRunAt", later+1), "nextRunAt"},
		{"a runUntil before the next run", document.O("tag", "each", "runUntil", later-6), "runUntil"},
		{"a pattern without runUntil", document.O("tag", "tag", "pattern", eachMinute), "runUntil"},
	})
}

var nodeOperations = []operation{{
	op: botctx.OpRedirectMemberToNode, call: calling(botctx.Operations.RedirectMemberToNode), scene: aNode,
	names: []string{"memberId"}, refuses: badRedirect, findsNot: noNodes,
	input: func(p *place) document.Object {
		return document.O("memberId", p.scope.Member, "nodeCompositeId", p.node)
	},
}}

func badRedirect(t *trial, p *place) []change {
	elsewhere := t.newMember(member.Member{App: p.scope.App, Channel: t.newChannel(p.scope.App).ID})
	return []change{
		{"a member of another channel", document.O("memberId", elsewhere.ID), "channelId"},
		{"another channel than the member's", document.O("channelId", elsewhere.Channel), "channelId"},
		{"an option that does not exist", document.O("redirectOptions", document.O("runPreActions", false)), "redirectOptions"},
	}
}

func noNodes(*trial, *place) []change {
	return []change{
		{"no such node", document.O("nodeCompositeId", unique("gone")), "nodeCompositeId"},
		{"no such tree", document.O("treeId", unique("gone")), "nodeCompositeId"},
	}
}

var channelOperations = []operation{{
	op: botctx.OpGetChannel, call: calling(botctx.Operations.GetChannel), names: []string{"channelId"},
	input: func(p *place) document.Object { return document.O("channelId", p.scope.Channel) },
}}

var memberOperations = []operation{
	{
		op: botctx.OpGetMember, call: calling(botctx.Operations.GetMember), names: []string{"memberId"},
		input: func(p *place) document.Object { return document.O("memberId", p.scope.Member) },
	}, {
		op: botctx.OpFindAndModifyMember, call: calling(botctx.Operations.FindAndModifyMember), refuses: badFindAndModifyMember,
		input: func(*place) document.Object {
			return document.O("filter", document.O(), "patch", document.Inc("meta.calls", 1))
		},
	}, {
		op: botctx.OpPatchMembers, call: calling(botctx.Operations.PatchMembers), refuses: badPatchMembers,
		input: func(*place) document.Object {
			return document.O("patch", document.Inc("meta.calls", 1), "withModifier", true)
		},
	}, {
		op: botctx.OpUpdateMember, call: calling(botctx.Operations.UpdateMember), names: []string{"member._id"},
		refuses: badUpdateMember, findsNot: forgedMembers,
		input: func(p *place) document.Object {
			return document.O("member", document.O("_id", p.scope.Member, "gender", "f"))
		},
	}, {
		op:   botctx.OpCheckAndSaveMemberReferFrom,
		call: calling(botctx.Operations.CheckAndSaveMemberReferFrom), names: []string{"memberId"}, own: referFromRules,
		input: func(p *place) document.Object {
			return document.O("memberId", p.scope.Member, "referFrom", "somewhere")
		},
	},
}

// ofSource returns input of an operation on the data source.
func ofSource(pairs ...any) func(*place) document.Object {
	return func(*place) document.Object { return document.O(append([]any{"dataSourceId", source}, pairs...)...) }
}

var dataOperations = []operation{
	{
		op: botctx.OpFindAndModifyDataFromDataSource, call: calling(botctx.Operations.FindAndModifyDataFromDataSource),
		scene: anEntry, refuses: badFindAndModifyData,
		input: ofSource("filter", document.O(), "patch", document.Inc("calls", 1)),
	}, {
		op: botctx.OpUpsertDataToDataSource, call: calling(botctx.Operations.UpsertDataToDataSource),
		scene: anEntry, refuses: badUpsert,
		input: ofSource("data", document.A(document.O("_id", "a", "upserted", true), document.O("new", true))),
	}, {
		op: botctx.OpPatchDataToDataSource, call: calling(botctx.Operations.PatchDataToDataSource),
		scene: anEntry, refuses: badPatchData,
		input: ofSource("patch", document.Inc("calls", 1), "withModifier", true, "multi", true),
	}, {
		op: botctx.OpCountDataSource, call: calling(botctx.Operations.CountDataSource),
		scene: anEntry, refuses: badFilter, input: ofSource(),
	}, {
		op: botctx.OpFetchDataFromDataSource, call: calling(botctx.Operations.FetchDataFromDataSource),
		scene: anEntry, refuses: badFetch, input: ofSource(),
	}, {
		op: botctx.OpFetchDistinctDataFromDataSource, call: calling(botctx.Operations.FetchDistinctDataFromDataSource),
		scene: anEntry, refuses: badDistinct, input: ofSource("key", "_id"),
	}, {
		op: botctx.OpFetchGeoNearFromDataSource, call: calling(botctx.Operations.FetchGeoNearFromDataSource),
		needs: []Capability{GeoQueries}, scene: anEntry, refuses: badGeoNear,
		input: ofSource("data", document.O("near", point(0, 0), "key", "location")),
	},
}

// Invalid input for the operations on members and data sources, in addition to the input that package operations implies.

func each(parameter string, bad []named) []change {
	return eachWith(parameter, bad, document.O())
}

// eachWith is like each, and also changes the parameters in with.
func eachWith(parameter string, bad []named, with document.Object) []change {
	changes := make([]change, 0, len(bad))
	for _, one := range bad {
		if one.value.Err() == nil { // refusesWhatIsNoValue covers values that carry an error.
			changes = append(changes, change{one.name, with.With(parameter, one.value), parameter})
		}
	}
	return changes
}

// badPatches returns invalid values of patch, with modifiers and without.
func badPatches() []change {
	return slices.Concat(
		eachWith("patch", badModifiers, document.O("withModifier", true)),
		eachWith("patch", badFields, document.O("withModifier", false, "multi", nil)),
	)
}

// badElementFilters returns a patch with an invalid array filter. options is the name of the parameter with the filter.
func badElementFilters(options, path string) change {
	return change{
		"a filter of elements that is none",
		document.O("patch", document.Set(path, 1), options, document.O("arrayFilters", document.A(document.O("x", document.O("$nearly", 1))))),
		options + ".arrayFilters",
	}
}

func badFilter(*trial, *place) []change { return each("filter", badFilters) }

func badFindAndModifyMember(*trial, *place) []change {
	return slices.Concat(each("filter", badFilters), each("sortBy", badSorts), badPatches(), each("patch", badReplacements), []change{
		{"a text that becomes a number", document.O("patch", document.Set("firstName", 1)), "patch"},
		{"an object that becomes a text", document.O("patch", document.Set("meta", "x")), "patch"},
		{"an unknown option", document.O("option", document.O("remove", true)), "option"},
		badElementFilters("option", "meta.list.$[x]"),
	})
}

func badPatchMembers(t *trial, p *place) []change {
	alone := document.O("memberId", p.scope.Member, "withModifier", true)
	return slices.Concat(each("filter", badFilters), badPatches(), eachWith("patch", badReplacements, alone), []change{
		{"a replacement of many", document.O("patch", document.O("gender", "f")), "patch"},
		{"a text that becomes a number", document.O("patch", document.O("firstName", 1), "withModifier", nil), "patch"},
		{"a list that becomes an object", document.O("patch", document.O("tags", document.O()), "withModifier", nil), "patch"},
		{"another app", document.O("patch", document.O("app", t.away.scope.App), "withModifier", nil), "patch"},
		{"another channel", document.O("patch", document.O("channel", t.away.scope.Channel), "withModifier", nil), "patch"},
		{"an app in the app", document.O("patch", document.O("app.id", t.away.scope.App), "withModifier", nil), "patch"},
	})
}

func badUpdateMember(t *trial, p *place) []change {
	id := p.scope.Member
	var changes []change
	for _, bad := range []struct {
		name  string
		given document.Object
		field string
	}{
		{"no _id", document.O("gender", "f"), "member._id"},
		{"an _id that is no text", document.O("_id", 5), "member._id"},
		{"an _id that is a query", document.O("_id", document.O("$ne", "")), "member._id"},
		{"another app", document.O("_id", id, "app", t.away.scope.App), "member.app"},
		{"another channel", document.O("_id", id, "channel", t.away.scope.Channel), "member.channel"},
		{"another createdAt", document.O("_id", id, "createdAt", 1), "member.createdAt"},
		{"a text that becomes a number", document.O("_id", id, "firstName", 1), "member.firstName"},
		{"an object that becomes a text", document.O("_id", id, "meta", "x"), "member.meta"},
		{"an object that becomes null", document.O("_id", id, "botMeta", nil), "member.botMeta"},
		{"a list that becomes a text", document.O("_id", id, "tags", "x"), "member.tags"},
		{"a modifier", document.O("_id", id, "$set", document.O("gender", "f")), "member"},
		{"fields in conflict", document.O("_id", id, "meta", document.O(), "meta.x", 1), "member"},
	} {
		changes = append(changes, change{bad.name, document.O("member", bad.given), bad.field})
	}
	return changes
}

// forgedMembers returns the member of another app with the fields of a member of this app.
func forgedMembers(t *trial, p *place) []change {
	forged := document.O("_id", t.away.scope.Member, "app", p.scope.App, "channel", p.scope.Channel, "gender", "f")
	return []change{{"forged with an app", document.O("member", forged), "member._id"}}
}

func badFindAndModifyData(*trial, *place) []change {
	return slices.Concat(each("filter", badFilters), each("sortBy", badSorts), badPatches(), each("patch", badReplacements), []change{
		{"a counted text", document.O("patch", document.Inc("text", 1)), "patch"},
		{"a column renamed to createdAt", document.O("patch", document.O("$rename", document.O("text", "createdAt"))), "patch"},
		{"an unknown option", document.O("option", document.O("remove", true)), "option"},
		badElementFilters("option", "list.$[x]"),
	})
}

func badPatchData(*trial, *place) []change {
	one := document.O("multi", nil)
	sort := document.O("sort", document.O("n", 1))
	changes := slices.Concat(each("filter", badFilters), badPatches(), eachWith("patch", badReplacements, one), []change{
		{"a replacement of many", document.O("patch", document.O("x", 1)), "patch"},
		{"a counted text", document.O("patch", document.Inc("text", 1)), "patch"},
		{"a column renamed to createdAt", document.O("patch", document.O("$rename", document.O("text", "createdAt"))), "patch"},
		{"an unknown option", document.O("options", document.O("nearly", true)), "options"},
		{"a sort of many", document.O("options", sort), "options.sort"},
		{"a sort of many by an option", document.O("multi", nil, "options", sort.With("multi", true)), "options.sort"},
		badElementFilters("options", "list.$[x]"),
	})
	for _, bad := range badSorts {
		changes = append(changes, change{bad.name, one.With("options", document.O("sort", bad.value)), "options.sort"})
	}
	return changes
}

func badUpsert(*trial, *place) []change {
	var changes []change
	for _, bad := range []struct {
		name  string
		given document.Object
		field string
	}{
		{"an _id that is null", document.O("_id", nil, "n", 2), "data[1]._id"},
		{"an _id that is an object", document.O("_id", document.O("x", 1)), "data[1]._id"},
		{"an _id that is a list", document.O("_id", document.A(1)), "data[1]._id"},
		{"an _id that appears twice", document.O("_id", "new", "n", 3), "data[1]._id"},
		{"another createdAt", document.O("_id", "a", "createdAt", 1), "data[1].createdAt"},
		{"a createdAt of a new entry", document.O("createdAt", 1, "n", 2), "data[1].createdAt"},
		{"a column with a dollar", document.O("$set", 1), "data[1].$set"},
		{"a column with a dot", document.O("a.b", 1), "data[1].a.b"},
	} {
		changes = append(changes, change{bad.name, document.O("data", document.A(document.O("_id", "new", "n", 2), bad.given)), bad.field})
	}
	return append(changes, change{"nothing", document.O("data", document.A(document.O("_id", "new", "n", 2), nil)), "data[1]"})
}

func badFetch(*trial, *place) []change {
	return slices.Concat(each("filter", badFilters), each("sortBy", badSorts), eachWith("sortBy", badSorts[:1], document.O("count", true)),
		[]change{{"a negative skip", document.O("skip", -1), "skip"}, {"a negative limit", document.O("limit", -1, "count", true), "limit"}})
}

func badDistinct(*trial, *place) []change {
	return append(each("filter", badFilters), change{"a key with a NUL byte", document.O("key", "a\x00b"), "key"},
		change{"a key with a dollar", document.O("key", "$n"), "key"})
}

func badGeoNear(*trial, *place) []change {
	good := document.O("near", point(0, 0))
	var changes []change
	for _, bad := range []struct {
		name  string
		data  document.Object
		field string
	}{
		{"no point", document.O("key", "location"), "data.near"},
		{"a point that is a text", document.O("near", "here"), "data.near"},
		{"a point of one number", document.O("near", document.A(1)), "data.near"},
		{"a longitude off the globe", document.O("near", point(181, 0)), "data.near"},
		{"a latitude off the globe", document.O("near", point(0, -91)), "data.near"},
		{"a pair off the globe", document.O("near", document.A(0, 91), "spherical", true), "data.near"},
		{"a pair off the plane", document.O("near", document.A(181, 0)), "data.near"},
		{"a negative maxDistance", good.With("maxDistance", -1), "data.maxDistance"},
		{"a negative minDistance", good.With("minDistance", -1), "data.minDistance"},
		{"a maxDistance that is a text", good.With("maxDistance", "1"), "data.maxDistance"},
		{"a limit of 0", good.With("limit", 0), "data.limit"},
		{"a negative limit", good.With("limit", -1), "data.limit"},
		{"a key with an empty part", good.With("key", "a..b"), "data.key"},
		{"a distanceField with a dollar", good.With("distanceField", "$a"), "data.distanceField"},
		{"an unknown field", good.With("nearly", 1), "data.nearly"},
	} {
		changes = append(changes, change{bad.name, document.O("data", bad.data), bad.field})
	}
	for _, bad := range each("query", badFilters) {
		changes = append(changes, change{bad.name, document.O("data", good.With("query", bad.with.Value("query"))), "data.query"})
	}
	return changes
}
