package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// MaxListed is the largest number of an app's waiting requests in the list, and also of its conversations. The
// oldest are shown.
const MaxListed = 500

// longestLine is the largest number of letters of a text in the list.
const longestLine = 140

// row is a chat in the list.
type row struct {
	ID    string         `json:"id"`
	App   string         `json:"app"`
	State livechat.State `json:"state"`
	// Channel is the id of the desk's channel. Inlet is the member's channel.
	Channel string `json:"channel"`
	Inlet   string `json:"inlet"`
	// Member is the member's id. Name and Tags are taken from the member.
	Member string   `json:"member"`
	Name   string   `json:"name"`
	Tags   []string `json:"tags"`
	// Teams are the teams and agents that the request went to.
	Teams []string `json:"teams"`
	Label string   `json:"label"`
	// Summary is the request's relay message for the desk, if it has one, and its summary.
	Summary string `json:"summary"`
	// Agent is the id of the agent who has the chat. AgentName is the agent's name.
	Agent     string             `json:"agent"`
	AgentName string             `json:"agentName"`
	Since     document.Timestamp `json:"since"`
	TakenAt   document.Timestamp `json:"takenAt,omitzero"`
	EndedAt   document.Timestamp `json:"endedAt,omitzero"`
	EndedBy   livechat.EndedBy   `json:"endedBy,omitzero"`
	Parent    string             `json:"parent,omitzero"`
	// Chat is the id of the conversation, or "" until the request is taken. Seq is the number of its newest entry.
	// Read is the number of the newest entry that the agent has read. Unread is the number of messages of the member
	// and the bot after it, at most logPage.
	Chat   string `json:"chat"`
	Seq    int64  `json:"seq"`
	Read   int64  `json:"read"`
	Unread int    `json:"unread"`
	// Last is the newest message or note.
	Last *line `json:"last,omitzero"`
	// Kept is the number of messages that the member wrote while the request waits.
	Kept   int      `json:"kept"`
	Typing []typist `json:"typing"`
}

// line is a message in the list.
type line struct {
	From string             `json:"from"`
	Text string             `json:"text"`
	At   document.Timestamp `json:"at"`
}

// typist is someone who is typing in a chat: the member, or an agent who types an answer or a note.
type typist struct {
	Key  string `json:"key"`
	From string `json:"from"`
	Name string `json:"name"`

	until document.Timestamp
}

// rowOf returns the row of a request, without the parts that are in the log of messages.
func rowOf(r *livechat.AssignmentRecord, m *member.Member, names map[string]string) row {
	shown := row{
		ID: r.ID, App: r.App, State: r.State(), Channel: channelOf(r), Inlet: r.Inlet, Member: r.Member, Name: nameOf(m), Tags: tagsOf(m),
		Teams: []string{}, Label: r.Label, Summary: shortened(requestOf(r)), Agent: r.Assignee, AgentName: cmp.Or(names[r.Assignee], r.Assignee),
		Since: cmp.Or(r.SentAt, r.CreatedAt), TakenAt: r.AssignedAt, EndedAt: r.EndedAt, EndedBy: r.EndedBy, Parent: r.ParentAssignment,
		Chat: chatOf(r), Kept: len(r.Kept), Typing: []typist{},
	}
	for _, ticket := range r.Tickets {
		if ticket.Type == Type && !ticket.SentAt.IsZero() {
			shown.Teams = append(shown.Teams, ticket.Group.ID)
		}
	}
	if n := len(r.Kept); n > 0 {
		last := r.Kept[n-1]
		shown.Last = &line{From: fromMember, Text: lineOf(send.Raw(last.Response)), At: last.At}
	}
	return shown
}

// requestOf returns the text of a request: its relay message for the desk, and its summary on the next line.
func requestOf(r *livechat.AssignmentRecord) string {
	asked := send.Raw(document.Get(r.RelayMessage, string(Type), document.O())).Text()
	return strings.TrimSpace(asked + "\n" + r.Summary)
}

// channelOf returns the id of the desk's channel that an assignment belongs to, or "" for another outlet's.
func channelOf(r *livechat.AssignmentRecord) string {
	for _, ticket := range r.Tickets {
		if ticket.Type == Type && (r.Outlet == "" || r.Outlet == ticket.Channel) {
			return ticket.Channel
		}
	}
	return ""
}

// chatOf returns the id of an assignment's conversation, or "" until it is taken. Bot logic may have linked a group that
// is not the desk's: an id that is too long for the log is "", too.
func chatOf(r *livechat.AssignmentRecord) string {
	id := document.Get(r.GroupInfo, "externalId", "")
	if r.Assignee == "" || len(id) > chatlog.MaxName {
		return ""
	}
	return id
}

// nameOf returns the name of a member. An anonymous visitor of a webchat has the first letters of their id as a name.
func nameOf(m *member.Member) string {
	if m == nil {
		return ""
	}
	name := strings.TrimSpace(m.FirstName + " " + m.LastName)
	if id, isVisitor := strings.CutPrefix(m.ExternalID, chatlog.Anonymous); name == "" && isVisitor && len(id) > visitorLetters {
		name = "Visitor " + id[:visitorLetters]
	}
	return shortened(cmp.Or(name, m.ExternalID))
}

const visitorLetters = 6

func tagsOf(m *member.Member) []string {
	tags := []string{}
	if m == nil {
		return tags
	}
	for _, tag := range m.Tags.All() {
		if text, isText := tag.(string); isText {
			tags = append(tags, text)
		}
	}
	return tags
}

// lineOf returns the text of a message for the list.
func lineOf(response send.Response) string {
	if text := response.Text(); text != "" {
		return shortened(text)
	}
	return "(" + strings.ToLower(strings.ReplaceAll(string(response.Type()), "_", " ")) + ")"
}

func shortened(text string) string {
	if utf8.RuneCountInString(text) <= longestLine {
		return text
	}
	return string([]rune(text)[:longestLine-1]) + "…"
}

// log returns the row's conversation in the log of messages.
func (r *row) log() chatlog.Conversation {
	return chatlog.Conversation{App: r.App, Channel: r.Channel, ID: r.Chat}
}

// withChat adds the parts of a row that are in the log of messages. It also returns the version of the conversation's
// state.
func (d *Desk) withChat(ctx context.Context, shown row) (row, int64, error) {
	if shown.Chat == "" {
		return shown, 0, nil
	}
	page, err := d.chats.Before(ctx, shown.log(), 0, 1)
	if err != nil {
		return shown, 0, err
	}
	state, err := d.chats.State(ctx, shown.log())
	if err != nil {
		return shown, 0, err
	}
	for _, e := range page.Entries {
		shown.Seq = e.Seq
		shown.Last = &line{From: e.From, Text: textOf(e), At: e.At}
	}
	if shown.Read = state.Marks["read"]; shown.Read < shown.Seq {
		after, err := d.chats.After(ctx, shown.log(), shown.Read, logPage)
		if err != nil {
			return shown, 0, err
		}
		for _, e := range after.Entries {
			if e.From == fromMember || e.From == fromBot {
				shown.Unread++
			}
		}
	}
	shown.Typing = []typist{}
	for _, t := range state.Typing {
		shown.Typing = append(shown.Typing, typist{t.Key, t.From, t.Name, t.Until})
	}
	return shown, state.Version, nil
}

// textOf returns the text of an entry for the list.
func textOf(e chatlog.Entry) string {
	if text := document.Get(e.Body, fieldText, ""); text != "" {
		return shortened(text)
	}
	return lineOf(send.Raw(document.Get(e.Body, fieldResponse, document.O())))
}

// openOf returns the open requests of an app that came to the desk: waiting ones and taken ones, oldest first.
func (d *Desk) openOf(ctx context.Context, app string) ([]*livechat.AssignmentRecord, error) {
	var all []*livechat.AssignmentRecord
	for _, assigned := range []any{nil, document.O("$gt", 0)} {
		found, err := d.requests(ctx, app, record.Query{
			Filter: document.O("endedAt", nil, "assignedAt", assigned, "sentAt", document.O("$gt", 0), "tickets.type", string(Type)),
			SortBy: document.O(record.FieldID, 1), Limit: MaxListed,
		})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return ofDesk(all), nil
}

// requests returns the requests of an app that match a query. If one cannot be read, that is logged, and ofDesk leaves
// it out.
func (d *Desk) requests(ctx context.Context, app string, query record.Query) ([]*livechat.AssignmentRecord, error) {
	return livechats.New(d.env, record.Scope{App: app}, livechats.Ports{}).ListAssignments(ctx, query, d.unreadable.Warn)
}

// ofDesk returns the requests that belong to the desk.
func ofDesk(found []*livechat.AssignmentRecord) []*livechat.AssignmentRecord {
	return slices.DeleteFunc(found, func(r *livechat.AssignmentRecord) bool { return channelOf(r) == "" })
}

// openRows returns the rows of an app's open requests, without the parts from the log, and the app's agents.
func (d *Desk) openRows(ctx context.Context, app string) ([]row, []presence, error) {
	agents, err := d.agentsOf(ctx, app)
	if err != nil {
		return nil, nil, err
	}
	found, err := d.openOf(ctx, app)
	if err != nil {
		return nil, nil, err
	}
	rows, err := d.rowsOf(ctx, app, found, namesOf(agents))
	return rows, agents, err
}

func (d *Desk) membersOf(ctx context.Context, app string, ids []string) (map[string]*member.Member, error) {
	found, err := members.New(d.env, record.Scope{App: app}, nil).
		List(ctx, record.Query{Filter: document.O(record.FieldID, document.O("$in", ids))}, d.unreadable.Warn)
	byID := map[string]*member.Member{}
	for _, m := range found {
		byID[m.ID] = m
	}
	return byID, err
}

// agentsOf returns the agents of an app who have ever opened the page, latest first, at most MaxListed.
func (d *Desk) agentsOf(ctx context.Context, app string) ([]presence, error) {
	found, err := d.agents().Find(ctx, record.Query{
		Filter: document.O(fieldApps, document.O("$eq", app)), SortBy: document.O(fieldSeenAt, -1), Limit: MaxListed,
	})
	now := d.now()
	all := make([]presence, len(found))
	for i, o := range found {
		all[i] = presenceOf(o, now)
	}
	return all, err
}

// byName sorts the agents of several apps by name and removes duplicates. In this order, a sign of life does not change
// the list.
func byName(agents []presence) []presence {
	slices.SortFunc(agents, func(a, b presence) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(agents, func(a, b presence) bool { return a.ID == b.ID })
}

func namesOf(agents []presence) map[string]string {
	names := map[string]string{}
	for _, a := range agents {
		names[a.ID] = a.Name
	}
	return names
}

// rowsOf returns the rows of some requests of an app, without the parts that are in the log.
func (d *Desk) rowsOf(ctx context.Context, app string, found []*livechat.AssignmentRecord, names map[string]string) ([]row, error) {
	ids := []string{}
	for _, r := range found {
		ids = append(ids, r.Member)
	}
	byID, err := d.membersOf(ctx, app, ids)
	rows := make([]row, len(found))
	for i, r := range found {
		rows[i] = rowOf(r, byID[r.Member], names)
	}
	return rows, err
}

// request returns a request of an app that came to the desk, or NotFound.
func (p *pages) request(ctx context.Context, app, id string) (*livechat.AssignmentRecord, error) {
	found, err := p.runtime.FindAssignments(ctx, app, botctx.Query{Filter: document.O(record.FieldID, document.O("$eq", id)), Limit: 1})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 || channelOf(found[0]) == "":
		return nil, boterr.New(boterr.NotFound, "id", "there is no such chat: the request was withdrawn, or the member was erased")
	default:
		return found[0], nil
	}
}
