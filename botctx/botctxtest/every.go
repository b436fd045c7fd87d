package botctxtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var everyOperationRules = []Rule{
	{
		Name:  "EndedContextIsCanceled",
		Text:  "where the context has ended before the call, an operation answers Canceled and changes nothing",
		check: endedContextIsCanceled,
	},
	{
		Name:  "PassedDeadlineIsCanceled",
		Text:  "where the deadline has passed before the call, an operation answers Canceled and changes nothing",
		check: passedDeadlineIsCanceled,
	},
	{
		Name:  "OperationsAreSafeForConcurrentUse",
		Text:  "one value of Operations serves many goroutines at once",
		check: operationsAreSafeForConcurrentUse,
	},
}

// call is a call of an operation that succeeds where seedForCalls was called before.
type call struct {
	domain Capability
	op     botctx.Op
	make   func(ctx context.Context, p *place) error
	// needs is what the operation needs beside its domain, "" for nothing.
	needs Capability
	// mayFail is whether it need not succeed: it ends what other calls need, or is for a
	// platform on which nothing was made.
	mayFail bool
}

// errorOf is the error of an operation.
func errorOf[R any](_ R, err error) error { return err }

// calls returns one call of each operation.
func calls() []call { return slices.Concat(plainCalls, assignmentCalls, groupCalls) }

// plainCalls are one call of each operation that is not about live chats.
var plainCalls = []call{
	{domain: Channels, op: botctx.OpGetChannel, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetChannel(ctx, channel.GetChannelParams{ChannelID: p.scope.Channel}))
	}},
	{domain: Members, op: botctx.OpGetMember, make: func(ctx context.Context, p *place) error {
		return errorOf(p.GetMember(ctx, member.GetMemberParams{MemberID: p.scope.Member}))
	}},
	{domain: Members, op: botctx.OpFindAndModifyMember, make: func(ctx context.Context, p *place) error {
		return errorOf(p.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
			Filter: document.O(), Patch: document.Inc("meta.calls", 1),
		}))
	}},
	{domain: Members, op: botctx.OpPatchMembers, make: func(ctx context.Context, p *place) error {
		return errorOf(p.PatchMembers(ctx, member.PatchMembersParams{
			Patch: document.Inc("meta.calls", 1), WithModifier: true,
		}))
	}},
	{domain: Members, op: botctx.OpUpdateMember, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateMember(ctx, member.UpdateMemberParams{
			Member: document.O("_id", p.scope.Member, "gender", "f"),
		}))
	}},
	{domain: Members, op: botctx.OpCheckAndSaveMemberReferFrom, make: func(ctx context.Context, p *place) error {
		return errorOf(p.CheckAndSaveMemberReferFrom(ctx, member.CheckAndSaveMemberReferFromParams{
			MemberID: p.scope.Member, ReferFrom: "somewhere",
		}))
	}},
	{domain: DataSources, op: botctx.OpFindAndModifyDataFromDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyDataFromDataSourceParams{
			DataSourceID: source, Filter: document.O(), Patch: document.Inc("calls", 1),
		}))
	}},
	{domain: DataSources, op: botctx.OpUpsertDataToDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
			DataSourceID: source, Data: document.One(document.O("_id", "a", "upserted", true), document.O("new", true)),
		}))
	}},
	{domain: DataSources, op: botctx.OpPatchDataToDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.PatchDataToDataSource(ctx, datasource.PatchDataToDataSourceParams{
			DataSourceID: source, Patch: document.Inc("calls", 1), WithModifier: true, Multi: true,
		}))
	}},
	{domain: DataSources, op: botctx.OpCountDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.CountDataSource(ctx, datasource.CountDataSourceParams{DataSourceID: source}))
	}},
	{domain: DataSources, op: botctx.OpFetchDataFromDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.FetchDataFromDataSource(ctx, datasource.FetchDataFromDataSourceParams{DataSourceID: source}))
	}},
	{domain: DataSources, op: botctx.OpFetchDistinctDataFromDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.FetchDistinctDataFromDataSource(ctx, datasource.FetchDistinctDataFromDataSourceParams{
			DataSourceID: source, Key: "_id",
		}))
	}},
	{domain: DataSources, op: botctx.OpFetchGeoNearFromDataSource, make: func(ctx context.Context, p *place) error {
		return errorOf(p.FetchGeoNearFromDataSource(ctx, datasource.FetchGeoNearFromDataSourceParams{
			DataSourceID: source, Data: document.O("near", document.A(0, 0), "key", "at"),
		}))
	}, needs: GeoQueries},
	{domain: Agendas, op: botctx.OpNewAgenda, make: func(ctx context.Context, p *place) error {
		return errorOf(p.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: p.scope.Member, NodeCompositeID: "node", NextRunAt: later, Tag: "tag", Replace: true,
		}))
	}},
	{domain: Agendas, op: botctx.OpUpdateAgenda, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UpdateAgenda(ctx, agenda.UpdateAgendaParams{MemberID: p.scope.Member, NextRunAt: later + 1}))
	}},
	{domain: Agendas, op: botctx.OpDeleteMemberAgenda, make: func(ctx context.Context, p *place) error {
		return errorOf(p.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: p.scope.Member}))
	}},
	{domain: Nodes, op: botctx.OpRedirectMemberToNode, make: func(ctx context.Context, p *place) error {
		return errorOf(p.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
			MemberID: p.scope.Member, NodeCompositeID: p.node,
		}))
	}, needs: handleNodes},
	{domain: Sends, op: botctx.OpSendResponse, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Hello")}))
	}},
}

// callsOf returns the calls of a domain.
func callsOf(domain Capability) []call {
	var of []call
	for _, c := range calls() {
		if c.domain == domain {
			of = append(of, c)
		}
	}
	return of
}

// offered returns the calls of operations that the implementation offers.
func (t *trial) offered() []call {
	var offered []call
	for _, c := range calls() {
		if t.offers(c.domain) && (c.needs == "" || t.offers(c.needs)) && (c.domain != LiveChats || t.offersLiveChats()) {
			offered = append(offered, c)
		}
	}
	return offered
}

// seedForCalls makes what calls need.
func (t *trial) seedForCalls() {
	t.Helper()
	if t.offers(DataSources) {
		t.seed(t.home, document.O("_id", "a", "at", document.A(0, 0)))
	}
	if t.offers(Agendas) {
		t.schedule(agenda.NewAgendaParams{})
	}
	if t.offers(Nodes) && t.offers(handleNodes) {
		t.Handle(&botctx.Node{ID: t.home.node, Pre: []botctx.Action{sets("seen")}})
	}
	if t.offersLiveChats() {
		t.beginChat()
	}
}

func endedContextIsCanceled(t *trial) {
	ended, end := context.WithCancel(t.ctx())
	end()
	requireCanceled(t, func(c call) error { return c.make(ended, t.home) })
}

func passedDeadlineIsCanceled(t *trial) {
	passed, release := context.WithDeadline(t.ctx(), time.Unix(0, 0))
	defer release()
	requireCanceled(t, func(c call) error { return c.make(passed, t.home) })
}

// requireCanceled checks that every operation refuses to be called in vain.
func requireCanceled(t *trial, inVain func(call) error) {
	t.Helper()
	t.seedForCalls()
	before := t.state()
	for _, call := range t.offered() {
		t.try(string(call.op), func(t *trial) {
			t.requireError(call.op, boterr.Canceled, "", inVain(call))
			require.Equal(t, before, t.state(), "a call that is canceled changes nothing")
		})
	}
}

func operationsAreSafeForConcurrentUse(t *trial) {
	t.seedForCalls()
	var group sync.WaitGroup
	offered := slices.DeleteFunc(t.offered(), func(c call) bool { return c.mayFail })
	const rounds = 4
	failures := make([]error, rounds*len(offered))
	for i := range failures {
		group.Go(func() { failures[i] = offered[i%len(offered)].make(t.ctx(), t.home) })
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
}
