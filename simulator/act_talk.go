package simulator

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// talkPlays are what members do, and agents who write.
func talkPlays() map[string]reader {
	return map[string]reader{
		"say":       of(say),
		"tap":       of(tap),
		"repeat":    of(repeat),
		"addMember": of(addMember),
	}
}

// sayWith is a text that a person writes.
type sayWith struct {
	Person string `json:"person"`
	Text   string `json:"text"`
}

func say(b *branch, with sayWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	if strings.TrimSpace(with.Text) == "" {
		return moment{}, boterr.Missing("text", "what %s says", by.name)
	}
	err = by.sends(b.platform, send.MessageEvent{Type: send.TypeText, Data: document.O("text", with.Text)})
	return moment{
		what: by.name + ": " + with.Text, by: by, said: said{text: with.Text}, err: err,
		plays: step{by: by, says: with.Text},
	}, nil
}

// tapWith is a button or a quick reply of a message, the one of a number from 0 among those that send
// something.
type tapWith struct {
	Person  string `json:"person"`
	Message string `json:"message"`
	Number  int    `json:"number"`
}

func tap(b *branch, with tapWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	if by.isAgent() {
		return moment{}, boterr.Invalid("person", "%s is an agent: members tap, and agents take tickets", by.name)
	}
	actor := by.actor.In(b.platform)
	all := actor.Tappables()
	offered := slices.DeleteFunc(slices.Clone(all), func(one fakes.Tappable) bool { return one.MessageID != with.Message })
	if with.Number < 0 || with.Number >= len(offered) {
		return moment{}, boterr.New(boterr.NotFound, "number", "is %d, which the message no longer shows", with.Number)
	}
	one := offered[with.Number]
	err = actor.TrySends(one.Event())
	return moment{
		what: by.name + " taps " + one.Title, by: by, said: said{text: one.Title, isTap: true}, err: err,
		plays: step{by: by, taps: &one, which: placeOf(one, all)},
	}, nil
}

// placeOf returns the place of something among what has its title, from 1 on.
func placeOf(one fakes.Tappable, among []fakes.Tappable) int {
	place := 0
	for _, other := range among {
		if other.Title != one.Title {
			continue
		}
		place++
		if other.MessageID == one.MessageID && document.Identical(other.Payload, one.Payload) {
			break
		}
	}
	return place
}

// personWith is who does something.
type personWith struct {
	Person string `json:"person"`
}

// repeat lets the platform of a person send her last message once more.
func repeat(b *branch, with personWith) (moment, error) {
	by, err := b.personOf(with.Person)
	if err != nil {
		return moment{}, err
	}
	if by.isAgent() {
		err = by.agent.In(b.platform).TrySaysAgain()
	} else {
		err = by.actor.In(b.platform).TrySaysAgain()
	}
	return moment{what: "The platform repeats what " + by.name + " sent last", by: by, err: err}, nil
}

// addMemberWith is a member to be added, on a channel that is there, or on a new one of a platform.
type addMemberWith struct {
	Name     string       `json:"name"`
	Channel  string       `json:"channel"`
	Platform channel.Type `json:"platform"`
}

func addMember(b *branch, with addMemberWith) (moment, error) {
	name := strings.TrimSpace(with.Name)
	if name == "" {
		return moment{}, boterr.Missing("name", "what the member is called")
	}
	was := b.now()
	m := moment{people: slices.Clone(was.people), channels: slices.Clone(was.channels)}
	given := member.Member{FirstName: name, Channel: with.Channel}
	if given.Channel == "" && with.Platform != "" {
		if !slices.Contains(channel.Types(), with.Platform) {
			return moment{}, boterr.Invalid("platform", "is %q: give one of %v", string(with.Platform), channel.Types())
		}
		given.Channel = b.platform.AddChannel(channel.Channel{Type: with.Platform}).ID
		m.channels = append(m.channels, given.Channel)
		m.plays.channel, m.plays.platform = given.Channel, with.Platform
	}
	added := ofActor(b.platform.AddMember(given))
	m.people = append(m.people, added)
	m.what, m.by, m.plays.added = name+" is new here", added, added
	return m, nil
}
