package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// past is a call whose cost must not depend on how much there was before.
type past struct {
	title string
	// prepare returns the call, over so many records.
	prepare func(ctx context.Context, records int) (func(round int) error, error)
}

var pasts = []past{
	{"`newAgenda` with `replace`, completed agendas of the tag", replacing},
	{"an agent's message, chats of the agent that are over", agentWriting},
	{"`findAndModifyMember` by `externalId`, members", findingByExternalID},
	{"`getAssignmentsByMeta`, assignments", findingByMeta},
	{"`patchMembers` by meta, members", patchingByMeta},
	{"a page of admin's list, members", listing},
	{"`$unset` of 3,000 paths, elements of the array", unsetting},
}

// printHistory prints how the time of calls grows with what there was before, and what concurrent answers take
// in memory.
func printHistory(ctx context.Context, out *strings.Builder, s settings) error {
	fmt.Fprint(out, "| call, and what there are so many of |")
	columns := 2
	for count := 1_000; count <= s.largest; count *= 10 {
		fmt.Fprintf(out, " %d |", count)
		columns++
	}
	fmt.Fprint(out, " growth |\n|", strings.Repeat("---|", columns), "\n")
	for _, p := range pasts {
		fmt.Fprintf(out, "| %s |", p.title)
		first, last := lacking, lacking
		for count := 1_000; count <= s.largest; count *= 10 {
			measured, failed, err := timePast(ctx, p, count, s)
			if err != nil {
				return fmt.Errorf("%s: %w", p.title, err)
			}
			if last = measured; first == lacking {
				first = measured
			}
			if failed != "" {
				last = lacking
				fmt.Fprintf(out, " %s after %s |", failed, measured)
				continue
			}
			fmt.Fprintf(out, " %s |", measured)
		}
		if last == lacking {
			fmt.Fprint(out, " - |\n")
			continue
		}
		fmt.Fprintf(out, " %s |\n", shortNumber(float64(last/first)))
	}
	fmt.Fprintln(out)
	return printAnswers(ctx, out)
}

// timePast measures a call over so many records. failed is the code of its error if it fails each time.
func timePast(ctx context.Context, p past, records int, s settings) (measured timing, failed boterr.Code, err error) {
	do, err := p.prepare(ctx, records)
	if err != nil {
		return 0, "", err
	}
	measured, err = timingOf(s, func(round int) error {
		err := do(round)
		if err != nil && !errors.Is(err, errOther) {
			failed, err = boterr.CodeOf(err), nil
		}
		return err
	})
	return measured, failed, err
}

// historic is the app whose records the calls are about.
const historic = "bistro"

// filling inserts so many records of a collection.
func filling(ctx context.Context, of store.Collection, records int, at func(i int) document.Object) error {
	const batch = 10_000
	for from := 0; from < records; from += batch {
		some := make([]document.Object, 0, batch)
		for i := from; i < min(records, from+batch); i++ {
			some = append(some, at(i))
		}
		if err := of.Insert(ctx, some...); err != nil {
			return err
		}
	}
	return nil
}

// host returns a Runtime over a store with so many records of a collection, with all indexes.
func host(ctx context.Context, collection string, records int, at func(i int) document.Object) (*botctx.Runtime, error) {
	database := memstore.New()
	if err := filling(ctx, database.Collection(collection), records, at); err != nil {
		return nil, err
	}
	if err := botctx.EnsureIndexes(ctx, database); err != nil {
		return nil, err
	}
	made, err := botctx.New(botctx.Config{Store: database})
	if err != nil {
		return nil, err
	}
	if err := made.Handle(&botctx.Node{ID: "remind", Trigger: botctx.AnyText()}); err != nil {
		return nil, err
	}
	_, err = channels.New(made.Env(), record.Scope{App: historic}).Save(ctx, &channel.Channel{ID: "web", Type: channel.Webchat, On: true})
	return made, err
}

// memberAt returns the member of a number, whose plan is the member's own.
func memberAt(i int) document.Object {
	id := strconv.Itoa(10_000_000 + i)
	return document.O("_id", id, "app", historic, "channel", "web", "externalId", "guest-"+id, "meta", document.O("plan", id))
}

// in returns the operations in the app.
func in(of *botctx.Runtime) *botctx.Context {
	return of.Operations(record.Scope{App: historic, Channel: "web", Member: "10000000"})
}

func replacing(ctx context.Context, records int) (func(int) error, error) {
	of, err := host(ctx, "agendas", records, func(i int) document.Object {
		return document.O("_id", strconv.Itoa(10_000_000+i), "app", historic, "member", "10000000", "tag", "reminder",
			"nodeCompositeId", "remind", "nextRunAt", i, "completed", true)
	})
	if err != nil {
		return nil, err
	}
	if err := of.Env().Store.Collection("members").Insert(ctx, memberAt(0)); err != nil {
		return nil, err
	}
	bot, at := in(of), document.TimestampOf(time.Now().Add(time.Hour))
	return func(int) error {
		_, err := bot.NewAgenda(ctx, agenda.NewAgendaParams{
			MemberID: "10000000", NodeCompositeID: "remind", Tag: "reminder", Replace: true, NextRunAt: at,
		})
		return err
	}, nil
}

//nolint:contextcheck // A platform of the fakes has its own context.
func agentWriting(ctx context.Context, records int) (func(int) error, error) {
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "shop"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Custom, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support"}}},
	}})
	p.Pair("shop", "desk")
	p.HandleFunc(func(context.Context, *botctx.Context) error { return errOther }) // The message is not for the bot.
	agent, asker := p.AddAgent("desk", "Grace"), p.AddMember(member.Member{Channel: "shop", FirstName: "Ada"})
	ended := func(i int) document.Object {
		id := "old" + strconv.Itoa(i)
		return document.O("_id", id, "app", fakes.DefaultApp, "member", asker.ID(), "inlet", "shop", "outlet", "desk").
			With("createdAt", i).With("_version", 1).
			With("slot", "ended/"+id).With("group", id).
			With("assignee", agent.ExternalID()).With("assignedAt", 1).With("sentAt", 1).
			With("endedAt", 1).With("endedBy", "outlet").With("closedAt", 1)
	}
	group := func(i int) document.Object {
		id := "old" + strconv.Itoa(i)
		return document.O("_id", id, "app", fakes.DefaultApp, "member", asker.ID(), "inlet", "shop", "outlet", "desk").
			With("createdAt", i).With("_version", 1).
			With("active", false).With("externalId", agent.ExternalID()).With("adminExternalId", agent.ExternalID()).
			With("type", "custom").With("assignment", id)
	}
	for collection, at := range map[string]func(int) document.Object{"assignments": ended, "groups": group} {
		if err := filling(ctx, p.Runtime().Env().Store.Collection(collection), records, at); err != nil {
			return nil, err
		}
	}
	if _, err := asker.Context().CreateAssignment(ctx, livechat.CreateAssignmentParams{}); err != nil {
		return nil, err
	}
	agent.Takes(agent.Ticket())
	conversation, err := p.Runtime().Operations(record.Scope{App: fakes.DefaultApp, Channel: "shop", Member: asker.ID()}).
		GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: "shop", MemberID: asker.ID()})
	if err != nil {
		return nil, err
	}
	says := botctx.Inbound{App: fakes.DefaultApp, Channel: "desk", Event: send.MessageEvent{
		Type: send.TypeText, From: agent.ExternalID(), To: conversation.ExternalID, Data: document.O("text", "hi"),
	}}
	return func(int) error { return p.Runtime().Receive(ctx, says) }, nil
}

func findingByExternalID(ctx context.Context, records int) (func(int) error, error) {
	of, err := host(ctx, "members", records, memberAt)
	if err != nil {
		return nil, err
	}
	bot := in(of)
	return func(round int) error {
		found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyMemberParams{
			Filter: document.O("externalId", "guest-"+strconv.Itoa(10_000_000+records/2)), Patch: document.Set("meta.seen", round),
		})
		if err == nil && found.Member == nil {
			err = errOther
		}
		return err
	}, nil
}

func findingByMeta(ctx context.Context, records int) (func(int) error, error) {
	of, err := host(ctx, "assignments", records, func(i int) document.Object {
		id := strconv.Itoa(10_000_000 + i)
		return document.O("_id", id, "app", historic, "member", id, "slot", "ended/"+id, "group", id, "createdAt", i,
			"endedAt", 1, "closedAt", 1, "meta", document.O("order", id))
	})
	if err != nil {
		return nil, err
	}
	if err := declareAssignmentIndex(ctx, of.Env().Store, "meta.order"); err != nil {
		return nil, err
	}
	bot := in(of)
	return func(int) error {
		found, err := bot.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{
			Meta: document.O("order", strconv.Itoa(10_000_000+records/2)),
		})
		if err == nil && len(found) != 1 {
			err = errOther
		}
		return err
	}, nil
}

func patchingByMeta(ctx context.Context, records int) (func(int) error, error) {
	of, err := host(ctx, "members", records, memberAt)
	if err != nil {
		return nil, err
	}
	if err := declareMemberIndex(ctx, of.Env().Store, "meta.plan"); err != nil {
		return nil, err
	}
	bot := in(of)
	return func(round int) error {
		_, err := bot.PatchMembers(ctx, member.PatchMembersParams{
			Filter: document.O("meta.plan", strconv.Itoa(10_000_000+records/2)), Patch: document.O("meta.seen", round),
		})
		return err
	}, nil
}

// listing asks for the page behind the middle of the list. What does not know after takes it for the first page.
func listing(ctx context.Context, records int) (func(int) error, error) {
	of, err := host(ctx, "members", records, memberAt)
	if err != nil {
		return nil, err
	}
	page, err := admin.Handler(admin.Config{Runtime: of, Apps: []string{historic}})
	if err != nil {
		return nil, err
	}
	return func(int) error {
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, httptest.NewRequestWithContext(
			ctx, http.MethodGet, "/members?limit=50&after="+strconv.Itoa(10_000_000+records/2), http.NoBody))
		if answer.Code != http.StatusOK || !bytes.Contains(answer.Body.Bytes(), []byte(`"hasMore":true`)) {
			return errOther
		}
		return nil
	}, nil
}

// unsetting removes fields that are not there from each element of an array, within two seconds.
func unsetting(ctx context.Context, records int) (func(int) error, error) {
	const paths, within = 3_000, 2 * time.Second
	documents := memstore.New().Collection("documents")
	if err := documents.Insert(ctx, document.O("_id", "long", "l", document.A(make([]any, records)...))); err != nil {
		return nil, err
	}
	removed := document.NewBuilder(paths)
	for i := range paths {
		removed.Set("l.$[].x"+strconv.Itoa(i), true)
	}
	update, err := query.CompileUpdate(document.O("$unset", removed.Object()))
	if err != nil {
		return nil, err
	}
	return func(int) error {
		call, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		_, err := documents.Update(call, nil, query.Change{Update: update}, store.UpdateOptions{})
		if errors.Is(err, context.DeadlineExceeded) {
			err = boterr.New(boterr.Canceled, "", "the time is over")
		}
		return err
	}, nil
}
