package livechats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestGetAssignmentsByMeta(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a", 1, `, "meta": {"topic": "bill", "order": {"id": 1, "lines": [1, 2]}, "tags": ["x", "y"], "left": null}`)
	s.putAssignment(t, "b", 2, `, "meta": {"topic": "bill", "order": {"id": 2}, "n": 1}`)
	s.putAssignment(t, "c", 3, ``)
	s.put(t, "assignments", `{"_id": "foreign", "app": "theirs", "slot": "ended/foreign", "meta": {"topic": "bill"}}`)
	for params, want := range map[string][]string{
		`{"meta": {"topic": "bill"}}`:                             {"a", "b"},
		`{"meta": {"topic": "bill", "order.id": 2}}`:              {"b"},
		`{"meta": {"order": {"id": 2}}}`:                          {"b"},
		`{"meta": {"order": {"id": 1}}}`:                          {},
		`{"meta": {"order": {"id": 1, "lines": [1, 2]}}}`:         {"a"},
		`{"meta": {"order.lines": [1, 2]}}`:                       {"a"},
		`{"meta": {"tags": "x"}}`:                                 {"a"},
		`{"meta": {"left": null}}`:                                {"a"},
		`{"meta": {"topic": "Bill"}}`:                             {},
		`{"meta": {"n": 1.0}}`:                                    {"b"},
		`{"meta": {"n": "1"}}`:                                    {},
		`{"meta": {"topic": "bill", "n": 2}}`:                     {},
		`{"meta": {"app": "theirs"}}`:                             {},
		`{"meta": {}}`:                                            {"a", "b", "c"},
		`{"meta": {"topic": "bill", "order": {"id": 2}, "n": 1}}`: {"b"},
	} {
		require.Equal(t, want, idsOf(t, must(t, s.mine.GetAssignmentsByMeta, params)), params)
	}
}

func TestGetAssignmentsByMeta_RefusesOperators(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a", 1, `, "meta": {"n": 1}`)
	requireRefused(t, s, s.mine.GetAssignmentsByMeta,
		refused{`{}`, boterr.InvalidArgument, "meta"},
		refused{`{"meta": null}`, boterr.InvalidArgument, "meta"},
		refused{`{"meta": "x"}`, boterr.InvalidArgument, "meta"},
		refused{`{"meta": {"$or": [{"n": 1}]}}`, boterr.InvalidArgument, "meta.$or"},
		refused{`{"meta": {"n": {"$gt": 0}}}`, boterr.InvalidArgument, "meta.n.$gt"},
		refused{`{"meta": {"n": {"deep": {"$in": [1]}}}}`, boterr.InvalidArgument, "meta.n.deep.$in"},
		refused{`{"meta": {"list": [1, {"$ne": 1}]}}`, boterr.InvalidArgument, "meta.list[1].$ne"},
		refused{`{"meta": {"n.$gt": 1}}`, boterr.InvalidArgument, "meta.n.$gt"})
}

func TestGetAssignmentsByMeta_RefusesNoValue(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putAssignment(t, "a1", 1, ``)
	s.putGroup(t, "g1", ``)
	bad := document.O("n", make(chan int))
	_, found := s.mine.GetAssignmentsByMeta(t.Context(), livechat.GetAssignmentsByMetaParams{Meta: bad})
	_, assignment := s.mine.UpdateAssignmentMeta(t.Context(), livechat.UpdateAssignmentMetaParams{AssignmentID: "a1", Meta: bad})
	_, group := s.mine.UpdateGroupMeta(t.Context(), livechat.UpdateGroupMetaParams{GroupID: "g1", Meta: bad})
	for _, err := range []error{found, assignment, group} {
		failure, ok := boterr.AsError(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, []string{string(boterr.InvalidArgument), "meta.n"}, []string{string(failure.Code), failure.Field})
	}
}
