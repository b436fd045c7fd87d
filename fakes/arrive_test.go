package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// customers are the members of a host, by their id on the platform.
type customers struct {
	member.Operations

	byExternalID map[string]*member.Member
}

// arrive makes a customer of who arrives.
func (c customers) arrive(_ context.Context, inbound botctx.Inbound) (*member.Member, error) {
	from := inbound.Event.From
	if c.byExternalID[from] == nil {
		made := inbound.Profile
		made.ID, made.App, made.Channel, made.ExternalID = "customer-"+from, inbound.App, inbound.Channel, from
		c.byExternalID[from] = &made
	}
	return c.byExternalID[from], nil
}

// GetMember implements member.Operations.
func (c customers) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	for _, known := range c.byExternalID {
		if known.ID == p.MemberID {
			return known, nil
		}
	}
	return nil, boterr.New(boterr.NotFound, "memberId", "there is no customer %s", p.MemberID)
}

func TestAddMember_OfAHostWithMembersOfItsOwn(t *testing.T) {
	t.Parallel()
	own := customers{byExternalID: map[string]*member.Member{}}
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Arrive = own.arrive
		c.Override = func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: own} }
	}))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada", ExternalID: "42"})
	require.Equal(t, "customer-42", ada.ID())
	require.Equal(t, "Ada", ada.Member().FirstName)
	ada.Says("hi")
	require.Equal(t, "Hello Ada, you said: hi", ada.Last())
	require.Len(t, own.byExternalID, 1, "who speaks is who was added")
}

// A host with channels and members of its own needs neither in the store.
func TestAddMember_OfAHostWithChannelsOfItsOwn(t *testing.T) {
	t.Parallel()
	own := customers{byExternalID: map[string]*member.Member{}}
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		c.Arrive = own.arrive
		c.LoadChannel = loadShop
		c.Override = func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: own} }
	}))
	p.HandleFunc(greet)
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"})
	require.Regexp(t, `^[0-9]+$`, ada.ExternalID(), "an id of the platform of the channel")
	ada.Says("hi")
	require.Equal(t, "Hello Ada, you said: hi", ada.Last())
}

// loadShop is the LoadChannel of a host that has one channel.
func loadShop(_ context.Context, app, id string) (*channel.Channel, error) {
	if id != "shop" {
		return nil, nil //nolint:nilnil // A host that says it this way is understood.
	}
	return &channel.Channel{ID: id, App: app, Type: channel.Bravo, On: true}, nil
}

func TestLoadChannel_KnowsTheChannelsOfTheHostAlone(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.runOn(func() {
		p := fakes.New(fakes.For(&tb), fakes.Config(func(c *botctx.Config) { c.LoadChannel = loadShop }))
		require.Equal(t, "Ada", p.AddMember(member.Member{FirstName: "Ada", Channel: "shop"}).Member().FirstName)
		p.AddChannel(channel.Channel{ID: "web"})
	})
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "fakes: AddChannel: the LoadChannel of Config: not found: there is no channel web here")
}

func TestAddMember_WhomTheHostDoesNotKnow(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.runOn(func() {
		p := fakes.New(fakes.For(&tb), fakes.Config(func(c *botctx.Config) {
			c.Override = func(record.Scope, botctx.Services) botctx.Services { return botctx.Services{Members: customers{}} }
		}))
		p.AddMember(member.Member{FirstName: "Ada"})
	})
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "set Arrive, which makes members")
}

func TestAddMember_OfAHostThatMakesNobody(t *testing.T) {
	t.Parallel()
	var tb recordedTB
	tb.runOn(func() {
		p := fakes.New(fakes.For(&tb), fakes.Config(func(c *botctx.Config) {
			c.Arrive = func(context.Context, botctx.Inbound) (*member.Member, error) { return nil, nil } //nolint:nilnil // That is the misuse.
		}))
		p.AddMember(member.Member{})
	})
	require.Len(t, tb.failures, 1)
	require.Contains(t, tb.failures[0], "the host's Arrive gave neither a member nor an error")
}
