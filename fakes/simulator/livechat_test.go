package simulator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/member"
)

// inLiveChat opens a page on which Ada, who stands at the node "menu", talks with Grace.
func inLiveChat(t *testing.T) (p *tab, ada, grace string) {
	t.Helper()
	p = newTab(t, simulator.Simulator{},
		&botctx.Node{ID: "menu", SavesPosition: true, Global: botctx.GlobalInTree, Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?")})
	w := p.world()
	ada, grace = w.Members[0].ID, w.Agents[0].ID
	p.says("menu")
	p.says("a person")
	p.does("take", map[string]any{"person": grace, "message": p.world().Agents[0].Tickets[0].Message})
	return p, ada, grace
}

func TestChoices_TellWhoWrote(t *testing.T) {
	t.Parallel()
	p, ada, grace := inLiveChat(t)
	p.does("addAgent", map[string]any{"name": "Greg", "channel": "desk"})
	greg := p.world().Agents[1].ID
	p.says("It leaks.")
	p.does("say", map[string]any{"person": grace, "text": "Where?"})
	p.does("say", map[string]any{"person": greg, "text": "I am new here."})
	var by []string
	for _, one := range p.world().Choices {
		by = append(by, one.By)
	}
	require.Equal(t, []string{ada, ada, ada, grace, greg}, by)
	p.does("crash", nil)
	require.Equal(t, greg, p.world().Choices[4].By)
}

func TestChoices_TellThatTheMemberWasInALiveChat(t *testing.T) {
	t.Parallel()
	p, _, grace := inLiveChat(t)
	p.says("hi")
	p.does("end", map[string]any{"person": grace})
	p.says("hi")
	choices := p.world().Choices
	during, afterwards := choices[len(choices)-2], choices[len(choices)-1]
	require.Equal(t, botctx.AnswerLiveChat, during.Answer)
	require.True(t, during.IsInLiveChat)
	require.Equal(t, "menu", during.Position.CompositeID)
	require.Equal(t, "its tree is none of the live-chat tree", during.Lost)
	require.Equal(t, "hello", afterwards.Node.CompositeID)
	require.False(t, afterwards.IsInLiveChat)
}

// A member who asks for a person in private still talks with the bot in a group.
func TestWorld_ALiveChatIsWhereItWasAskedFor(t *testing.T) {
	t.Parallel()
	platform := fakes.New()
	platform.AddChannel(channel.Channel{ID: "chat", Type: channel.Delta})
	bob := platform.AddMember(member.Member{FirstName: "Bob", Channel: "chat"})
	conversation.OpenDesk(platform, "desk", bob)
	p := newTab(t, simulator.Simulator{Platform: platform, Members: []*fakes.Actor{bob}})
	p.does("joinGroup", map[string]any{"person": p.world().Members[0].ID, "group": "family"})
	for i, asks := range p.world().Members {
		p.does("go", map[string]any{"moment": 1})
		require.Nil(t, p.does("say", map[string]any{"person": asks.ID, "text": "a person"}).Error)
		w := p.world()
		require.Equal(t, []bool{i == 0, i == 1}, []bool{w.Members[0].IsInLiveChat, w.Members[1].IsInLiveChat})
		require.Equal(t, asks.ID, w.Choices[len(w.Choices)-1].By)
	}
}
