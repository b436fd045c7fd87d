// Package pieces has the common steps of connectors that convert the pieces of a message, such as its buttons, cards and
// attachments, and that send several messages for one.
package pieces

import (
	"errors"
	"net/url"
	"path"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Objects returns the objects in the list at a path, and skips other values.
func Objects(from document.Lookuper, path string) (objects []document.Object) {
	for _, item := range document.Get(from, path, document.Array{}).All() {
		if object, ok := item.(document.Object); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

// Each converts the objects in the list in a field, and skips other values. Errors have the path of the faulty object.
func Each[Made any](of document.Lookuper, field string, convert func(document.Object) (Made, error)) (document.Array, error) {
	all := document.A()
	for i, item := range document.Get(of, field, document.Array{}).All() {
		object, ok := item.(document.Object)
		if !ok {
			continue
		}
		made, err := convert(object)
		if err != nil {
			return document.Array{}, boterr.PrefixField(field+boterr.Index(i), err)
		}
		all = all.Append(made)
	}
	return all, nil
}

// Relay converts a message that a live chat relays from another channel. The message looks like an event: it has a text,
// and attachments.
type Relay[Part any] struct {
	Platform channel.Type
	// Most is the largest number of parts. 0 means no limit.
	Most int
	// Text converts the text. Attachment converts an attachment. at is its path; the error has a path in the attachment.
	Text       func(text string) (Part, error)
	Attachment func(attachment document.Object, at string) (Part, error)
}

// Parts returns a part for the text of a message, unless it is "", and a part for each attachment.
func (r Relay[Part]) Parts(response send.Response) ([]Part, error) {
	attachments := Objects(response, "attachments")
	var parts []Part
	if text := response.Text(); text != "" {
		part, err := r.Text(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	switch n := len(parts) + len(attachments); {
	case n == 0:
		return nil, boterr.New(boterr.Unsupported, "type",
			"on channels of type %s, a message of type MISC needs text or attachments, and this one has neither", r.Platform)
	case n > r.Most && r.Most > 0:
		return nil, boterr.Invalid("attachments", "and the text make %d messages on %s; the limit is %d: send fewer", n, r.Platform, r.Most)
	}
	for i, attachment := range attachments {
		at := "attachments" + boterr.Index(i)
		part, err := r.Attachment(attachment, at)
		if err != nil {
			return nil, Located(at, err)
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// Located puts a path before the field of an error. An error without a code means that no answer came, and stays without
// one.
func Located(path string, err error) error {
	if !boterr.HasCode(err) {
		return err
	}
	return boterr.PrefixField(path, err)
}

// FileName returns the last part of a file's address, or "" if it has none.
func FileName(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	name := path.Base("/" + parsed.Path)
	if name == "/" || name == "." {
		return ""
	}
	return name
}

// Own returns the message in the platform's own form in a response of a type that the platform does not have.
func Own(response send.Response, platform channel.Type) (document.Object, error) {
	own, isObject := document.Get[any](response, "message", nil).(document.Object)
	if !isObject {
		return document.Object{}, boterr.New(boterr.Unsupported, "type",
			"channels of type %s have no messages of type %s: send another type, or give message, an object in the platform's format",
			platform, response.Type())
	}
	return own, nil
}

// Place returns the coordinates of a location as text, such as "59.9, 10.7".
func Place(at document.Object) string {
	coordinate := func(name string) string { return strconv.FormatFloat(document.Get(at, name, 0.0), 'f', -1, 64) }
	return coordinate("lat") + ", " + coordinate("long")
}

// Attached returns the type and the data of an event with an attachment and, unless it is "", a text.
func Attached(kind string, payload document.Object, text string) (send.Type, document.Object) {
	data := document.O("attachments", document.A(document.O("type", kind, "payload", payload)))
	if text != "" {
		data = data.With("text", text)
	}
	return send.TypeMisc, data
}

// ID returns an id as text, which platforms send as a text or a number. It is "" if there is none.
func ID(from document.Lookuper, path string) string {
	switch id := document.Get[any](from, path, nil).(type) {
	case string:
		return id
	case int64:
		return strconv.FormatInt(id, 10)
	default:
		return ""
	}
}

// AfterSome returns the error for a message whose first parts a platform accepted. A rate limit then has no wait, so that
// send.Limited does not send these parts again.
func AfterSome(err error, platform string, accepted, of int) error {
	if _, isLimit := errors.AsType[*send.RetryAfterError](err); isLimit && accepted > 0 {
		return boterr.New(boterr.ResourceExhausted, "",
			"%s accepted %d of the %d parts of the message, then limited the rate: send fewer parts", platform, accepted, of)
	}
	return err
}
