package botctxtest

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

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
