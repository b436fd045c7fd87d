package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
)

func TestDeleteMemberAgenda_OpenOnes(t *testing.T) {
	t.Parallel()
	for params, left := range map[string][]string{
		`{"memberId": "ada"}`:                       {"past", "bobs"},
		`{"memberId": "ada", "tag": ""}`:            {"past", "bobs"},
		`{"memberId": "ada", "tag": "x"}`:           {"past", "other", "bobs"},
		`{"memberId": "ada", "tag": "y"}`:           {"past", "once", "daily", "other", "bobs"},
		`{"memberId": "bob", "tag": "x", "app": 1}`: {"past", "once", "daily", "other"},
		`{"memberId": "tom"}`:                       {"past", "once", "daily", "other", "bobs"},
		`{"memberId": "none"}`:                      {"past", "once", "daily", "other", "bobs"},
	} {
		a := newApps(t)
		seed(t, a)
		a.change(t, document.O("nodeCompositeId", "once"), document.Set("failed", true))
		a.change(t, document.O("nodeCompositeId", "daily"), document.Set("attempts", 1, "leaseUntil", noon+2*hour))
		must(t, a.mine.DeleteMemberAgenda, params)
		require.Equal(t, left, nodes(records(t, a.mine)), params)
	}
}

func TestDeleteMemberAgenda_NewIDEachTime(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	first := must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`)
	second := must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`)
	require.Equal(t, []string{"clientMutationId"}, first.Keys())
	require.NotEmpty(t, document.Get(first, "clientMutationId", ""))
	require.NotEmpty(t, document.Get(second, "clientMutationId", ""))
	require.NotEqual(t, first, second)
}

func TestDeleteMemberAgenda_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	before := a.stored(t)
	for params, field := range map[string]string{
		`{}`:                                "memberId",
		`{"tag": "x"}`:                      "memberId",
		`{"memberId": ""}`:                  "memberId",
		`{"memberId": {"$ne": ""}}`:         "memberId",
		`{"memberId": "ada", "tag": ["x"]}`: "tag",
	} {
		_, err := call(t, a.mine.DeleteMemberAgenda, params)
		requireRefused(t, err, field, params)
		require.Equal(t, before, a.stored(t), params)
	}
}
