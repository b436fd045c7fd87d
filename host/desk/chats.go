package desk

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// agentGroup is the type of a broadcast group that is a single agent.
const agentGroup = "agent"

// The limits of what agents write.
const (
	maxNote         = 4000
	maxKey          = 100
	maxQuickReplies = 10
	maxTitle        = 80
)

// chat is the chat in a request's path, with the agent who made the request.
type chat struct {
	*livechat.AssignmentRecord

	agent *Agent
}

// chat returns the chat in a request's path. NotFound: the agent does not see the app, or there is no such chat.
func (p *pages) chat(c *call) (chat, error) {
	app, err := c.app()
	if err != nil {
		return chat{}, err
	}
	r, err := p.request(c.Context(), app, c.PathValue("id"))
	return chat{r, c.agent}, err
}

// mine is like chat, but returns an error unless the agent has the chat and can write in it.
func (p *pages) mine(c *call) (chat, error) {
	of, err := p.chat(c)
	switch {
	case err != nil:
		return of, err
	case of.State() == livechat.Ended:
		return of, boterr.New(boterr.FailedPrecondition, "id", "this chat is over; no one reads what you write here")
	case of.Assignee != c.agent.ID:
		return of, boterr.New(boterr.FailedPrecondition, "id", "you do not have this chat; take it first")
	case chatOf(of.AssignmentRecord) == "":
		return of, boterr.New(boterr.Conflict, "id", "the chat is being opened; try again in a second")
	}
	return of, nil
}

// log returns the chat's conversation in the log of messages.
func (c chat) log() chatlog.Conversation {
	return chatlog.Conversation{App: c.App, Channel: channelOf(c.AssignmentRecord), ID: chatOf(c.AssignmentRecord)}
}

// take gives a request to the agent, as a tap on its ticket does.
func (p *pages) take(c *call, of chat, _ nothing) (any, error) {
	if of.State() == livechat.Pending {
		if err := p.requireRoom(c.Context(), c.agent); err != nil {
			return nil, err
		}
	}
	payload, err := p.payloadOf(c.Context(), of)
	if err != nil {
		return nil, err
	}
	in := channelOf(of.AssignmentRecord)
	ctx := context.WithValue(context.WithoutCancel(c.Context()), tapping{}, c.agent.ID)
	err = p.runtime.Receive(ctx, botctx.Inbound{
		App: of.App, Channel: in, Profile: profileOf(c.agent),
		Event: send.MessageEvent{
			From: c.agent.ID, To: in, Type: send.TypePayload, Data: document.O("payload", payload), Timestamp: p.desk.now(),
		},
	})
	p.desk.hub.wake()
	if late, isLate := errors.AsType[*livechat.TooLateError](err); isLate {
		return nil, tooLate(late)
	}
	if err != nil && !p.isTaken(ctx, of, err) {
		return nil, boterr.WithField("id", err)
	}
	return p.afterTake(ctx, of)
}

// isTaken reports whether the agent has the chat although a part of the take has failed, such as the text on another
// outlet's ticket. It logs the failure.
func (p *pages) isTaken(ctx context.Context, of chat, failed error) bool {
	now, err := p.request(ctx, of.App, of.ID)
	if err != nil || now.Assignee != of.agent.ID || chatOf(now) == "" {
		return false
	}
	p.desk.warn(ctx, "desk: a chat was taken only in part", failed)
	return true
}

// afterTake returns the row of a chat after the agent's tap. It returns an error if the agent does not have the
// chat: the bot's own nodes may have answered the tap.
func (p *pages) afterTake(ctx context.Context, of chat) (any, error) {
	now, err := p.request(ctx, of.App, of.ID)
	switch {
	case err != nil:
		return nil, err
	case now.Assignee == "":
		return nil, boterr.New(boterr.FailedPrecondition, "id",
			"the bot answered the tap, and no one has the chat; see the nodes of the desk's channel")
	case now.Assignee != of.agent.ID:
		return nil, tooLate(&livechat.TooLateError{Assignment: &now.Assignment, AdminName: now.Assignee})
	}
	return p.rowNow(ctx, now)
}

// tooLate is the error for an agent who took a chat too late.
func tooLate(late *livechat.TooLateError) error {
	if late.AdminName == "" {
		return boterr.New(boterr.Conflict, "id", "this request is over")
	}
	return boterr.New(boterr.Conflict, "id", "%s took it first", late.AdminName)
}

// requireRoom returns an error if an agent already has the maximum number of chats.
func (p *pages) requireRoom(ctx context.Context, agent *Agent) error {
	if agent.MaxChats < 0 {
		return nil
	}
	has := 0
	for _, app := range agent.Apps {
		found, err := p.desk.requests(ctx, app, record.Query{
			Filter: document.O("assignee", document.O("$eq", agent.ID), "endedAt", nil, "tickets.type", string(Type)),
			Limit:  int64(agent.MaxChats),
		})
		if err != nil {
			return err
		}
		has += len(ofDesk(found))
	}
	if has >= agent.MaxChats {
		return boterr.New(boterr.FailedPrecondition, "id", "you have %d chats, as many as you may have; end one first", has)
	}
	return nil
}

// payloadOf returns the payload of the button that takes a request: from its ticket, or the usual one.
func (p *pages) payloadOf(ctx context.Context, of chat) (document.Object, error) {
	for _, ticket := range of.Tickets {
		if ticket.Type != Type || ticket.MessageID == "" {
			continue
		}
		stored, err := p.desk.tickets(of.App).Get(ctx, idOf(of.App, ticket.Channel, ticket.Group.ID, ticket.MessageID))
		if boterr.CodeOf(err) == boterr.NotFound {
			continue
		}
		if err != nil {
			return document.Object{}, err
		}
		if found, has := tapIn(send.Raw(document.Get(stored, fieldResponse, document.O()))); has && found.value == of.ID {
			return document.O("payload", found.payload, "value", found.value), nil
		}
	}
	return document.O("payload", livechat.TakePayload, "value", of.ID), nil
}

// profileOf returns the agent's profile for the bot.
func profileOf(agent *Agent) member.Member { return member.Member{FirstName: agent.Name} }

// message is a message of an agent.
type message struct {
	// Key identifies the message for repetitions.
	Key  string `json:"key"`
	Text string `json:"text"`
	// QuickReplies are the titles of quick replies below the text.
	QuickReplies []string `json:"quickReplies"`
	// File is a file that was uploaded before.
	File *file `json:"file"`
}

// checkText returns an error for a text that is missing or longer than most.
func checkText(text string, most int) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(text) == "":
		return boterr.Invalid("text", "is missing: write something")
	case n > most:
		return boterr.Invalid("text", "is %d characters long; the limit is %d", n, most)
	}
	return nil
}

func checkKey(key string) error {
	if key == "" || len(key) > maxKey {
		return boterr.Invalid("key", "has %d bytes; give a new text of 1 to %d for each message", len(key), maxKey)
	}
	return nil
}

// response returns the message for the member.
func (m message) response() (send.Response, error) {
	if err := checkKey(m.Key); err != nil {
		return send.Response{}, err
	}
	if m.File != nil {
		return m.File.response()
	}
	if err := checkText(m.Text, send.MaxText); err != nil || len(m.QuickReplies) == 0 {
		return send.Text(m.Text), err
	}
	if len(m.QuickReplies) > maxQuickReplies {
		return send.Response{}, boterr.Invalid("quickReplies", "are %d; the limit is %d", len(m.QuickReplies), maxQuickReplies)
	}
	replies := make([]send.QuickReply, len(m.QuickReplies))
	for i, title := range m.QuickReplies {
		if err := checkText(title, maxTitle); err != nil {
			return send.Response{}, boterr.WithField("quickReplies"+boterr.Index(i), err)
		}
		replies[i] = send.QuickReply{Title: title, Payload: title}
	}
	response := send.QuickReplies(m.Text, replies...)
	return response, response.Validate()
}

// say hands a message of the agent to the bot, as an event of the conversation. The live chat sends it to the member.
func (p *pages) say(c *call, of chat, asked message) (any, error) {
	response, err := asked.response()
	if err != nil {
		return nil, err
	}
	if asked.File != nil {
		if err := p.requireUploaded(c.Context(), of, asked.File); err != nil {
			return nil, err
		}
	}
	data, err := p.signed(c.Context(), of, response)
	if err != nil {
		return nil, err
	}
	ctx, key := context.WithoutCancel(c.Context()), "agent "+idOf(c.agent.ID)+" "+asked.Key
	body := response.Object()
	err = p.runtime.Accept(ctx, botctx.Inbound{
		App: of.App, Channel: of.log().Channel, Key: of.log().ID + " " + key, Profile: profileOf(c.agent),
		Event: send.MessageEvent{
			From: c.agent.ID, To: of.log().ID, Type: response.Type(), Data: data, Timestamp: p.desk.now(), MessageID: key,
		},
	})
	if err != nil {
		return nil, err
	}
	_ = p.desk.chats.StopTyping(ctx, of.log(), typistKey(c.agent)) // If this fails, the mark soon expires.
	return p.write(ctx, of, chatlog.Entry{
		Key: key, From: fromAgent, Name: c.agent.Name, Body: document.O(fieldResponse, body, fieldAgent, c.agent.ID),
	})
}

// signed returns the data of an agent's message, with the agent's name for a member on a web page.
func (p *pages) signed(ctx context.Context, of chat, response send.Response) (document.Object, error) {
	data := response.Object().Without("type")
	in, err := p.channel(ctx, of.App, of.Inlet)
	if err != nil || in.Type != channel.Webchat {
		return data, err
	}
	return data.With("sender", document.O("name", of.agent.Name)), nil
}

// fieldAgent is the field with the id of the agent who wrote an entry.
const fieldAgent = "agent"

// write adds an entry to a chat, and returns it as the page shows it.
func (p *pages) write(ctx context.Context, to chat, e chatlog.Entry) (any, error) {
	stored, _, err := p.desk.chats.Append(ctx, to.log(), e)
	if err != nil {
		return nil, err
	}
	p.desk.hub.wake()
	return entryOf(stored), nil
}

// note adds a note to a chat, for agents only. An agent who does not have the chat may write one, too.
func (p *pages) note(c *call, of chat, asked struct {
	Key  string `json:"key"`
	Text string `json:"text"`
},
) (any, error) {
	if err := errors.Join(checkKey(asked.Key), checkText(asked.Text, maxNote)); err != nil {
		return nil, err
	}
	if chatOf(of.AssignmentRecord) == "" {
		return nil, boterr.New(boterr.FailedPrecondition, "id", "no one has taken this request; take it to write a note")
	}
	return p.write(context.WithoutCancel(c.Context()), of, noteBy(c.agent, asked.Key, asked.Text))
}

func noteBy(agent *Agent, key, text string) chatlog.Entry {
	return chatlog.Entry{
		Key: "note " + idOf(agent.ID) + " " + key, From: fromNote, Name: agent.Name,
		Body: document.O(fieldText, text, fieldAgent, agent.ID),
	}
}

// typistKey returns the key under which an agent is shown as typing.
func typistKey(agent *Agent) string { return "agent " + agent.ID }

// typing shows other agents that the agent is typing. Unless the agent types a note, the member sees it, too.
func (p *pages) typing(c *call, of chat, asked struct {
	IsNote bool `json:"isNote"`
},
) (any, error) {
	if chatOf(of.AssignmentRecord) == "" || of.State() == livechat.Ended {
		return nothing{}, nil
	}
	from := fromAgent
	if asked.IsNote {
		from = fromNote
	}
	err := p.desk.chats.SetTyping(c.Context(), of.log(), chatlog.Typist{Key: typistKey(c.agent), From: from, Name: c.agent.Name})
	if err != nil {
		return nil, err
	}
	p.desk.hub.wake()
	if !asked.IsNote && of.Assignee == c.agent.ID {
		typing := send.Typing(chatlog.TypingTime)
		if data, err := p.signed(c.Context(), of, typing); err == nil {
			typing = send.Other(send.TypeTyping, data)
		}
		// Platforms without typing refuse this. The error does not matter.
		_, _ = p.operations(of).SendMessageToInlet(c.Context(), livechat.SendMessageToInletParams{
			MessageEvent: of.event(), Response: typing,
		})
	}
	return nothing{}, nil
}

// operations returns the operations in the chat's channel.
func (p *pages) operations(of chat) *botctx.Context {
	return p.runtime.Operations(botctx.Scope{App: of.App, Channel: channelOf(of.AssignmentRecord)})
}

// event returns an event in the chat's conversation, by which operations find it.
func (c chat) event() *send.MessageEvent {
	return &send.MessageEvent{From: c.agent.ID, To: chatOf(c.AssignmentRecord), Type: send.TypeText}
}

// read stores the number of the newest entry that the agent of the chat has read. Calls by other agents do nothing.
func (p *pages) read(c *call, of chat, asked struct {
	Seq int64 `json:"seq"`
},
) (any, error) {
	if of.Assignee != c.agent.ID || chatOf(of.AssignmentRecord) == "" {
		return nothing{}, nil
	}
	newest, err := p.desk.chats.Newest(c.Context(), of.log())
	if err == nil {
		err = p.desk.chats.SetMark(c.Context(), of.log(), "read", min(asked.Seq, newest))
	}
	p.desk.hub.wake()
	return nothing{}, err
}

// handOver makes the chat a request to a team or to another agent.
func (p *pages) handOver(c *call, of chat, asked struct {
	Team  string `json:"team"`
	Agent string `json:"agent"`
	Note  string `json:"note"`
},
) (any, error) {
	if (asked.Team == "") == (asked.Agent == "") {
		return nil, boterr.Invalid("team", "or agent must be given, but not both")
	}
	if asked.Note != "" {
		if err := checkText(asked.Note, maxNote); err != nil {
			return nil, boterr.WithField("note", err)
		}
	}
	to, err := p.receiver(c.Context(), of, asked.Team, asked.Agent)
	if err != nil {
		return nil, err
	}
	return p.passOn(c, of, []livechat.Target{to}, asked.Note)
}

// receiver returns the target of a hand-over.
func (p *pages) receiver(ctx context.Context, of chat, teamID, agentID string) (livechat.Target, error) {
	in := channelOf(of.AssignmentRecord)
	to := channel.BroadcastGroupMember{Type: agentGroup, ID: agentID}
	if agentID == of.agent.ID {
		return livechat.Target{}, boterr.Invalid("agent", "is you: you have the chat already")
	}
	if agentID != "" {
		isAgent, err := p.desk.hasAgent(ctx, of.App, agentID)
		if err == nil && !isAgent {
			err = boterr.New(boterr.NotFound, "agent", "the app has no agent %q", agentID)
		}
		return livechat.Target{Channel: in, BroadcastGroups: []channel.BroadcastGroupMember{to}}, err
	}
	shown, err := p.appView(ctx, of.App)
	if err != nil {
		return livechat.Target{}, err
	}
	for _, one := range shown.Teams {
		if one.ID == teamID {
			to = channel.BroadcastGroupMember{Type: "team", ID: teamID}
			return livechat.Target{Channel: one.Channel, Label: one.Label, BroadcastGroups: []channel.BroadcastGroupMember{to}}, nil
		}
	}
	return livechat.Target{}, boterr.New(boterr.NotFound, "team", "the app has no team %q", teamID)
}

// giveBack makes the chat a request to the teams that it came from.
func (p *pages) giveBack(c *call, of chat, _ nothing) (any, error) {
	targets, err := p.teamsBefore(c.Context(), of.AssignmentRecord)
	if err != nil {
		return nil, err
	}
	return p.passOn(c, of, targets, "")
}

// maxParents is the number of earlier hand-overs of a chat that are examined.
const maxParents = 20

// teamsBefore returns the last targets of a chat that are not a single agent.
func (p *pages) teamsBefore(ctx context.Context, r *livechat.AssignmentRecord) ([]livechat.Target, error) {
	for range maxParents {
		for _, target := range r.Targets {
			for _, group := range target.BroadcastGroups {
				if group.Type != agentGroup {
					return r.Targets, nil
				}
			}
		}
		if r.ParentAssignment == "" {
			break
		}
		parent, err := p.request(ctx, r.App, r.ParentAssignment)
		if boterr.CodeOf(err) == boterr.NotFound {
			break
		}
		if err != nil {
			return nil, err
		}
		r = parent
	}
	return nil, nil // Without targets, the label decides.
}

// passOn makes a chat a request again. The note is for the next agent.
func (p *pages) passOn(c *call, of chat, targets []livechat.Target, note string) (any, error) {
	ctx := context.WithoutCancel(c.Context())
	if note != "" {
		// A repeated call writes the same note once.
		if _, err := p.write(ctx, of, noteBy(c.agent, "handed over "+idOf(note), note)); err != nil {
			return nil, err
		}
	}
	params := livechat.ReassignAssignmentParams{
		PreviousAssignment: &livechat.Assignment{ID: of.ID}, Targets: targets, Label: of.Label,
	}
	if len(targets) > 0 && targets[0].Label != "" {
		params.Label = targets[0].Label
	}
	next, err := p.operations(of).ReassignAssignment(ctx, params)
	p.desk.hub.wake()
	unsent, isUnsent := errors.AsType[*livechat.UnsentError](err)
	switch {
	case isUnsent && unsent.IsOpen:
		p.desk.warn(ctx, "desk: a chat was handed over without some of its targets", err)
		next.AssignmentID, err = unsent.AssignmentID, nil
	case isUnsent && unsent.AssignmentID == "": // All targets refuse it for good.
		err = boterr.New(boterr.FailedPrecondition, "id", "no one can take the chat, and you still have it: %w", unsent)
	}
	if err != nil {
		return nil, err
	}
	return map[string]string{"id": next.AssignmentID}, p.tell(ctx, of, "handed over")
}

// tell adds a line about the chat itself, such as its end.
func (p *pages) tell(ctx context.Context, of chat, what string) error {
	_, err := p.write(ctx, of, chatlog.Entry{
		Key: what, From: fromDesk, Name: of.agent.Name, Body: document.O(fieldText, what, fieldAgent, of.agent.ID),
	})
	return err
}

func (p *pages) end(c *call, of chat, _ nothing) (any, error) {
	ctx := context.WithoutCancel(c.Context())
	_, err := p.runtime.EndLiveChat(ctx, of.App, livechat.EndParams{
		Channel: &channel.Channel{ID: channelOf(of.AssignmentRecord)}, MessageEvent: of.event(),
	})
	p.desk.hub.wake()
	if err != nil {
		return nil, err
	}
	return nothing{}, p.tell(ctx, of, "ended")
}
