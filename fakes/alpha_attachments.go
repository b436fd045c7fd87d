package fakes

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/send"
)

// alphaAttachment is the form of Alpha's ids of files.
const alphaAttachment = "2000000%09d"

// Attachment is a file that Alpha keeps for messages.
type Attachment struct {
	// Channel is the id of the channel, ID that by which messages use the file.
	Channel string
	ID      string
	// Type is TypeImage, TypeAudio, TypeVideo or TypeFile, URL where the file came from.
	Type send.Type
	URL  string
}

// fileTypes are the types of messages that are files.
var fileTypes = []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile}

// UploadAttachment implements send.AttachmentUploader. The same file has the same id.
func (a alpha) UploadAttachment(ctx context.Context, in *channel.Channel, kind send.Type, url string) (string, error) {
	if err := a.reach(ctx, in); err != nil {
		return "", err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, known := range a.kept.alpha.attachments {
		if known.Channel == in.ID && known.Type == kind && known.URL == url {
			return known.ID, nil
		}
	}
	added := Attachment{Channel: in.ID, ID: a.platform.ids.formed(alphaAttachment), Type: kind, URL: url}
	a.addAttachment(added)
	return added.ID, nil
}

// addAttachment keeps a file. The caller holds the mutex.
func (o *outbox) addAttachment(added Attachment) {
	o.kept.alpha.attachments = append(o.kept.alpha.attachments, added)
	o.platform.notef("%s keeps the %s %s as %s", added.Channel, added.Type, display.Redact(added.URL), added.ID)
}

// hasAttachment refuses a message with a file by an id that Alpha does not have, or has for
// a file of another kind.
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

// AddAttachment adds a file that was uploaded before the test began, in a channel of
// DefaultApp and type alpha. It ends the test where one of its fields is missing or the
// channel has a file of that id.
func (p *Platform) AddAttachment(added Attachment) {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, added.Channel, channel.Alpha, "attachments")
	if added.ID == "" || added.URL == "" || !slices.Contains(fileTypes, added.Type) {
		p.test.Fatalf("fakes: AddAttachment: give an id, an address and one of the types %v, got %+v", fileTypes, added)
		return
	}
	if slices.ContainsFunc(p.Attachments(added.Channel), func(known Attachment) bool { return known.ID == added.ID }) {
		p.test.Fatalf("fakes: AddAttachment: the channel %s has a file %s already", added.Channel, added.ID)
		return
	}
	p.outbox.mu.Lock()
	defer p.outbox.mu.Unlock()
	p.outbox.addAttachment(added)
}

// Attachments returns the files that a channel of DefaultApp and type alpha keeps, in the
// order in which they came.
func (p *Platform) Attachments(channelID string) []Attachment {
	p.test.Helper()
	p.mustBeOfType(DefaultApp, channelID, channel.Alpha, "attachments")
	attachments := p.outbox.state().alpha.attachments
	return slices.DeleteFunc(attachments, func(known Attachment) bool { return known.Channel != channelID })
}
