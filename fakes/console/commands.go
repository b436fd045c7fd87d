package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/member"
)

// command is what a line that begins with / asks for.
type command struct {
	// argument is what may follow, "" where nothing may. One in brackets may be left out.
	argument, help string
	do             func(s *session, argument string) error
	// choices returns what the argument may be, nil where that is not known.
	choices func(s *session) []string
}

// commands returns all commands by their names.
func commands() map[string]command {
	return map[string]command{
		"as":      {"NAME", "speak as a member, who is made where nobody has the name", (*session).speakAs, (*session).memberNames},
		"tap":     {"[NUMBER or TITLE]", "tap a button, of older messages too; alone it lists them", (*session).tapAny, (*session).titles},
		"say":     {"TEXT", "say a text that would be taken for a choice or a command", (*session).sayAsItIs, nil},
		"advance": {"TIME", "let time pass, as in 24h, 2d or 1h30m: what falls due runs", (*session).advance, nil},
		"agent":   {"[NAME]", "sit as an agent, and list the open tickets", (*session).sitAsAgent, (*session).agentNames},
		"take":    {"[NUMBER]", "as an agent, take a ticket: the newest one", (*session).take, nil},
		"end":     {"", "as an agent, end the live chat", (*session).end, nil},
		"data":    {"[SOURCE]", "list the data sources, or what is in one", (*session).data, (*session).sources},
		"state":   {"", "the member, the position, agendas, requests for a person", (*session).state, nil},
		"why":     {"", "what answered the last event and why, or what each node refused", (*session).why, nil},
		"save":    {"FILE", "write the conversation as a Go test, or in a file that ends in .chat as one", (*session).save, nil},
		"help":    {"", "list the commands", (*session).help, nil},
		"quit":    {"", "end, as Ctrl-D and Ctrl-C do", (*session).quit, nil},
	}
}

// obey does what a command says.
func (s *session) obey(line string) {
	name, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	if s.isEchoing {
		s.screen.block("", plain, "/"+line, plain)
	}
	if err := guarded(func() error { return s.run(strings.ToLower(name), argument) }); err != nil {
		s.fail(err)
	}
}

// run runs a command.
func (s *session) run(name, argument string) error {
	all := commands()
	found, isKnown := all[name]
	switch {
	case !isKnown:
		return unknown(name, slices.Sorted(maps.Keys(all)))
	case argument == "" && found.argument != "" && !strings.HasPrefix(found.argument, "["):
		return fmt.Errorf("/%s needs %s: %s", name, found.argument, found.help)
	case argument != "" && found.argument == "":
		return fmt.Errorf("/%s takes nothing behind it: %s", name, found.help)
	default:
		return found.do(s, argument)
	}
}

// unknown is the error for a command that is none.
func unknown(name string, among []string) error {
	hint := "/help lists the commands"
	if near := nearest.To(name, among); near != "" {
		hint = "perhaps /" + near + " is meant"
	}
	return fmt.Errorf("there is no command /%s: %s, and //%s says it to the bot", name, hint, name)
}

func (s *session) help(string) error {
	all := commands()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		usage := strings.TrimRight("/"+name+" "+all[name].argument, " ")
		s.screen.block(fmt.Sprintf("   %-24s ", usage), ofNote, all[name].help, plain)
	}
	s.screen.notef("All else is said to the bot, but for the number or the title of what the last answer offers.")
	return nil
}

func (s *session) quit(string) error {
	s.isOver = true
	return nil
}

// speakAs lets a member speak, who is made where there is none of the name.
func (s *session) speakAs(name string) error {
	found := s.find(name, isMember)
	if found == nil && s.find(name, isAgent) != nil {
		return fmt.Errorf("%s is an agent: /agent %s speaks as one", name, name)
	}
	if found == nil {
		channel := s.people[0].actor.Added().Channel
		if s.seat.actor != nil {
			channel = s.seat.actor.Added().Channel
		}
		found = s.addActor(s.platform.AddMember(member.Member{FirstName: name, Channel: channel}))
		s.screen.notef("%s is new here.", name)
	}
	s.seat = found
	return nil
}

// sayAsItIs says a text whatever it looks like.
func (s *session) sayAsItIs(text string) error {
	s.say(text)
	return nil
}

// tapAny taps what any message has to tap, or lists that.
func (s *session) tapAny(argument string) error {
	if err := s.onlyMembers(); err != nil {
		return err
	}
	offers := s.seat.actor.Tappables()
	if len(offers) == 0 {
		return fmt.Errorf("%s is shown nothing that can be tapped", s.seat.name)
	}
	if argument == "" {
		for i, one := range offers {
			s.screen.notef("%s", numbered(i+1, one.Title))
		}
		return nil
	}
	i := chosen(argument, offers)
	if i < 0 {
		return fmt.Errorf("there is nothing of the number or the title %q to tap: /tap lists what there is", argument)
	}
	s.tap(offers[i])
	return nil
}

// complete returns what a line may go on as.
func (s *session) complete(line string) []string {
	typed, isCommand := strings.CutPrefix(line, "/")
	if !isCommand {
		return beginning("", line, titlesOf(s.seat.offers))
	}
	all := commands()
	name, argument, hasArgument := strings.Cut(typed, " ")
	if !hasArgument {
		return beginning("/", typed, slices.Sorted(maps.Keys(all)))
	}
	if choices := all[name].choices; choices != nil {
		return beginning("/"+name+" ", argument, choices(s))
	}
	return nil
}

// beginning returns those of several texts that begin as what is typed, in upper or lower case, behind a
// prefix. A text with what would control a terminal is left out.
func beginning(prefix, typed string, among []string) []string {
	var found []string
	for _, one := range among {
		isSafe := one == oneLine(one) // An editor of lines writes it as it is.
		if isSafe && len(one) >= len(typed) && strings.EqualFold(one[:len(typed)], typed) {
			found = append(found, prefix+one)
		}
	}
	return found
}
