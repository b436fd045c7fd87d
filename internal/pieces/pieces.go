// Package pieces has the common steps of connectors that convert the pieces of a message, such as its buttons, cards and
// attachments, and that send several messages for one.
package pieces

import (
	"errors"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
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
