package botctxtest

import (
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

// anew are changes of a schedule in which nothing else is given.
func anew(changes []change) []change {
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
	return anew([]change{
		{"a nextRunAt before 1970", document.O("nextRunAt", -1), "nextRunAt"},
		{"a runUntil before 1970", document.O("pattern", eachMinute, "runUntil", -1), "runUntil"},
		{"a pattern without runUntil", document.O("pattern", eachMinute), "runUntil"},
		{"a pattern that does not fire until runUntil", document.O("pattern", eachMinute, "runUntil", 1), "pattern"},
		{"a nextRunAt after runUntil", document.O("nextRunAt", later+1, "pattern", eachMinute, "runUntil", later), "nextRunAt"},
		{"a pattern of words", document.O("pattern", "every minute of a day", "runUntil", later), "pattern"},
		{"a pattern of four fields", document.O("pattern", "* * * *", "runUntil", later), "pattern"},
		{"a pattern beyond the hour", document.O("pattern", "61 * * * *", "runUntil", later), "pattern"},
		{"a pattern in a zone that is none", document.O("pattern", "CRON_TZ=Nowhere "+eachMinute, "runUntil", later), "pattern"},
		{"a pattern beside nextRunAt that is none", document.O("nextRunAt", later, "pattern", "x", "runUntil", later), "pattern"},
		{"a pattern that never fires", document.O("pattern", "0 0 30 2 *", "runUntil", later), "pattern"},
		{"replace without a tag", document.O("nextRunAt", later, "replace", true), "tag"},
	})
}

func badUpdateAgenda(t *trial, _ *place) []change {
	t.schedule(agenda.NewAgendaParams{Tag: "each", Pattern: eachMinute, RunUntil: later, NextRunAt: later - 5})
	return anew([]change{
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
