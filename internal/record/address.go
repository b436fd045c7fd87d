package record

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Address is how a call names a record of the app: by the record itself, by its id, or by neither,
// which means the scope's own. Of a record only the _id is looked at, and the record is loaded again,
// so that a forged or stale one gives no rights.
//
// An error about the id stands where the id stands, such as "channel._id" or "channelId". One
// about the record that was found stands at the parameter, see Field.
type Address struct {
	// Kind is what errors call the record, such as "channel".
	Kind string
	// RecordParameter takes the record, and IDParameter its id. One of them is "" where the
	// operation lacks it.
	RecordParameter, IDParameter string
	// Record is the _id of the record that the call gives, nil where it gives none.
	Record *string
	// ID is the id that the call gives, "" where it gives none.
	ID string
	// Own is the id of the scope's own record, "" where it has none, and MayBeOwn tells that it is
	// meant where a call names none.
	Own      string
	MayBeOwn bool
}

// IsOwn reports whether the call names no record, so that the scope's own is meant.
func (a Address) IsOwn() bool { return a.Record == nil && a.ID == "" }

// Field returns the parameter that names the record, or by which it can be named.
func (a Address) Field() string {
	if a.Record != nil || a.IDParameter == "" {
		return a.RecordParameter
	}
	return a.IDParameter
}

// place returns the path at which the id stands, or can be given.
func (a Address) place() string {
	if a.Record != nil {
		return a.RecordParameter + "." + FieldID
	}
	return a.Field()
}

// Resolve returns the id of the record that is meant.
//
// InvalidArgument: the call names none, and there is none of the scope's own; the record that it
// gives has no _id; or the record and the id that it gives are two.
func (a Address) Resolve() (string, error) {
	switch {
	case a.Record != nil && *a.Record == "":
		return "", boterr.PrefixField(a.RecordParameter, MissingID(a.Kind))
	case a.Record != nil && a.ID != "" && a.ID != *a.Record:
		return "", boterr.Invalid(a.IDParameter, "is %q, and %s is %q: give one of both", a.ID, a.RecordParameter, *a.Record)
	case a.Record != nil:
		return *a.Record, nil
	case a.ID != "":
		return a.ID, nil
	case a.MayBeOwn && a.Own != "":
		return a.Own, nil
	default:
		return "", a.missing()
	}
}

// missing is the error of a call that names no record and has none of its own.
func (a Address) missing() error {
	switch {
	case a.MayBeOwn:
		return boterr.Invalid(a.Field(), "is missing: this context has no %s of its own", a.Kind)
	case a.IDParameter != "":
		return boterr.Missing(a.Field(), "the id of %s", withArticle(a.Kind))
	default:
		return boterr.Missing(a.Field(), "%s, of which the _id is enough", withArticle(a.Kind))
	}
}

// Load returns the record that an address names, as load finds it by its id. What load says
// stands at the place of the id. NotFound: load finds none, or returns nil.
func Load[R any](a Address, load func(id string) (*R, error)) (*R, error) {
	id, err := a.Resolve()
	if err != nil {
		return nil, err
	}
	loaded, err := load(id)
	loaded, err = Found(a.Kind, id, loaded, err)
	return loaded, boterr.WithField(a.place(), err)
}

// Found gives on what was loaded, and NotFound in the place of neither a record nor an error,
// which a host's own part may return.
func Found[R any](kind, id string, loaded *R, err error) (*R, error) {
	if err == nil && loaded == nil {
		err = NotFound(kind, id)
	}
	return loaded, err
}

// NotFound is the error for a record that does not exist in the scope.
func NotFound(kind string, id any) error {
	return boterr.New(boterr.NotFound, "", "there is no %s %v here", kind, id)
}

// MissingID is the error, at _id, for a record that is given without its _id.
func MissingID(kind string) error {
	return boterr.Invalid(FieldID, "is missing: %s is found by it", withArticle(kind))
}

// withArticle returns a kind of record with the article before it.
func withArticle(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
}
