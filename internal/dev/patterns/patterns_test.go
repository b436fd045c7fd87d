// Package patterns_test holds what bots on a platform of scripts do, pattern by pattern: as scripts, which stand in
// bots, and as nodes in Go beside them. Both have the same conversation, over the records in memory and over those
// in a file, and one is to say and to store what the other one does.
package patterns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
	"github.com/botctx/go-sdk/send"
)

// stage is a platform on which a pattern is played, and who is on it.
type stage struct {
	*fakes.Platform

	t       *testing.T
	members []*fakes.Actor
	// ada writes to the bot, grace and hedy are agents at the channel "desk" where there is one.
	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

func newStage(t *testing.T, keep func(t *testing.T, c *botctx.Config)) *stage {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		keep(t, c)
		c.Flow.LiveChatTree = func(*botctx.Context) string { return "live chat" }
	}))
	s := &stage{Platform: p, t: t}
	p.AddChannel(channel.Channel{
		ID: "web", Type: channel.Webchat, PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{""}}},
	})
	s.ada = s.join(member.Member{FirstName: "Ada", Channel: "web"})
	return s
}

func (s *stage) join(m member.Member) *fakes.Actor {
	actor := s.AddMember(m)
	s.members = append(s.members, actor)
	return actor
}

// on makes Ada a member on another platform.
func (s *stage) on(platform channel.Type) {
	s.AddChannel(channel.Channel{ID: "page", Type: platform})
	s.ada = s.join(member.Member{FirstName: "Ada", Channel: "page"})
}

// openDesk adds an outlet with Grace for everybody and Hedy of the sales.
func (s *stage) openDesk(desk channel.Channel) {
	desk.ID = "desk"
	desk.PriorityGroups = []channel.PriorityGroup{{Group: "all", Trees: []string{"agents"}}}
	desk.BroadcastGroups = []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
	}
	s.AddChannel(desk)
	s.Pair("web", "desk")
	s.grace, s.hedy = s.AddAgent("desk", "Grace", "support"), s.AddAgent("desk", "Hedy", "sales")
}

// ticketing opens a desk with tickets.
func (s *stage) ticketing() { s.openDesk(channel.Channel{Type: channel.Charlie}) }

// keeps sets a field of Ada as she is stored.
func (s *stage) keeps(field string, value document.Object) {
	s.t.Helper()
	_, err := s.ada.Context().PatchMembers(s.t.Context(), member.PatchParams{MemberID: s.ada.ID(), Patch: document.O(field, value)})
	require.NoError(s.t, err)
}

// says lets Ada write several texts to the bot, one after the other.
func (s *stage) says(texts ...string) {
	for _, text := range texts {
		s.ada.Says(text)
	}
}

// outcome is what came of a conversation.
type outcome struct{ said, stored string }

// outcome returns what was sent, and what is stored.
func (s *stage) outcome() outcome {
	s.t.Helper()
	var said, stored strings.Builder
	for _, sent := range s.Sent() {
		text := sent.Response.Text()
		if text == "" {
			text = sent.Response.String()
		}
		fmt.Fprintf(&said, "%s: %s\n", s.nameOf(sent), text)
		s.print(&stored, "sent to "+sent.To+" as "+sent.MessagingTag, sent.Response)
	}
	for _, actor := range s.members {
		m := actor.Member()
		s.print(&stored, m.FirstName, []any{m.Meta, m.BotMeta, m.CustomLocale, m.Group})
		s.print(&stored, "agendas", actor.Agendas())
		s.print(&stored, "live chats", s.liveChats(actor))
	}
	for _, source := range s.DataSources() {
		s.print(&stored, source, s.Data(source))
	}
	s.print(&stored, "comments", s.PostComments())
	return outcome{said: said.String(), stored: stored.String()}
}

// nameOf returns who got a message.
func (s *stage) nameOf(sent fakes.Sent) string {
	for _, actor := range s.members {
		if actor.ID() == sent.Member {
			return actor.Added().FirstName
		}
	}
	return "desk"
}

// liveChats returns the requests of a member for a person.
func (s *stage) liveChats(actor *fakes.Actor) []*livechat.Assignment {
	s.t.Helper()
	found, err := actor.Context().GetAssignmentsByMemberID(s.t.Context(), livechat.GetAssignmentsByMemberIDParams{
		MemberID: actor.ID(), SortBy: document.O("createdAt", 1, "_id", 1),
	})
	require.NoError(s.t, err)
	return found
}

// print writes a value as JSON, with what it is.
func (s *stage) print(into *strings.Builder, what string, value any) {
	s.t.Helper()
	text, err := json.MarshalIndent(value, "", " ")
	require.NoError(s.t, err)
	fmt.Fprintf(into, "%s: %s\n", what, text)
}

// pattern is something that real scripts do.
type pattern struct {
	// name is that of its folder of scripts.
	name string
	// nodes are the same nodes in Go.
	nodes func() []*botctx.Node
	// needs are the packages of npm that the scripts use.
	needs []string
	// prepare makes what the bot needs beside Ada, who writes on a webchat channel where it makes no member.
	prepare func(s *stage)
	// talk is the conversation.
	talk func(s *stage)
	// want is what was sent, each message after who got it.
	want string
}

func patterns() []pattern {
	var all []pattern
	for _, some := range [][]pattern{answers(), tables(), counters(), agendas(), flows(), requests(), commands(), platforms()} {
		all = append(all, some...)
	}
	return all
}

// logics are the two ways in which each pattern is written.
var logics = map[string]func(t *testing.T, p pattern) []*botctx.Node{
	"go":      func(_ *testing.T, p pattern) []*botctx.Node { return p.nodes() },
	"scripts": scripts,
}

// scripts loads the nodes of a pattern from its folder.
func scripts(t *testing.T, p pattern) []*botctx.Node {
	t.Helper()
	for _, name := range p.needs {
		if _, err := os.Stat(filepath.Join(packages, "node_modules", name)); err != nil {
			t.Skipf("%s of npm is not there: run npm ci --ignore-scripts in script/testdata/npm", name)
		}
	}
	nodes, err := script.Load(os.DirFS(filepath.Join("bots", p.name)), script.Options{Modules: os.DirFS(packages)})
	require.NoError(t, err)
	return nodes
}

// packages is the folder with the node_modules of the tests.
const packages = "../../../script/testdata/npm"

// stores are what the records are kept in.
var stores = map[string]func(t *testing.T, c *botctx.Config){
	"in memory": func(*testing.T, *botctx.Config) {},
	"in a file": func(t *testing.T, c *botctx.Config) {
		t.Helper()
		store, err := bolt.Open(filepath.Join(t.TempDir(), "records.db"), bolt.WithNow(c.Now))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		c.Store = store
	},
}

func TestPatterns_ScriptsDoWhatGoDoes(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		for name := range stores {
			t.Run(path.Join(p.name, name), func(t *testing.T) {
				t.Parallel()
				inGo := played(t, p, "go", name)
				require.Equal(t, p.want, inGo.said, "what the nodes in Go say")
				inScripts := played(t, p, "scripts", name)
				require.Equal(t, inGo.said, inScripts.said, "what the scripts say")
				require.Equal(t, inGo.stored, inScripts.stored, "what the scripts store")
			})
		}
	}
}

func played(t *testing.T, p pattern, logic, store string) outcome {
	t.Helper()
	s := newStage(t, stores[store])
	if p.prepare != nil {
		p.prepare(s)
	}
	s.Handle(logics[logic](t, p)...)
	p.talk(s)
	return s.outcome()
}

// Each folder has its row in the table, and the other way round: nothing is left out.
func TestPatterns_EachFolderHasItsNodesInGo(t *testing.T) {
	t.Parallel()
	folders, err := os.ReadDir("bots")
	require.NoError(t, err)
	var written, known []string
	for _, folder := range folders {
		written = append(written, folder.Name())
	}
	for _, p := range patterns() {
		known = append(known, p.name)
	}
	require.ElementsMatch(t, written, known)
}

// The graph of the scripts is that of the nodes in Go, but for what is a function there and a file here.
func TestPatterns_GraphsAreAlike(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		nodes, err := script.Load(os.DirFS(filepath.Join("bots", p.name)), script.Options{Modules: os.DirFS(packages)})
		require.NoError(t, err, p.name)
		fromScripts, err := botctx.GraphOf(nodes...)
		require.NoError(t, err, p.name)
		fromGo, err := botctx.GraphOf(p.nodes()...)
		require.NoError(t, err, p.name)
		require.Equal(t, fromGo.Edges, fromScripts.Edges, p.name)
		require.Equal(t, fromGo.Warnings, fromScripts.Warnings, p.name)
		for i := range fromGo.Nodes {
			fromGo.Nodes[i].Trigger, fromScripts.Nodes[i].Trigger = "", ""
		}
		require.Equal(t, fromGo.Nodes, fromScripts.Nodes, p.name)
	}
}

// commands are the patterns of what agents say to the bot.
func commands() []pattern {
	return []pattern{{
		name: "agent-commands", nodes: agentCommands, prepare: (*stage).ticketing,
		talk: func(s *stage) {
			s.says("agent")
			s.grace.Takes(s.grace.Ticket())
			s.grace.Says("I ask the sales.")
			s.grace.Says("#sales")
			s.hedy.Takes(s.hedy.Ticket())
			s.hedy.Says("That is 20.")
			s.hedy.Says("#done")
		},
		want: "desk: Ada asks for a person.\nHelp!\ndesk: Help!\nAda: I ask the sales.\n" +
			"desk: Ada asks for a person.\nHelp!\ndesk: Help!\nAda: That is 20.\nAda: Bye Ada!\n",
	}}
}

func agentCommands() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, AssignmentDetails: livechat.AssignmentDetails{Summary: "Help!"}}
	})
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call)},
		{ID: "transfer", Tree: "agents", Trigger: botctx.TextIs("#sales"), Pre: botctx.Do(transfer)},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("#done"), Pre: botctx.Do(goodbye, archive, endLiveChat)},
	}
}

func transfer(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Label: "sales",
	})
	return err
}

func goodbye(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.SendMessageToInlet(ctx, livechat.SendMessageToInletParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel, Response: send.Template("Bye {{firstName}}!"),
	})
	return err
}

func archive(ctx context.Context, bot *botctx.Context) error {
	if bot.ChannelType() != channel.Charlie {
		return nil
	}
	_, err := bot.CharlieArchiveConversation(ctx, send.CharlieArchiveConversationParams{
		MessageEvent: bot.MessageEvent, Channel: bot.Channel,
	})
	return err
}

func endLiveChat(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.EndLiveChat(ctx, livechat.EndParams{MessageEvent: bot.MessageEvent, Channel: bot.Channel})
	return err
}

// counters are the patterns of what happens once, or is counted.
func counters() []pattern {
	return []pattern{
		{
			name: "coupon", nodes: coupon,
			prepare: func(s *stage) {
				s.AddData("coupons", document.O("code", "WINTER", "taken", true), document.O("code", "SPRING", "taken", false))
			},
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("coupon")
				bob.Says("coupon")
			},
			want: "Ada: Your code: SPRING\nBob: Sorry, all gone.\n",
		},
		{
			name: "double-click", nodes: doubleClick,
			talk: func(s *stage) {
				s.ada.Taps("PAY")
				s.ada.Taps("PAY")
				s.says("order")
				s.ada.Taps("PAY")
			},
			want: "Ada: Paid, thank you.\nAda: Paid, thank you.\n",
		},
		{
			name: "counter", nodes: counter,
			prepare: func(s *stage) { s.AddData("visits") },
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("home", "shop", "home")
				bob.Says("home")
			},
			want: "Ada: home: 1, by Ada\nAda: shop: 1, by Ada\nAda: home: 2, by Ada\nBob: home: 3, by Ada and Bob\n",
		},
	}
}

func coupon() []*botctx.Node {
	claim := func(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		taken, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "coupons", Filter: document.O("taken", false), Patch: document.Set("taken", true, "by", bot.Member.ID),
			SortBy: document.O("code", 1), Option: datasource.FindAndModifyOption{New: true},
		})
		if err != nil {
			return nil, err
		}
		if taken.Value == nil {
			return botctx.GoTo("none left")
		}
		bot.Member.Meta.Set("coupon", document.Get(taken.Value, "code", ""))
		return botctx.GoTo("claimed")
	}
	return []*botctx.Node{
		{ID: "coupon", Trigger: botctx.TextIs("coupon"), Redirect: botctx.ToOneOf(claim, "claimed", "none left")},
		{ID: "claimed", Responses: botctx.Say("Your code: {{meta.coupon}}")},
		{ID: "none left", Responses: botctx.Say("Sorry, all gone.")},
	}
}

func doubleClick() []*botctx.Node {
	pay := func(ctx context.Context, bot *botctx.Context) error {
		found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
			Filter: document.O("_id", bot.Member.ID, "meta.paid", document.O("$ne", true)),
			Patch:  document.Set("meta.paid", true),
		})
		if err != nil || found.Member == nil {
			return err
		}
		return bot.Reply(ctx, send.Text("Paid, thank you."))
	}
	nextOrder := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.PatchMembers(ctx, member.PatchParams{
			MemberID: bot.Member.ID, Patch: document.Unset("meta.paid"), WithModifier: true,
		})
		return err
	}
	return []*botctx.Node{
		{ID: "pay", Trigger: botctx.PayloadIs("PAY"), Pre: botctx.Do(pay)},
		{ID: "next order", Trigger: botctx.TextIs("order"), Pre: botctx.Do(nextOrder)},
	}
}

func counter() []*botctx.Node {
	count := func(ctx context.Context, bot *botctx.Context) error {
		found, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
			DataSourceID: "visits", Filter: document.O("page", bot.MessageEvent.Text()),
			Patch:  document.O("$inc", document.O("count", 1), "$push", document.O("by", bot.Member.FirstName)),
			Option: datasource.FindAndModifyOption{New: true, Upsert: true},
		})
		if err != nil {
			return err
		}
		visit, err := document.As[struct {
			Page  string   `json:"page"`
			Count int      `json:"count"`
			By    []string `json:"by"`
		}](*found.Value)
		if err != nil {
			return err
		}
		return reply(ctx, bot, fmt.Sprintf("%s: %d, by %s", visit.Page, visit.Count, strings.Join(slices.Compact(visit.By), " and ")))
	}
	return []*botctx.Node{{ID: "visit", Trigger: botctx.AnyText(), Pre: botctx.Do(count)}}
}

// flows are the patterns of which node comes next.
func flows() []pattern {
	return []pattern{
		{
			name: "redirect-with-meta", nodes: redirectWithMeta,
			talk: func(s *stage) { s.says("go", "go 100", "go 010", "go 001") },
			want: "Ada: before all\nAda: the node's response\nAda: after all at target\n" +
				"Ada: before 100\nAda: the node's response\nAda: after 001 at target\n",
		},
		{
			name: "office-hours", nodes: officeHours, needs: []string{"moment"},
			talk: func(s *stage) {
				for range 4 { // Each six hours, from midnight on: eight in the morning where the office is.
					s.says("help")
					s.Advance(6 * time.Hour)
				}
			},
			want: "Ada: We open at Thu 9:00.\nAda: One moment.\nAda: We open at Fri 9:00.\nAda: We open at Fri 9:00.\n",
		},
		{
			name: "fallback-and-mute", nodes: fallbackAndMute,
			talk: func(s *stage) { s.says("one", "menu", "mneu") },
			want: "Ada: Pardon?\nAda: Tea or coffee?\nAda: Pardon?\n",
		},
	}
}

func redirectWithMeta() []*botctx.Node {
	say := func(when string) botctx.Action {
		return func(ctx context.Context, bot *botctx.Context) error {
			text := when + " " + document.Get(bot.AgendaMeta, "word", "")
			if when == "after" {
				text += " at " + bot.Node.CompositeID
			}
			return reply(ctx, bot, text)
		}
	}
	return []*botctx.Node{
		{ID: "go", Trigger: botctx.TextMatches(regexp.MustCompile("^go")), Pre: botctx.Do(goThere)},
		{
			ID: "target", Entry: true, Pre: botctx.Do(say("before")), Responses: botctx.Say("the node's response"),
			Post: botctx.Do(say("after")),
		},
	}
}

func goThere(ctx context.Context, bot *botctx.Context) error {
	_, switches, _ := strings.Cut(bot.MessageEvent.Text(), " ")
	params := botctx.RedirectMemberToNodeParams{MemberID: bot.Member.ID, NodeCompositeID: "target", Meta: document.O("word", "all")}
	if switches != "" {
		params.Meta = document.O("word", switches)
		params.RedirectOptions = botctx.RedirectOptions{
			RunPreAction: new(switches[0] == '1'), SendResponse: new(switches[1] == '1'), RunPostAction: new(switches[2] == '1'),
		}
	}
	done, err := bot.RedirectMemberToNode(ctx, params)
	if err != nil {
		return err
	}
	results := document.A()
	for _, sent := range done.SendResults {
		results = results.Append(len(sent.Result))
	}
	bot.Member.Meta.Set("results", results)
	bot.Member.Meta.Set("ok", done.OK)
	return nil
}

func officeHours() []*botctx.Node {
	byTheHour := func(_ context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		now := bot.Now().In(time.FixedZone("", 8*60*60))
		year, month, day := now.Date()
		switch hour := now.Hour(); {
		case hour >= 9 && hour < 17:
			return botctx.GoTo("agent")
		case hour >= 17:
			day++
		}
		opens := time.Date(year, month, day, 9, 0, 0, 0, now.Location())
		bot.Member.BotMeta.Set("tempData.opens", opens.Format("Mon 3:04"))
		return botctx.GoTo("closed")
	}
	return []*botctx.Node{
		{ID: "help", Trigger: botctx.TextIs("help"), Redirect: botctx.ToOneOf(byTheHour, "agent", "closed")},
		{ID: "agent", Responses: botctx.Say("One moment.")},
		{ID: "closed", Responses: botctx.Say("We open at {{botMeta.tempData.opens}}.")},
	}
}

func fallbackAndMute() []*botctx.Node {
	log := func(_ context.Context, bot *botctx.Context) error {
		heard := document.Get(bot.Member.Meta, "heard", document.A()).Items()
		heard = append(heard, document.O("text", bot.MessageEvent.Text(), "at", document.TimestampOf(bot.Now())))
		bot.Member.Meta.Set("heard", document.A(heard[max(0, len(heard)-2):]...))
		return nil
	}
	return []*botctx.Node{
		{ID: "fallback", Trigger: botctx.AnyText(), Priority: botctx.FallbackPriority, Responses: botctx.Say("Pardon?")},
		{ID: "log", Trigger: botctx.AnyEvent(), Priority: botctx.MutePriority, Pre: botctx.Do(log)},
		{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?")},
	}
}
