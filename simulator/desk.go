package simulator

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
)

// desk is the id of the simulator's own outlet channel.
const desk = "desk"

// openDesk gives a platform a desk where agents answer a channel.
func openDesk(p *fakes.Platform, inlet string) {
	p.AddChannel(channel.Channel{
		ID: desk, Type: channel.Charlie,
		PriorityGroups:  []channel.PriorityGroup{{Group: "everybody", Trees: []string{"agents"}}},
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support"}}}},
	})
	p.Pair(inlet, desk)
}
