package simulator

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

// talkPlays are what members do, and agents who write.
func talkPlays() map[string]reader {
	return map[string]reader{
		"say":       of(say),
		"tap":       of(tap),
		"repeat":    of(repeat),
		"addMember": of(addMember),
		"joinGroup": of(joinGroup),
		"sendFile":  of(sendFile),
		"sendEvent": of(sendEvent),
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
	return b.does(conversation.Says{By: by.name, Text: with.Text},
		moment{what: by.name + ": " + with.Text, by: by, said: said{text: with.Text}})
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
	return b.does(conversation.Taps{By: by.name, Title: one.Title, Which: placeOf(one, all)},
		moment{what: by.name + " taps " + one.Title, by: by, said: said{text: one.Title, isTap: true}})
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
	return moment{what: "The platform repeats what " + by.name + " sent last", by: by, err: err, isUnsaved: true}, nil
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
	given, m := member.Member{Channel: with.Channel}, moment{what: name + " is new here", channels: slices.Clone(b.now().channels)}
	if given.Channel == "" && with.Platform != "" {
		id, err := addChannel(b, with.Platform)
		if err != nil {
			return moment{}, err
		}
		given.Channel, m.channels = id, append(m.channels, id)
	}
	m, err := b.does(conversation.AddMember{Name: name, Member: given}, m)
	if err != nil {
		return moment{}, err
	}
	m.by = ofActor(b.stage.Actor(name), name)
	m.people = append(slices.Clone(b.people()), m.by)
	return m, nil
}

// addChannel adds a channel of a platform, and returns its id: that of the platform, with a number where
// there is one.
func addChannel(b *branch, platform channel.Type) (string, error) {
	if !slices.Contains(channel.Types(), platform) {
		return "", boterr.Invalid("platform", "is %q: give one of %v", string(platform), channel.Types())
	}
	all, id := channelIDs(fakes.Observing(context.Background()), b), string(platform)
	for n := 2; slices.Contains(all, id); n++ {
		id = string(platform) + "-" + strconv.Itoa(n)
	}
	_, err := b.stage.Do(conversation.AddChannel{ID: id, Type: platform})
	return id, err
}
