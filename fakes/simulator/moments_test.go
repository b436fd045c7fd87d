package simulator_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestAdvance_RunsWhatFallsDue(t *testing.T) {
	t.Parallel()
	for _, does := range []struct {
		do   string
		with map[string]any
	}{
		{"advance", map[string]any{"by": "24h"}},
		{"advanceTo", map[string]any{"to": fakes.Start().Add(24 * time.Hour)}},
		{"next", nil},
	} {
		p := newTab(t, simulator.Simulator{})
		p.says("remind me")
		p.does(does.do, does.with)
		require.Equal(t, "The kettle boils.", p.last().Text)
		w := p.world()
		require.Equal(t, fakes.Start().Add(24*time.Hour), w.Now)
		require.Equal(t, "1 day later", w.Moments[w.Current].What)
		require.Empty(t, w.Agendas)
	}
}

func TestAdvance_NotBeyondWhatCanBeTold(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	status := http.StatusOK
	for range 40 { // 292 years each.
		if status, _ = p.asks("advance", map[string]any{"by": "2562047h"}); status != http.StatusOK {
			break
		}
	}
	require.Equal(t, http.StatusBadRequest, status)
	require.NotEmpty(t, p.world().Members)
}

func TestAdvanceTo_TooFarIsRefused(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for _, to := range []string{"9998-01-01T00:00:00Z", "0001-01-01T00:00:00Z"} {
		status, text := p.asks("advanceTo", map[string]any{"to": to})
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, text, "to: is "+to[:4])
	}
}

func TestNext_NothingScheduledIsRefused(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	status, text := p.asks("next", nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, text, "nothing is scheduled")
}

func TestFault_OneCallFails(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.does("fault", map[string]any{"line": "The next upsertDataToDataSource fails: Conflict"})
	require.Equal(t, []string{"upsertDataToDataSource fails with Conflict"}, p.world().Faults.Planned)
	done := p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": "coupon"})
	require.Equal(t, boterr.Conflict, done.Error.Code)
	require.Empty(t, p.world().Faults.Planned)
	p.says("coupon")
}

func TestOutage_LastsUntilItEnds(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.does("fault", map[string]any{"line": "Out of service: messages to Ada"})
	require.Equal(t, []string{"messages to Ada"}, p.world().Faults.Out)
	require.NotNil(t, p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": "hi"}).Error)
	p.does("fault", map[string]any{"line": `Back in service: messages to "Ada"`})
	require.Empty(t, p.world().Faults.Out)
	p.says("hi")
}

func TestOutage_OfAServiceOrAChannel(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	for what, shown := range map[string]string{
		"the store": "the store", "channel " + p.world().Members[0].Channel: "the channel " + p.world().Members[0].Channel,
	} {
		p.does("fault", map[string]any{"line": "Out of service: " + what})
		require.Equal(t, []string{shown}, p.world().Faults.Out)
		require.NotNil(t, p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": "hi"}).Error, what)
		p.does("fault", map[string]any{"line": "Back in service: " + what})
		require.Empty(t, p.world().Faults.Out)
		p.says("hi")
	}
}

func TestCrash_NobodyAnswersUntilRestart(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.does("crash", nil)
	require.True(t, p.world().Faults.IsDown)
	require.NotNil(t, p.does("say", map[string]any{"person": p.world().Members[0].ID, "text": "hi"}).Error)
	p.does("restart", nil)
	require.False(t, p.world().Faults.IsDown)
	p.says("hi")
}

// After a crash or during an outage of the store, the page still shows channels and requests for a person.
func TestOutage_ThePageStaysAsItWas(t *testing.T) {
	t.Parallel()
	for _, plan := range []func(p *tab){
		func(p *tab) { p.does("crash", nil) },
		func(p *tab) { p.does("fault", map[string]any{"line": "Out of service: the store"}) },
		func(p *tab) {
			p.does("fault", map[string]any{"line": "The process crashes at the next upsertDataToDataSource"})
		},
	} {
		p := newTab(t, simulator.Simulator{})
		p.says("a person")
		p.does("addMember", map[string]any{"name": "Bob"})
		before := p.world()
		plan(p)
		require.NotNil(t, p.does("say", map[string]any{"person": before.Members[1].ID, "text": "coupon"}).Error)
		after := p.world()
		require.Nil(t, after.Problem)
		require.Equal(t, channel.Webchat, after.Members[0].Platform)
		require.Equal(t, channel.Charlie, after.Agents[0].Platform)
		require.Equal(t, before.Channels, after.Channels)
		require.Equal(t, before.Assignments, after.Assignments)
	}
}

// An outlet without an agent is found through the channel that it serves.
func TestOutage_ChannelsAreKnown(t *testing.T) {
	t.Parallel()
	platform := fakes.New()
	platform.AddChannel(channel.Channel{ID: "web"})
	platform.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie})
	platform.Pair("web", "desk")
	ada := platform.AddMember(member.Member{FirstName: "Ada", Channel: "web"})
	p := newTab(t, simulator.Simulator{Platform: platform, Members: []*fakes.Actor{ada}})
	p.does("crash", nil)
	p.does("fault", map[string]any{"line": "Out of service: channel desk"})
	p.does("fault", map[string]any{"line": "Back in service: channel desk"})
	p.does("switch", map[string]any{"channel": "desk", "on": false})
	p.does("switch", map[string]any{"channel": "desk", "on": true})
	require.Empty(t, p.world().Faults.Out)
}

func TestGo_BackAndForthUntilSomethingElseIsDone(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("coupon")
	p.says("hi")
	p.does("go", map[string]any{"moment": 0})
	w := p.world()
	require.Empty(t, w.Data)
	require.Empty(t, w.Members[0].Talk)
	require.Len(t, w.Moments, 3)

	p.does("go", map[string]any{"moment": 2})
	require.Equal(t, "Hello Ada!", p.last().Text)
	require.Len(t, p.world().Data, 1)

	p.does("go", map[string]any{"moment": 1})
	p.says("sure?")
	w = p.world()
	require.Len(t, w.Moments, 3)
	require.Equal(t, "Ada: sure?", w.Moments[2].What)
	require.Len(t, w.Members[0].Talk, 4)
}

func TestFork_GoesOnAlone(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("hi")
	done := p.does("fork", map[string]any{"moment": 1, "name": "what if"})
	fork := &tab{t: t, server: p.server, branch: done.Branch}
	fork.says("coupon")
	require.Equal(t, "Kept.", fork.last().Text)
	require.Equal(t, "Hello Ada!", p.last().Text)
	require.Empty(t, p.world().Data)
	require.Equal(t, "what if", p.world().Branches[1].Name)

	require.Equal(t, "main", fork.does("close", nil).Branch)
	require.Len(t, p.world().Branches, 1)
	status, _ := p.asks("close", nil)
	require.Equal(t, http.StatusConflict, status)
}

func TestGo_StoreOfOnesOwnStays(t *testing.T) {
	t.Parallel()
	platform := fakes.New(fakes.Config(withOwnStore))
	ada := platform.AddMember(member.Member{FirstName: "Ada"})
	p := newTab(t, simulator.Simulator{Platform: platform, Members: []*fakes.Actor{ada}})
	p.says("hi")
	require.False(t, p.world().Moments[0].IsKept)
	status, text := p.asks("go", map[string]any{"moment": 0})
	require.Equal(t, http.StatusConflict, status, text)
	require.Equal(t, "Hello Ada!", p.last().Text)
}

// ownStore is a store that the platform does not know how to copy.
type ownStore struct{ *memstore.Store }

func withOwnStore(c *botctx.Config) { c.Store = ownStore{memstore.New(memstore.WithNow(c.Now))} }

func TestAct_MisuseChangesNothing(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	before := p.world()
	for do, with := range map[string]map[string]any{
		"say":             {"person": "nobody", "text": "hi"},
		"tap":             {"person": before.Members[0].ID, "message": "none", "number": 0},
		"take":            {"person": before.Members[0].ID, "message": "none"},
		"end":             {"person": "nobody"},
		"addMember":       {"name": "Bob", "channel": "none"},
		"addAgent":        {"name": "Bob", "channel": "none"},
		"advance":         {"by": "soon"},
		"fault":           {"line": "The next noSuch fails: Conflict"},
		"retryDeadLetter": {"id": "none"},
		"go":              {"moment": 7},
		"fork":            {"moment": -1},
		"dance":           nil,
	} {
		status, text := p.asks(do, with)
		require.GreaterOrEqual(t, status, http.StatusBadRequest, do)
		require.Less(t, status, http.StatusInternalServerError, do)
		require.Contains(t, text, `"message":"`, do)
		require.NotContains(t, text, `"Internal"`, do)
	}
	for _, line := range []string{
		"", "Ada: hi", "1 day later", "The next getMember is 0s late", "Out of service: channel none", "Out of service: none",
		"The next mail fails: Broken", "The next charge of bank is declined: x", "The next message comes twice\nThe next message comes twice",
	} {
		status, text := p.asks("fault", map[string]any{"line": line})
		require.GreaterOrEqual(t, status, http.StatusBadRequest, line)
		require.Less(t, status, http.StatusInternalServerError, line)
		require.Contains(t, text, `"message":"`, line)
	}
	after := p.world()
	require.Equal(t, before.Moments, after.Moments)
	require.Equal(t, before.Members, after.Members)
	p.says("hi")
}

// Another tab may have closed the branch.
func TestAct_InAClosedBranch(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	closed := &tab{t: t, server: p.server, branch: "fork-1"}
	status, _ := closed.asks("say", map[string]any{"person": p.world().Members[0].ID, "text": "hi"})
	require.Equal(t, http.StatusNotFound, status)
	require.Empty(t, p.world().Busy)
	status, text, _ := p.get("/saved?form=text")
	require.Equal(t, http.StatusOK, status, text)
}
