package botctx_test

import (
	"context"
	"testing"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// recordFailures are those of channels, members and data sources.
func recordFailures() map[string][]failure {
	const (
		mixed  = `{"patch": {"$set": {"n": 2}, "n": 3}}`
		noType = "has another type"
	)
	noOperator := func(change string) failure {
		return errorOf(boterr.InvalidArgument, "unknown operator", "filter", change)
	}
	noSource := errorOf(boterr.InvalidArgument, "None of `collectionName`", "dataSourceId", `{"dataSourceId": null}`)
	return map[string][]failure{
		"findAndModifyMember": {
			errorOf(boterr.InvalidArgument, noType, "patch.$set.firstName", `{"patch": {"$set": {"firstName": 7}}}`),
			errorOf(boterr.AlreadyExists, "externalId", "", `{"patch": {"$set": {"externalId": "external bob"}}}`),
			noOperator(`{"filter": {"firstName": {"$is": 1}}}`),
			errorOf(boterr.InvalidArgument, "mixes operators", "patch", mixed),
			errorOf(boterr.InvalidArgument, "`sortBy`", "sortBy.firstName", `{"sortBy": {"firstName": 2}}`),
			errorOf(boterr.Unsupported, "upsert", "option.upsert", `{"option": {"upsert": true}}`),
		},
		"patchMembers": {
			errorOf(boterr.InvalidArgument, noType, "patch.firstName", `{"patch": {"firstName": 7}}`),
			errorOf(boterr.AlreadyExists, "externalId", "", `{"patch": {"externalId": "external bob"}}`),
			noOperator(`{"filter": {"firstName": {"$is": 1}}}`),
			errorOf(boterr.InvalidArgument, "mixes operators", "patch", mixed),
			errorOf(boterr.InvalidArgument, "is a replacement", "patch", `{"memberId": null, "filter": {}, "withModifier": true, "patch": {"firstName": "Bea"}}`),
			errorOf(boterr.NotFound, "channel", "channel", `{"channel": {"_id": "none"}}`),
		},
		"updateMember": {
			errorOf(boterr.InvalidArgument, noType, "member.firstName", `{"member": {"_id": "member-1", "firstName": 7}}`),
			errorOf(boterr.AlreadyExists, "externalId", "", `{"member": {"_id": "member-1", "externalId": "external bob"}}`),
			errorOf(boterr.InvalidArgument, "no `_id`", "member._id", `{"member": {"firstName": "Bea"}}`),
			errorOf(boterr.NotFound, "no member", "member._id", `{"member": {"_id": "none"}}`),
			errorOf(boterr.Conflict, "etag checks", "member.etag", `{"member": {"_id": "member-1", "etag": "old"}}`).on(fakes.Config(func(c *botctx.Config) { c.CheckEtags = true })),
		},
		"findAndModifyDataFromDataSource": {
			noOperator(`{"filter": {"n": {"$is": 1}}}`),
			errorOf(boterr.InvalidArgument, "mixes operators", "patch", mixed),
			errorOf(boterr.InvalidArgument, "`sortBy`", "sortBy.n", `{"sortBy": {"n": 2}}`),
			errorOf(boterr.InvalidArgument, "`option.projection`", "option.projection", `{"option": {"projection": {"n": 1, "taken": 0}}}`),
			errorOf(boterr.AlreadyExists, "`option.upsert`", "_id", `{"filter": {"_id": "a", "taken": true}, "option": {"upsert": true}}`),
		},
		"upsertDataToDataSource": {
			errorOf(boterr.InvalidArgument, "the same `_id` twice", "data[1]._id", `{"data": [{"_id": "x"}, {"_id": "x"}]}`),
			errorOf(boterr.InvalidArgument, "would change `createdAt`", "data", `{"data": {"_id": "a", "createdAt": 5}}`),
		},
		"countDataSource":                 {noSource, noOperator(`{"filter": {"n": {"$is": 1}}}`)},
		"fetchDistinctDataFromDataSource": {noSource, noOperator(`{"filter": {"n": {"$is": 1}}}`)},
		"fetchDataFromDataSource": {
			noSource, noOperator(`{"filter": {"n": {"$is": 1}}}`),
			errorOf(boterr.InvalidArgument, "`sortBy`", "sortBy.n", `{"sortBy": {"n": 2}}`),
		},
		"fetchGeoNearFromDataSource": {
			noSource,
			errorOf(boterr.InvalidArgument, "is no point", "data.near", `{"data": {"near": [0]}}`),
			errorOf(boterr.InvalidArgument, "in several columns", "data.key", `{"dataSourceId": "trips"}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.AddData("trips", document.O("from", document.A(0, 1), "to", document.A(0, 2)))
			}),
		},
		"patchDataToDataSource": {
			noSource, noOperator(`{"filter": {"n": {"$is": 1}}}`),
			errorOf(boterr.InvalidArgument, "mixes operators", "patch", mixed),
			errorOf(boterr.InvalidArgument, "`options.sort`", "options.sort.n", `{"options": {"sort": {"n": 2}}, "multi": false}`),
			errorOf(boterr.AlreadyExists, "`options.upsert`", "_id", `{"filter": {"_id": "a", "taken": true}, "multi": false, "options": {"upsert": true}}`),
		},
	}
}

// agendaFailures are those of agendas and redirects.
func agendaFailures() map[string][]failure {
	noZone := errorOf(boterr.Unavailable, "the member's time zone", "zone", `{"pattern": "0 9 * * *", "runUntil": 4102444800000}`).
		on(fakes.Config(func(c *botctx.Config) {
			c.Zone = func(context.Context, *member.Member) (string, error) { return "", boterr.Unavailable }
		}))
	return map[string][]failure{
		"newAgenda": {
			errorOf(boterr.InvalidArgument, "Neither `nextRunAt`", "nextRunAt", `{"pattern": null}`),
			errorOf(boterr.InvalidArgument, "not a CRON pattern", "pattern", `{"pattern": "daily"}`),
			errorOf(boterr.InvalidArgument, "names a time zone that is none", "pattern", `{"pattern": "CRON_TZ=Nowhere 0 9 * * *"}`),
			errorOf(boterr.NotFound, "no member", "memberId", `{"memberId": "none"}`),
			errorOf(boterr.NotFound, "no such node", "nodeCompositeId", `{"nodeCompositeId": "helo"}`),
			noZone,
		},
		"updateAgenda": {
			errorOf(boterr.NotFound, "no such node", "nodeCompositeId", `{"nodeCompositeId": "helo"}`),
			errorOf(boterr.InvalidArgument, "not a CRON pattern", "pattern", `{"pattern": "daily"}`),
			noZone,
			errorOf(boterr.InvalidArgument, "without `tag`", "tag", `{"tag": null, "replace": true}`),
		},
		"redirectMemberToNode": {
			errorOf(boterr.InvalidArgument, "`channelId`", "channelId", `{"channelId": "desk"}`),
			errorOf(boterr.NotFound, "no such node", "nodeCompositeId", `{"nodeCompositeId": "none"}`),
			errorOf(boterr.ResourceExhausted, "deeper", "nodeCompositeId", `{"nodeCompositeId": "round"}`).after(func(_ *testing.T, p *fakes.Platform, _ string) {
				p.Handle(&botctx.Node{ID: "round", Redirect: botctx.To("round")})
			}),
		},
	}
}
