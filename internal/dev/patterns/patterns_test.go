// Package patterns_test tests things that scripted bots often do. The scripts of each pattern are in a subfolder of
// bots. The conversation of a pattern runs once with records in memory and once with records in a file. Both times,
// the messages and the stored records must equal the pattern's file in testdata.
package patterns_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/scripttest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

// stage is the platform and the members for the conversation of a pattern.
type stage struct {
	*fakes.Platform

	t       *testing.T
	members []*fakes.Actor
	// ada writes to the bot. grace and hedy are agents of the channel "desk", if there is one.
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

// openDesk adds an outlet whose agents are Grace, for everything, and Hedy, for sales.
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

func (s *stage) ticketing() { s.openDesk(channel.Channel{Type: channel.Charlie}) }

// keeps sets a field in Ada's stored record.
func (s *stage) keeps(field string, value document.Object) {
	s.t.Helper()
	_, err := s.ada.Context().PatchMembers(s.t.Context(), member.PatchParams{MemberID: s.ada.ID(), Patch: document.O(field, value)})
	require.NoError(s.t, err)
}

// says has Ada write texts to the bot one after the other.
func (s *stage) says(texts ...string) {
	for _, text := range texts {
		s.ada.Says(text)
	}
}

// outcome returns the sent messages, the stored records and the graph of the nodes.
func (s *stage) outcome(nodes []*botctx.Node) string {
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
	graph, err := botctx.GraphOf(nodes...)
	require.NoError(s.t, err)
	s.print(&stored, "graph", graph)
	return said.String() + "\n" + stored.String()
}

// nameOf returns the name of a message's recipient.
func (s *stage) nameOf(sent fakes.Sent) string {
	for _, actor := range s.members {
		if actor.ID() == sent.Member {
			return actor.Added().FirstName
		}
	}
	return "desk"
}

// liveChats returns a member's requests for an agent.
func (s *stage) liveChats(actor *fakes.Actor) []*livechat.Assignment {
	s.t.Helper()
	found, err := actor.Context().GetAssignmentsByMemberID(s.t.Context(), livechat.GetAssignmentsByMemberIDParams{
		MemberID: actor.ID(), SortBy: document.O("createdAt", 1, "_id", 1),
	})
	require.NoError(s.t, err)
	return found
}

// print writes a value as JSON under a heading.
func (s *stage) print(into *strings.Builder, what string, value any) {
	s.t.Helper()
	text, err := json.MarshalIndent(value, "", " ")
	require.NoError(s.t, err)
	fmt.Fprintf(into, "%s: %s\n", what, text)
}

// pattern is something that real scripts often do.
type pattern struct {
	// name is the name of the pattern's folder and of its file in testdata.
	name string
	// needs are the npm packages that the scripts use.
	needs []string
	// prepare sets up the bot. It may add a member; by default, Ada writes on a webchat channel.
	prepare func(s *stage)
	// talk is the conversation.
	talk func(s *stage)
}

func patterns() []pattern {
	var all []pattern
	for _, some := range [][]pattern{answers(), tables(), counters(), agendas(), flows(), requests(), commands(), platforms()} {
		all = append(all, some...)
	}
	return all
}

// scripts returns a function that loads the nodes of a pattern. It loads them only once.
func scripts(p pattern) func(t *testing.T) []*botctx.Node {
	load := sync.OnceValues(func() ([]*botctx.Node, error) {
		return script.Load(os.DirFS(filepath.Join("bots", p.name)), onAnyMachine(script.Options{Modules: os.DirFS(packages)}))
	})
	return func(t *testing.T) []*botctx.Node {
		t.Helper()
		needPackages(t, p)
		nodes, err := load()
		require.NoError(t, err)
		return nodes
	}
}

// needPackages skips the test unless npm has installed the pattern's packages.
func needPackages(t *testing.T, p pattern) {
	t.Helper()
	for _, name := range p.needs {
		if _, err := os.Stat(filepath.Join(packages, "node_modules", name)); err != nil {
			t.Skipf("%s of npm is not there: run npm ci --ignore-scripts in script/testdata/npm", name)
		}
	}
}

// onAnyMachine returns options with time limits that no pattern reaches, even on a slow machine.
func onAnyMachine(options script.Options) script.Options {
	options.CacheDir, options.MaxBusy, options.Deadline = scripttest.CacheDir(), time.Hour, time.Hour
	return options
}

// packages is the folder whose node_modules the tests use.
const packages = "../../../script/testdata/npm"

// stores configure the stores for the records.
var stores = map[string]func(t *testing.T, c *botctx.Config){
	"in memory": func(*testing.T, *botctx.Config) {},
	"in a file": func(t *testing.T, c *botctx.Config) {
		t.Helper()
		store, err := sqlite.Open(filepath.Join(t.TempDir(), "records.db"), sqlite.WithNow(c.Now))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		c.Store = store
	},
}

var _ = flag.Bool("update", false, "write the files that tests compare with")

func TestPatterns_SayAndStore(t *testing.T) {
	t.Parallel()
	for _, p := range patterns() {
		load := scripts(p)
		for name := range stores {
			t.Run(path.Join(p.name, name), func(t *testing.T) {
				t.Parallel()
				s := newStage(t, stores[name])
				if p.prepare != nil {
					p.prepare(s)
				}
				nodes := load(t)
				s.Handle(nodes...)
				p.talk(s)
				golden.Compare(t, filepath.Join("testdata", p.name+".txt"), s.outcome(nodes))
			})
		}
	}
}

// Each folder must have a row in the table, and each row a folder.
func TestPatterns_EachFolderHasItsRow(t *testing.T) {
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

// commands are patterns for commands of agents to the bot.
func commands() []pattern {
	return []pattern{{
		name: "agent-commands", prepare: (*stage).ticketing,
		talk: func(s *stage) {
			s.says("agent")
			s.grace.Takes(s.grace.Ticket())
			s.grace.Says("I ask the sales.")
			s.grace.Says("#sales")
			s.hedy.Takes(s.hedy.Ticket())
			s.hedy.Says("That is 20.")
			s.hedy.Says("#done")
		},
	}}
}

// counters are patterns for events that happen once or are counted.
func counters() []pattern {
	return []pattern{
		{
			name: "coupon",
			prepare: func(s *stage) {
				s.AddData("coupons", document.O("code", "WINTER", "taken", true), document.O("code", "SPRING", "taken", false))
			},
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("coupon")
				bob.Says("coupon")
			},
		},
		{
			name: "double-click",
			talk: func(s *stage) {
				s.ada.Taps("PAY")
				s.ada.Taps("PAY")
				s.says("order")
				s.ada.Taps("PAY")
			},
		},
		{
			name:    "counter",
			prepare: func(s *stage) { s.AddData("visits") },
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("home", "shop", "home")
				bob.Says("home")
			},
		},
	}
}

// flows are patterns for choosing the next node.
func flows() []pattern {
	return []pattern{
		{
			name: "redirect-with-meta",
			talk: func(s *stage) { s.says("go", "go 100", "go 010", "go 001") },
		},
		{
			name: "office-hours", needs: []string{"moment"},
			talk: func(s *stage) {
				for range 4 { // every six hours from midnight; one of these is 8:00 at the office
					s.says("help")
					s.Advance(6 * time.Hour)
				}
			},
		},
		{
			name: "fallback-and-mute",
			talk: func(s *stage) { s.says("one", "menu", "mneu") },
		},
	}
}
