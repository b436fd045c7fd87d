package simulator

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// groupTypes are the platforms on which members and a bot are in groups.
func groupTypes() []channel.Type { return channel.InletGroups.Types() }

// joinWith is a member who joins a group of her platform.
type joinWith struct {
	Person string `json:"person"`
	Group  string `json:"group"`
}

// joinGroup lets a member join a group. Who she is there is another person on the page.
func joinGroup(b *branch, with joinWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	group := strings.TrimSpace(with.Group)
	if group == "" {
		return moment{}, boterr.Missing("group", "what the group is called")
	}
	on := b.toldChannel(fakes.Observing(context.Background()), by.channel()).Platform
	if !by.isAgent() && !slices.Contains(groupTypes(), on) {
		return moment{}, boterr.New(boterr.Unsupported, "person", "%s is on %s, where members and a bot are in no groups: there are on %v",
			by.name, on, groupTypes())
	}
	m, err := b.does(conversation.JoinsGroup{By: by.name, Group: group}, moment{what: by.name + " joins the group " + group})
	if err != nil {
		return moment{}, err
	}
	name := by.name + " in " + group
	m.by = ofActor(b.stage.Actor(name), name)
	m.people = append(slices.Clone(b.people()), m.by)
	return m, nil
}
