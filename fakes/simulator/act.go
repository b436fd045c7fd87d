package simulator

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// act is a request of a page: the body of a POST to "act".
type act struct {
	// Branch is the id of the branch to act in. The default is the first one.
	Branch string `json:"branch,omitempty"`
	// Do names the action, such as "say".
	Do string `json:"do"`
	// With holds the parameters by name.
	With json.RawMessage `json:"with,omitempty"`
}

// outcome is the answer to an act.
type outcome struct {
	// Revision is the revision of the World afterwards. Branch is the id of the branch to show then.
	Revision int64  `json:"revision"`
	Branch   string `json:"branch"`
	// Error is the bot's failure, or nil if there is none: the act was carried out all the same.
	Error *page.Problem `json:"error,omitempty"`
}

// play performs an action and returns its moment. If the action is refused, it returns an error, or panics as the
// platform does.
type play func(b *branch) (moment, error)

// reader reads the fields of an action.
type reader func(with json.RawMessage) (play, error)

// plays returns the actions on a platform, by name, each read from its fields.
func plays() map[string]reader {
	return map[string]reader{
		// Members, and agents who write.
		"say": ofPerson(say), "tap": ofPerson(tap), "repeat": ofPerson(repeat), "addMember": of(addMember),
		"joinGroup": ofPerson(joinGroup), "sendFile": ofPerson(sendFile), "sendEvent": ofPerson(sendEvent),
		// The desk.
		"take": of(take), "end": of(end), "addAgent": of(addAgent),
		// The time.
		"advance": of(advance), "advanceTo": of(advanceTo), "next": of(next),
		// Faults, and switched channels.
		"fault": of(fault), "switch": of(switchChannel),
		// The process of the bot, and dead letters.
		"crash": of(crash), "restart": of(restart), "retryDeadLetter": of(retryDeadLetter), "discardDeadLetter": of(discardDeadLetter),
	}
}

// of returns a reader of an action's fields.
func of[With any](do func(b *branch, with With) (moment, error)) reader {
	return func(raw json.RawMessage) (play, error) {
		var with With
		if len(raw) == 0 {
			raw = json.RawMessage("{}")
		}
		if err := page.Decode(bytes.NewReader(raw), &with); err != nil {
			return nil, boterr.PrefixField("with", err)
		}
		return func(b *branch) (moment, error) { return do(b, with) }, nil
	}
}

// ofPerson is of for the action of a person.
func ofPerson[With interface{ person() string }](do func(b *branch, by *session.Person, with With) (moment, error)) reader {
	return of(func(b *branch, with With) (moment, error) {
		by, err := b.personOf(with.person())
		if err != nil {
			return moment{}, err
		}
		return do(b, by, with)
	})
}

// moves returns the names of the actions on branches.
func moves() []string { return []string{"fork", "go", "close"} }

// move carries out an action on a branch. It adds no moment, and returns the id of the branch to be shown.
func (s *simulation) move(name string, b *branch, m move) (string, error) {
	switch name {
	case "fork":
		return s.fork(b, strings.TrimSpace(m.Name), m.Moment)
	case "go":
		return b.id, s.change(func() error { return b.goTo(m.Moment) })
	default:
		return s.close(b.id)
	}
}

type move struct {
	// Moment is the number of a moment. Name is the name of a fork.
	Moment int    `json:"moment"`
	Name   string `json:"name"`
}

func (s *simulation) act(ctx context.Context, asked act) (outcome, error) {
	if slices.Contains(moves(), asked.Do) {
		return s.actMove(ctx, asked)
	}
	read, isKnown := plays()[asked.Do]
	if !isKnown {
		return outcome{}, unknown(asked.Do, slices.Concat(slices.Collect(maps.Keys(plays())), moves()))
	}
	do, err := read(asked.With)
	if err != nil {
		return outcome{}, err
	}
	if err := s.takeTurn(ctx); err != nil {
		return outcome{}, err
	}
	defer s.giveTurn()
	s.look()
	on, err := s.begin(asked.Branch, asked.Do)
	if err != nil {
		return outcome{}, err
	}
	if err := s.play(on, do); err != nil {
		return outcome{}, err
	}
	revision, _ := s.state()
	return outcome{Revision: revision, Branch: on.id, Error: page.ProblemOf(on.now().err)}, nil
}

// actMove carries out actions on branches.
func (s *simulation) actMove(ctx context.Context, asked act) (outcome, error) {
	var with move
	if len(asked.With) > 0 {
		if err := page.Decode(bytes.NewReader(asked.With), &with); err != nil {
			return outcome{}, boterr.PrefixField("with", err)
		}
	}
	if err := s.takeTurn(ctx); err != nil {
		return outcome{}, err
	}
	defer s.giveTurn()
	on, err := s.find(asked.Branch)
	if err != nil {
		return outcome{}, err
	}
	shown, err := s.move(asked.Do, on, with)
	revision, _ := s.state()
	return outcome{Revision: revision, Branch: shown}, err
}

// find returns the branch with this id. Callers must not hold the mutex.
func (s *simulation) find(id string) (*branch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.branchOf(id)
}

func unknown(name string, among []string) error {
	slices.Sort(among)
	hint := "there are " + strings.Join(among, ", ")
	if near := nearest.To(name, among); near != "" {
		hint = "did you mean " + near + "?"
	}
	return boterr.Invalid("do", "is %q, which is not an action: %s", name, hint)
}

// agentOf returns the agent with an id, as a person and on the branch's platform.
func agentOf(b *branch, id string) (*session.Person, *fakes.Agent, error) {
	by, err := b.personOf(id)
	if err != nil {
		return nil, nil, err
	}
	if !by.IsAgent() {
		return nil, nil, boterr.Invalid("person", "%s is a member: only agents can do that", by.Name)
	}
	return by, by.Agent.In(b.Platform()), nil
}

// takeWith is a ticket that an agent takes, by the id of its message.
type takeWith struct {
	Person  string `json:"person"`
	Message string `json:"message"`
}

func take(b *branch, with takeWith) (moment, error) {
	by, agent, err := agentOf(b, with.Person)
	if err != nil {
		return moment{}, err
	}
	tickets := agent.Tickets()
	i := slices.IndexFunc(tickets, func(t fakes.Ticket) bool { return t.MessageID == with.Message })
	if i < 0 {
		return moment{}, boterr.New(boterr.NotFound, "message", "is not a ticket that %s can see", by.Name)
	}
	return b.does(conversation.Takes{By: by.Name, Ticket: i + 1}, moment{by: by})
}

func end(b *branch, with personWith) (moment, error) {
	by, _, err := agentOf(b, with.Person)
	if err != nil {
		return moment{}, err
	}
	return b.does(conversation.Ends{By: by.Name}, moment{by: by})
}

type addAgentWith struct {
	Name    string `json:"name"`
	Channel string `json:"channel"`
}

func addAgent(b *branch, with addAgentWith) (moment, error) {
	name := strings.TrimSpace(with.Name)
	if name == "" {
		return moment{}, boterr.Missing("name", "the agent's name")
	}
	m, err := b.does(conversation.AddAgent{Name: name, Channel: with.Channel}, moment{what: name + " is an agent at " + with.Channel})
	if err != nil {
		return moment{}, err
	}
	m.by = b.Person(name)
	return m, nil
}

type sayWith struct {
	personWith

	Text string `json:"text"`
}

func say(b *branch, by *session.Person, with sayWith) (moment, error) {
	if strings.TrimSpace(with.Text) == "" {
		return moment{}, boterr.Missing("text", "what %s says", by.Name)
	}
	return b.does(conversation.Says{By: by.Name, Text: with.Text}, moment{by: by, said: said{text: with.Text}})
}

// tapWith is a button or a quick reply of a message, by its number from 0 among those that send something.
type tapWith struct {
	personWith

	Message string `json:"message"`
	Number  int    `json:"number"`
}

func tap(b *branch, by *session.Person, with tapWith) (moment, error) {
	if by.IsAgent() {
		return moment{}, boterr.Invalid("person", "%s is an agent: members tap, and agents take tickets", by.Name)
	}
	offered := slices.DeleteFunc(by.Actor.In(b.Platform()).Tappables(), func(one fakes.Tappable) bool { return one.MessageID != with.Message })
	if with.Number < 0 || with.Number >= len(offered) {
		return moment{}, boterr.New(boterr.NotFound, "number", "is %d, which the message no longer shows", with.Number)
	}
	one := offered[with.Number]
	return b.does(b.Tap(by.Name, one),
		moment{by: by, said: said{text: one.Title, isTap: true}})
}

type personWith struct {
	Person string `json:"person"`
}

func (w personWith) person() string { return w.Person }

// repeat repeats a person's last message, as platforms sometimes do.
func repeat(b *branch, by *session.Person, _ personWith) (moment, error) {
	var err error
	if by.IsAgent() {
		err = by.Agent.In(b.Platform()).TrySaysAgain()
	} else {
		err = by.Actor.In(b.Platform()).TrySaysAgain()
	}
	return moment{what: "The platform repeats what " + by.Name + " sent last", by: by, err: err, isUnsaved: true}, nil
}

type addMemberWith struct {
	Name     string       `json:"name"`
	Channel  string       `json:"channel"`
	Platform channel.Type `json:"platform"`
}

func addMember(b *branch, with addMemberWith) (moment, error) {
	name := strings.TrimSpace(with.Name)
	if name == "" {
		return moment{}, boterr.Missing("name", "the member's name")
	}
	given, m := member.Member{Channel: with.Channel}, moment{what: name + " joins", channels: slices.Clone(b.now().channels)}
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
	m.by = b.Person(name)
	return m, nil
}

// addChannel adds a channel of a platform, and returns its id: the platform's name, with a number if it is
// taken.
func addChannel(b *branch, platform channel.Type) (string, error) {
	if !slices.Contains(channel.Types(), platform) {
		return "", boterr.Invalid("platform", "is %q: give one of %v", string(platform), channel.Types())
	}
	all, id := channelIDs(fakes.Observing(context.Background()), b), string(platform)
	for n := 2; slices.Contains(all, id); n++ {
		id = string(platform) + "-" + strconv.Itoa(n)
	}
	_, err := b.Stage.Do(conversation.AddChannel{ID: id, Type: platform})
	return id, err
}

// joinWith is a member who joins a group of their platform.
type joinWith struct {
	personWith

	Group string `json:"group"`
}

// joinGroup adds a member to a group. The member in the group is another person on the page.
func joinGroup(b *branch, by *session.Person, with joinWith) (moment, error) {
	group := strings.TrimSpace(with.Group)
	if group == "" {
		return moment{}, boterr.Missing("group", "the group's name")
	}
	on := b.toldChannel(fakes.Observing(context.Background()), by.Channel()).Platform
	if !by.IsAgent() && !slices.Contains(channel.InletGroups.Types(), on) {
		return moment{}, boterr.New(boterr.Unsupported, "person", "%s is on %s, which has no groups of members and a bot: use one of %v",
			by.Name, on, channel.InletGroups.Types())
	}
	m, err := b.does(conversation.JoinsGroup{By: by.Name, Group: group}, moment{})
	if err != nil {
		return moment{}, err
	}
	name := by.Name + " in " + group
	m.by = b.Person(name)
	return m, nil
}

// fileTypes are the types of the files that a person sends.
func fileTypes() []send.Type {
	return []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}
}

// fileWith is a file that a person sends: its type, and its address, from which a platform serves it.
type fileWith struct {
	personWith

	Type send.Type `json:"type"`
	URL  string    `json:"url"`
}

func sendFile(b *branch, by *session.Person, with fileWith) (moment, error) {
	url := strings.TrimSpace(with.URL)
	switch {
	case !slices.Contains(fileTypes(), with.Type):
		return moment{}, boterr.Invalid("type", "is %q: give one of %v", string(with.Type), fileTypes())
	case url == "":
		return moment{}, boterr.Missing("url", "the address of the file")
	}
	return b.does(conversation.Sends{By: by.Name, Event: send.MessageEvent{Type: with.Type, Data: document.O("url", url)}},
		moment{by: by, said: said{file: with.Type, url: url}})
}

// eventWith is any other event that a person's platform reports, such as a location.
type eventWith struct {
	personWith

	Type send.Type       `json:"type"`
	Data document.Object `json:"data"`
}

func sendEvent(b *branch, by *session.Person, with eventWith) (moment, error) {
	if with.Type == "" {
		return moment{}, boterr.Missing("type", "the type of the event, such as LOCATION")
	}
	return b.does(conversation.Sends{By: by.Name, Event: send.MessageEvent{Type: with.Type, Data: with.Data}},
		moment{by: by, said: said{file: with.Type, text: with.Data.String()}})
}
