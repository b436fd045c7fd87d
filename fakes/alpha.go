package fakes

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// alpha is the connector to Alpha, a platform that keeps files, labels and broadcast messages, and on which
// several applications share a page's conversations.
type alpha struct{ plain }

var (
	_ send.Broadcaster        = alpha{}
	_ send.AttachmentUploader = alpha{}
	_ send.ThreadPasser       = alpha{}
	_ send.Labeler            = alpha{}
)

type onAlpha struct {
	attachments []Attachment
	// threads are the conversations that other applications control.
	threads map[address]Thread
	// labels are the existing labels; labelled are the labels of each member, in the order in which they were
	// added.
	labels   map[labelKey]label
	labelled map[address][]string
	// stored are the messages kept for broadcasts. broadcasts are the ones that were sent.
	stored     []StoredMessage
	broadcasts []Broadcast
}

func (a onAlpha) clone() onAlpha {
	a.attachments, a.stored = slices.Clone(a.attachments), slices.Clone(a.stored)
	a.threads, a.labels, a.labelled = copyOfMap(a.threads), copyOfMap(a.labels), copyOfLists(a.labelled)
	for key, l := range a.labels {
		l.members = slices.Clone(l.members)
		a.labels[key] = l
	}
	a.broadcasts = cloneBroadcasts(a.broadcasts)
	return a
}

// refusal returns an error for a message in a conversation that another application controls, or with a file that
// Alpha does not have. It returns nil for other messages.
func (a alpha) refusal(sent Sent) error {
	if thread, isPassed := a.kept.alpha.threads[address{sent.Channel, sent.To}]; isPassed {
		return boterr.New(boterr.FailedPrecondition, "", "the application %q controls the conversation with %s: "+
			"wait until it has given it back", thread.AppID, sent.To)
	}
	return a.hasAttachment(sent)
}

func (alpha) chatID(sent Sent) string { return "t_" + sent.To }

func (alpha) reply(sent Sent) document.Object {
	return document.O("recipient_id", sent.To, "message_id", sent.MessageID)
}

// PageInbox is the application of the page's staff. It gets control of an Alpha conversation if the handover
// names no other application.
const PageInbox = "page-inbox"

// Thread is the state of control over a conversation on Alpha.
type Thread struct {
	// AppID is the application in control, or "" if the bot is.
	AppID string
	// Metadata is the metadata passed to that application.
	Metadata string
}

// IsWithBot reports whether the bot has control.
func (t Thread) IsWithBot() bool { return t.AppID == "" }

// PassThreadControl implements send.ThreadPasser. It returns FailedPrecondition if another application has
// control.
func (a alpha) PassThreadControl(ctx context.Context, in *channel.Channel, to string, handover send.ThreadHandover) error {
	_, err := askedOnce(ctx, a.outbox, in, "a thread", func() (struct{}, error) { return struct{}{}, a.passThread(in, to, handover) })
	return err
}

// passThread hands a conversation over. The caller holds the mutex.
func (a alpha) passThread(in *channel.Channel, to string, handover send.ThreadHandover) error {
	at := address{in.ID, to}
	if thread, isPassed := a.kept.alpha.threads[at]; isPassed {
		return boterr.New(boterr.FailedPrecondition, "", "the application %q controls the conversation with %s already: "+
			"only it can hand it on", thread.AppID, to)
	}
	thread := Thread{AppID: handover.TargetAppID, Metadata: handover.Metadata}
	if thread.AppID == "" {
		thread.AppID = PageInbox
	}
	put(&a.kept.alpha.threads, at, thread)
	a.platform.notef("the conversation with %s goes to %s: %q", a.kept.called(at), thread.AppID, thread.Metadata)
	return nil
}

// Thread returns the state of control over the conversation with the member. It ends the test unless the channel is
// of type alpha.
func (a *Actor) Thread() Thread {
	a.platform.test.Helper()
	a.mustBeOn(channel.Alpha, "threads")
	return a.platform.outbox.state().alpha.threads[a.address()]
}

// ReturnThread gives control of the conversation with the member back to the bot. It ends the test if the bot already
// has control, or if the channel is not of type alpha.
func (a *Actor) ReturnThread() {
	a.platform.test.Helper()
	if a.Thread().IsWithBot() {
		a.platform.test.Fatalf("fakes: the bot controls the conversation with %s: there is nothing to give back", a.name)
		return
	}
	o := &a.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.kept.alpha.threads, a.address())
	a.platform.notef("the conversation with %s comes back to the bot", a.name)
}

// firstLabel is the base of the numbers given to labels whose ids are not numeric.
const firstLabel = 4_000_000_000

// labelKey identifies a label. A label belongs to one page.
type labelKey struct{ channel, id string }

type label struct {
	number int64
	// members are the platform ids of the members with the label, in the order in which they got it.
	members []string
}

func (a alpha) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	return atPlatform(ctx, a.outbox, in, func() (int64, error) { return a.addLabel(in, to, labelID), nil })
}

// addLabel adds a label to a member, and returns its number. The caller holds the mutex.
func (a alpha) addLabel(in *channel.Channel, to, labelID string) int64 {
	labelID = a.nameOf(in, labelID)
	key, at := labelKey{in.ID, labelID}, address{in.ID, to}
	l, isKnown := a.kept.alpha.labels[key]
	if !isKnown {
		l.number = a.labelNumber(labelID)
	}
	if !slices.Contains(a.kept.alpha.labelled[at], labelID) {
		l.members = append(l.members, to)
		put(&a.kept.alpha.labelled, at, append(a.kept.alpha.labelled[at], labelID))
		a.platform.notef("%s has the label %s", a.kept.called(at), labelID)
	}
	put(&a.kept.alpha.labels, key, l)
	return l.number
}

// nameOf returns the name of a label that is given by its number or its name. The caller holds the mutex.
func (a alpha) nameOf(in *channel.Channel, labelID string) string {
	for key, l := range a.kept.alpha.labels {
		if key.channel == in.ID && strconv.FormatInt(l.number, 10) == labelID {
			return key.id
		}
	}
	return labelID
}

func (a alpha) labelNumber(labelID string) int64 {
	if number, err := strconv.ParseInt(labelID, 10, 64); err == nil {
		return number
	}
	return firstLabel + int64(a.platform.ids.count("alpha label"))
}

// RemoveLabel implements send.Labeler. It removes the label from the member; the label itself stays.
func (a alpha) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	return a.change(ctx, in, func() error {
		labelID := a.nameOf(in, labelID)
		key, at := labelKey{in.ID, labelID}, address{in.ID, to}
		has := a.kept.alpha.labelled[at]
		if !slices.Contains(has, labelID) {
			return nil
		}
		put(&a.kept.alpha.labelled, at, without(has, labelID))
		l := a.kept.alpha.labels[key]
		l.members = without(l.members, to)
		put(&a.kept.alpha.labels, key, l)
		a.platform.notef("%s has the label %s no more", a.kept.called(at), labelID)
		return nil
	})
}

func without(list []string, text string) []string {
	return slices.DeleteFunc(list, func(one string) bool { return one == text })
}

// Labels returns the member's labels, in the order in which they were added. It ends the test unless the
// channel is of type alpha.
func (a *Actor) Labels() []string {
	a.platform.test.Helper()
	a.mustBeOn(channel.Alpha, "labels")
	return a.platform.outbox.state().alpha.labelled[a.address()]
}

// alphaAttachment formats Alpha's ids of files.
const alphaAttachment = "2000000%09d"

// Attachment is a file that Alpha keeps for messages.
type Attachment struct {
	// Channel is the id of the channel. ID is the id by which messages refer to the file.
	Channel string
	ID      string
	// Type is TypeImage, TypeAudio, TypeVideo or TypeFile. URL is the address the file was uploaded from.
	Type send.Type
	URL  string
}

var fileTypes = []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}

// UploadAttachment implements send.AttachmentUploader. Uploading the same file again returns the same id.
func (a alpha) UploadAttachment(ctx context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	return atPlatform(ctx, a.outbox, in, func() (string, error) {
		for _, known := range a.kept.alpha.attachments {
			if known.Channel == in.ID && known.Type == kind && known.URL == url {
				return known.ID, nil
			}
		}
		added := Attachment{Channel: in.ID, ID: a.platform.ids.formed(alphaAttachment), Type: kind, URL: url}
		a.addAttachment(added)
		return added.ID, nil
	})
}

// addAttachment keeps a file. The caller holds the mutex.
func (o *outbox) addAttachment(added Attachment) {
	o.kept.alpha.attachments = append(o.kept.alpha.attachments, added)
	o.platform.notef("%s keeps the %s %s as %s", added.Channel, added.Type, display.Redact(added.URL), added.ID)
}

// hasAttachment returns an error for a message whose attachment id is unknown to Alpha or belongs to a file of
// another type.
func (a alpha) hasAttachment(sent Sent) error {
	id := document.Get(sent.Response, "attachment_id", "")
	if id == "" || !slices.Contains(fileTypes, sent.Response.Type()) {
		return nil
	}
	for _, known := range a.kept.alpha.attachments {
		if known.Channel == sent.Channel && known.ID == id && known.Type == sent.Response.Type() {
			return nil
		}
	}
	return boterr.Invalid("attachment_id", "the page of %s has no %s %q: use the id that the upload gave, or AddAttachment in the test",
		sent.Channel, sent.Response.Type(), id)
}

// AddAttachment adds a file to a channel of DefaultApp and type alpha, as if it had been uploaded before the
// test. It ends the test if a field is missing or the channel already has a file with that id.
func (p *Platform) AddAttachment(added Attachment) {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, added.Channel, channel.Alpha, "attachments")
	if added.ID == "" || added.URL == "" || !slices.Contains(fileTypes, added.Type) {
		p.test.Fatalf("fakes: AddAttachment: give an id, an address and one of the types %v, got %+v", fileTypes, added)
		return
	}
	if slices.ContainsFunc(p.Attachments(added.Channel), func(known Attachment) bool { return known.ID == added.ID }) {
		p.test.Fatalf("fakes: AddAttachment: the channel %s has a file %s already: give another id", added.Channel, added.ID)
		return
	}
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	p.outbox.addAttachment(added)
}

// Attachments returns the files kept by a channel of DefaultApp and type alpha, in the order in which they
// were added.
func (p *Platform) Attachments(channelID string) []Attachment {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "attachments")
	attachments := p.outbox.state().alpha.attachments
	return slices.DeleteFunc(attachments, func(known Attachment) bool { return known.Channel != channelID })
}

// The ids of stored messages and of broadcasts count up from here.
const (
	firstStoredMessage = 3_000_000_000
	firstBroadcast     = 5_000_000_000
)

// StoredMessage is a message that Alpha keeps for broadcasts.
type StoredMessage struct {
	// Channel is the id of the channel. ID is the platform's number for the message.
	Channel string
	ID      int64
	// Response is the message; its {{path}} placeholders are not filled.
	Response send.Response
}

// Broadcast is a stored message sent to all members with a label.
type Broadcast struct {
	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
	// Channel is the id of the channel. ID is the platform's number for the broadcast.
	Channel string
	ID      int64
	// Message is the message that was sent.
	Message StoredMessage
	// LabelID is the label. NotificationType is the way in which members were notified.
	LabelID          string
	NotificationType string
	// Reached are the platform ids of the members who got it, in the order in which they got the label.
	Reached []string
}

func cloneBroadcasts(broadcasts []Broadcast) []Broadcast {
	copies := slices.Clone(broadcasts)
	for i := range copies {
		copies[i].Reached = slices.Clone(copies[i].Reached)
	}
	return copies
}

func (a alpha) CreateBroadcast(ctx context.Context, in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	return askedOnce(ctx, a.outbox, in, "a stored message", func() ([]send.StoredMessage, error) { return a.store(in, response) })
}

// store keeps a message for broadcasts. The caller holds the mutex.
func (a alpha) store(in *channel.Channel, response send.Response) ([]send.StoredMessage, error) {
	if err := hasType(in.Type, response); err != nil {
		return nil, err
	}
	if err := a.hasAttachment(Sent{Channel: in.ID, Response: response}); err != nil {
		return nil, err
	}
	stored := StoredMessage{Channel: in.ID, ID: firstStoredMessage + int64(a.platform.ids.count("alpha stored message")), Response: response}
	a.kept.alpha.stored = append(a.kept.alpha.stored, stored)
	a.platform.notef("%s keeps %d to broadcast: %s", in.ID, stored.ID, render.Line(response))
	return []send.StoredMessage{{
		Response:    document.O("message_creative_id", stored.ID),
		AccessToken: accessToken(in),
	}}, nil
}

// accessToken returns a channel's token, or a made-up one if it has none.
func accessToken(in *channel.Channel) channel.Secret {
	if info, isAlpha := in.Info.(channel.AlphaInfo); isAlpha && !info.AccessToken.IsZero() {
		return info.AccessToken
	}
	return channel.NewSecret("token-of-" + in.ID)
}

// SendBroadcast implements send.Broadcaster. A broadcast counts as one message toward the channel's limit.
// Members whose messages the platform refuses are left out.
func (a alpha) SendBroadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	return askedOnce(ctx, a.outbox, in, "a broadcast", func() (int64, error) { return a.broadcast(ctx, in, broadcast) })
}

// broadcast sends a stored message to the members with a label. The caller holds the mutex.
func (a alpha) broadcast(ctx context.Context, in *channel.Channel, broadcast send.Broadcast) (int64, error) {
	if err := a.platform.withinLimit(in); err != nil {
		return 0, err
	}
	stored, err := a.storedMessage(in, broadcast.MessageID)
	if err != nil {
		return 0, err
	}
	broadcast.LabelID = a.nameOf(in, broadcast.LabelID)
	l, isKnown := a.kept.alpha.labels[labelKey{in.ID, broadcast.LabelID}]
	if !isKnown {
		return 0, boterr.New(boterr.NotFound, "", "the page of %s has no label %q: put it on a member first", in.ID, broadcast.LabelID)
	}
	made := Broadcast{
		SentAt: a.platform.Now(), Channel: in.ID, ID: firstBroadcast + int64(a.platform.ids.count("alpha broadcast")),
		Message: stored, LabelID: broadcast.LabelID, NotificationType: broadcast.NotificationType,
	}
	a.platform.notef("%s broadcasts %d to the label %s as %d", in.ID, stored.ID, made.LabelID, made.ID)
	for _, to := range l.members {
		if _, err := a.keep(ctx, a.messageTo(in, to, stored.Response), a); err == nil {
			made.Reached = append(made.Reached, to)
		}
	}
	a.kept.alpha.broadcasts = append(a.kept.alpha.broadcasts, made)
	return made.ID, nil
}

// messageTo returns a message to one of the members with a label. The caller holds the mutex.
func (a alpha) messageTo(in *channel.Channel, to string, response send.Response) send.Message {
	message := send.Message{Channel: in, To: to, Response: response}
	if known, isMember := a.kept.members[address{in.ID, to}]; isMember {
		message.Member = &member.Member{ID: known.memberID, FirstName: known.name, ExternalID: to}
	}
	return message
}

// storedMessage returns a stored message by its id. The caller holds the mutex.
func (a alpha) storedMessage(in *channel.Channel, id string) (StoredMessage, error) {
	for _, stored := range a.kept.alpha.stored {
		if stored.Channel == in.ID && strconv.FormatInt(stored.ID, 10) == id {
			return stored, nil
		}
	}
	return StoredMessage{}, boterr.New(boterr.NotFound, "", "the page of %s has no stored message %q: store it first", in.ID, id)
}

// StoredMessages returns the broadcast messages kept by a channel of DefaultApp and type alpha, oldest first.
func (p *Platform) StoredMessages(channelID string) []StoredMessage {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "stored messages")
	stored := p.outbox.state().alpha.stored
	return slices.DeleteFunc(stored, func(one StoredMessage) bool { return one.Channel != channelID })
}

// Broadcasts returns the broadcasts of a channel of DefaultApp and type alpha, oldest first.
func (p *Platform) Broadcasts(channelID string) []Broadcast {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "broadcasts")
	broadcasts := p.outbox.state().alpha.broadcasts
	return slices.DeleteFunc(broadcasts, func(one Broadcast) bool { return one.Channel != channelID })
}
