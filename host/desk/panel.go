package desk

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/redact"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// The numbers of records in an answer.
const (
	logPage        = 100
	transcriptPage = 50
	earlierPage    = 20
	closedPage     = 50
)

// entry is an entry of a chat as the page shows it.
type entry struct {
	Seq  int64              `json:"seq"`
	Key  string             `json:"key"`
	From string             `json:"from"`
	Name string             `json:"name"`
	At   document.Timestamp `json:"at"`
	// Agent is the id of the agent who wrote it, or "" if no agent did.
	Agent string `json:"agent"`
	// Text is the text of a note, and of a line about the chat. Response is a message.
	Text     string          `json:"text,omitempty"`
	Response document.Object `json:"response,omitzero"`
}

func entryOf(e chatlog.Entry) entry {
	return entry{
		Seq: e.Seq, Key: e.Key, From: e.From, Name: e.Name, At: e.At, Agent: document.Get(e.Body, fieldAgent, ""),
		Text:     document.Get(e.Body, fieldText, ""),
		Response: redact.Object(document.Get(e.Body, fieldResponse, document.O())),
	}
}

// profile is the member of a chat as the page shows it, without credentials.
type profile struct {
	ID         string             `json:"id"`
	ExternalID string             `json:"externalId"`
	FirstName  string             `json:"firstName"`
	LastName   string             `json:"lastName"`
	Email      string             `json:"email"`
	Locale     string             `json:"locale"`
	CreatedAt  document.Timestamp `json:"createdAt"`
	Meta       document.Object    `json:"meta"`
	Tags       []string           `json:"tags"`
}

func profileOfMember(m *member.Member) *profile {
	if m == nil {
		return nil
	}
	return &profile{
		ID: m.ID, ExternalID: m.ExternalID, FirstName: m.FirstName, LastName: m.LastName, Email: m.Email,
		Locale: cmp.Or(m.CustomLocale, m.Locale), CreatedAt: m.CreatedAt, Meta: redact.Object(m.Meta), Tags: tagsOf(m),
	}
}

// memberOf returns the member of a chat, or nil if the member was erased.
func (p *pages) memberOf(ctx context.Context, r *livechat.AssignmentRecord) (*member.Member, error) {
	byID, err := p.desk.membersOf(ctx, r.App, []string{r.Member})
	return byID[r.Member], err
}

// rowNow returns the row of a chat.
func (p *pages) rowNow(ctx context.Context, r *livechat.AssignmentRecord) (row, error) {
	rows, err := p.rowsNow(ctx, r.App, []*livechat.AssignmentRecord{r})
	if err != nil {
		return row{}, err
	}
	shown, _, err := p.desk.withChat(ctx, rows[0])
	return shown, err
}

func (p *pages) rowsNow(ctx context.Context, app string, found []*livechat.AssignmentRecord) ([]row, error) {
	agents, err := p.desk.agentsOf(ctx, app)
	if err != nil {
		return nil, err
	}
	return p.desk.rowsOf(ctx, app, found, namesOf(agents))
}

// details returns a chat and its member.
func (p *pages) details(c *call, of chat, _ nothing) (any, error) {
	shown, err := p.rowNow(c.Context(), of.AssignmentRecord)
	if err != nil {
		return nil, err
	}
	m, err := p.memberOf(c.Context(), of.AssignmentRecord)
	if err != nil {
		return nil, err
	}
	kept := []entry{} // The messages that the member has written while the request waits.
	for _, one := range of.Kept {
		kept = append(kept, entry{Key: one.ID, From: fromMember, At: one.At, Response: redact.Object(one.Response)})
	}
	return map[string]any{
		"chat": shown, "summary": requestOf(of.AssignmentRecord), "meta": redact.Object(of.Meta), "member": profileOfMember(m),
		"kept": kept,
	}, nil
}

// number returns a number in the query of a request, or 0 if it is missing.
func number(query url.Values, name string) (int64, error) {
	text := query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, boterr.Invalid(name, "is %.50q; give a whole number", text)
	}
	return n, nil
}

// entries returns messages and notes of a chat: the first ones after a number, or the last ones before one.
func (p *pages) entries(c *call, of chat, _ nothing) (any, error) {
	query := c.URL.Query()
	after, errAfter := number(query, "after")
	before, errBefore := number(query, "before")
	if err := cmp.Or(errAfter, errBefore); err != nil {
		return nil, err
	}
	shown := struct {
		Entries []entry `json:"entries"`
		HasMore bool    `json:"hasMore"`
		// IsCut is true if entries after the number are gone, so that the page must read all entries again.
		IsCut bool `json:"isCut,omitempty"`
	}{Entries: []entry{}}
	if chatOf(of.AssignmentRecord) == "" {
		return shown, nil
	}
	read, from := p.desk.chats.Before, before
	if after > 0 {
		read, from = p.desk.chats.After, after
	}
	found, err := read(c.Context(), of.log(), from, logPage)
	for _, e := range found.Entries {
		shown.Entries = append(shown.Entries, entryOf(e))
	}
	shown.HasMore, shown.IsCut = found.More, found.IsCut
	return shown, err
}

// transcript returns messages of the member with the bot before the request.
func (p *pages) transcript(c *call, of chat, _ nothing) (any, error) {
	before, err := number(c.URL.Query(), "before")
	if err != nil {
		return nil, err
	}
	shown := struct {
		Entries []entry `json:"entries"`
		HasMore bool    `json:"hasMore"`
	}{Entries: []entry{}}
	m, err := p.memberOf(c.Context(), of.AssignmentRecord)
	if err != nil || m == nil {
		return shown, err
	}
	until := cmp.Or(of.SentAt, of.CreatedAt)
	if before > 0 {
		until = min(until, document.Timestamp(before))
	}
	lines, err := p.config.Transcript(c.Context(), m, until, transcriptPage)
	if err != nil {
		return nil, err
	}
	shown.HasMore = len(lines) == transcriptPage
	isLater := func(one Line) bool { return one.At > lines[0].At }
	if later := slices.IndexFunc(lines, isLater); shown.HasMore && later > 0 {
		lines = lines[later:] // The next page ends before a time, so all lines of that time must be on one page.
	}
	for i, one := range lines {
		from := fromBot
		if one.IsMember {
			from = fromMember
		}
		shown.Entries = append(shown.Entries, entry{
			Key: strconv.Itoa(i), From: from, At: one.At, Response: redact.Object(one.Response.Object()),
		})
	}
	return shown, nil
}

// maxPages bounds the pages of a log that a search for a time reads.
const maxPages = 20

// visitorLines is the default of PageConfig.Transcript.
func (d *Desk) visitorLines(ctx context.Context, m *member.Member, before document.Timestamp, limit int) ([]Line, error) {
	var lines []Line
	if m.ExternalID == "" {
		return nil, nil
	}
	in := chatlog.Conversation{App: m.App, Channel: m.Channel, ID: m.ExternalID}
	for seq, pages := int64(0), 0; len(lines) < limit && pages < maxPages; pages++ {
		found, err := d.visitors.Before(ctx, in, seq, chatlog.MaxPage)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(found.Entries) {
			if e.At < before && len(lines) < limit {
				lines = append(lines, Line{IsMember: e.From == chatlog.FromVisitor, At: e.At, Response: send.Raw(e.Body)})
			}
			seq = e.Seq
		}
		if !found.More {
			break
		}
	}
	slices.Reverse(lines)
	return lines, nil
}

// earlier returns the other requests of the member of a chat, newest first.
func (p *pages) earlier(c *call, of chat, _ nothing) (any, error) {
	found, err := p.desk.requests(c.Context(), of.App, record.Query{
		Filter: document.O("member", document.O("$eq", of.Member), record.FieldID, document.O("$lt", of.ID)),
		SortBy: document.O(record.FieldID, -1), Limit: earlierPage,
	})
	if err != nil {
		return nil, err
	}
	rows, err := p.rowsNow(c.Context(), of.App, ofDesk(found))
	return map[string]any{"chats": rows}, err
}

// closed returns chats of an app that have ended, newest first.
func (p *pages) closed(c *call, app string, _ nothing) (any, error) {
	// A filter by endedAt would use the index by that field, and read all ended requests. A withdrawn request goes.
	filter := document.O("endedBy", document.O("$gt", "", "$ne", string(livechat.EndedByRemoval)), "tickets.type", string(Type))
	if before := c.URL.Query().Get("before"); before != "" {
		filter = filter.With(record.FieldID, document.O("$lt", before))
	}
	found, err := p.desk.requests(c.Context(), app, record.Query{
		Filter: filter, SortBy: document.O(record.FieldID, -1), Limit: closedPage,
	})
	if err != nil {
		return nil, err
	}
	shown := struct {
		Chats []row `json:"chats"`
		// Last is the id of the page's last chat: the next page's before. It is set even if the page has no rows
		// because agents of other outlets answered its chats.
		Last    string `json:"last,omitempty"`
		HasMore bool   `json:"hasMore"`
	}{HasMore: len(found) == closedPage}
	if len(found) > 0 {
		shown.Last = found[len(found)-1].ID
	}
	shown.Chats, err = p.rowsNow(c.Context(), app, ofDesk(found))
	return shown, err
}

// fill returns a text with {{path}} filled from the member of a chat. Credentials are not filled in.
func (p *pages) fill(c *call, of chat, asked struct {
	Text string `json:"text"`
},
) (any, error) {
	if err := checkText(asked.Text, maxAnswer); err != nil {
		return nil, err
	}
	m, err := p.memberOf(c.Context(), of.AssignmentRecord)
	if err != nil {
		return nil, err
	}
	shown := &member.Member{}
	if m != nil {
		shown = &member.Member{
			FirstName: m.FirstName, LastName: m.LastName, Email: m.Email, Locale: m.Locale, Gender: m.Gender, Meta: redact.Object(m.Meta),
		}
	}
	filled, err := send.Fill(send.Text(asked.Text).WithPlaceholders(), shown)
	if err != nil {
		return nil, err
	}
	return map[string]string{"text": filled.Text()}, nil
}
