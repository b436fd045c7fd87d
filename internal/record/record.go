// Package record stores the records of the domain packages in a document store. It limits them to their scope,
// protects their fixed fields, and renews their stamps at each change.
//
//   - To create the service of a domain for an app, call its New with an [Env] and a [Scope].
//   - To store other records in the same way, use [Open] with a [Schema].
//   - To load the record of a parameter, as every operation does, use [Load] with a [Ref].
//
// Scope holds the app, channel and member of an operation. Env holds the store, the clock and the sources of ids.
// Collection is a collection as seen by one app. All services use Collection, so the scope is enforced in one place.
package record

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// Scope is the scope of an operation: an app, one of its channels, and a member of that channel.
type Scope struct {
	App     string
	Channel string
	Member  string
	// GroupExternalID is the platform's id of the group in which the member talks to the bot, or "" in a private
	// chat.
	GroupExternalID string
}

// Env is the environment of services. Store is required. Other fields have defaults for their zero values.
type Env struct {
	// Store holds the records.
	Store store.Store
	// Now is the clock of records. The default is time.Now.
	Now func() time.Time
	// NewID returns a new id for a record. The default is a version 7 UUID, which sorts by creation time.
	NewID func() string
	// NewEtag returns a new etag for each version of a record, except for channels, whose etags are times. The
	// default is a NewID.
	NewEtag func() string
	// SendID returns the id for a message or another request to a recipient. Each request gets a different id, but if
	// its caller is tried again, the request gets the same id as before. to names the recipient. The default is a
	// NewID.
	SendID func(ctx context.Context, to string) string
	// Attempt returns the attempt that a call belongs to; see Once. It returns nil if the caller is not tried again
	// after a failure, or if the effects of its attempts are not stored. An error means that the attempt no longer
	// counts. By default there are no attempts.
	Attempt func(ctx context.Context) (Attempt, error)
}

// WithDefaults returns the environment with all defaults.
func (e Env) WithDefaults() Env {
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.NewID == nil {
		e.NewID = newUUID
	}
	if e.SendID == nil {
		newID := e.NewID
		e.SendID = func(context.Context, string) string { return newID() }
	}
	if e.NewEtag == nil {
		e.NewEtag = e.NewID
	}
	if e.Attempt == nil {
		e.Attempt = func(context.Context) (Attempt, error) { return nil, nil } //nolint:nilnil // None is no error.
	}
	return e
}

// newUUID returns a version 7 UUID. It fails only if the system has no randomness.
func newUUID() string { return uuid.Must(uuid.NewV7()).String() }

// driverOptions returns options of a database driver that do not affect the outcome, such as time limits, write
// concerns and hints, or only the form in which a driver returns it.
func driverOptions() []string {
	return []string{
		"maxTimeMS", "writeConcern", "w", "wtimeout", "j", "comment", "hint", "readConcern", "readPreference",
		"bypassDocumentValidation", "retryWrites", "timeoutMS", "checkKeys", "serializeFunctions", "ignoreUndefined",
		"rawResult", "includeResultMetadata",
	}
}

// CheckOptions returns InvalidArgument for the first unknown option of an operation. It ignores options of
// database drivers that do not change the outcome, such as time limits, and options that are null.
func CheckOptions(field string, unknown document.Object) error {
	if err := unknown.Err(); err != nil {
		return boterr.PrefixField(field, err)
	}
	for name, value := range unknown.All() {
		if value != nil && !slices.Contains(driverOptions(), name) {
			return boterr.Invalid(field+"."+name, "is not supported here; leave the option out")
		}
	}
	return nil
}

// ReturnOptions are the options for the result of a find-and-modify operation, in all spellings of the drivers.
type ReturnOptions struct {
	New            bool
	ReturnDocument string
	ReturnOriginal *bool
	Projection     document.Object
	Fields         document.Object
}

// ReturnsNew reports whether the record is returned after the change instead of before it. It returns InvalidArgument
// for contradictory options.
func (o ReturnOptions) ReturnsNew() (bool, error) {
	isNew := o.New
	switch o.ReturnDocument {
	case "":
	case "after":
		isNew = true
	case "before":
		if isNew {
			return false, boterr.Invalid("returnDocument", `is "before", but new is true: give only one of them`)
		}
	default:
		return false, boterr.Invalid("returnDocument", `must be "before" or "after", got %.40q`, o.ReturnDocument)
	}
	if o.ReturnOriginal == nil {
		return isNew, nil
	}
	isSaid := o.New || o.ReturnDocument != ""
	if isSaid && *o.ReturnOriginal == isNew {
		return false, boterr.Invalid("returnOriginal", "is %t, and contradicts the other options: give one of them", isNew)
	}
	return !*o.ReturnOriginal, nil
}

// ShownBy returns the name of the option with the projection.
func (o ReturnOptions) ShownBy() string {
	if o.Projection.IsZero() {
		return "fields"
	}
	return "projection"
}

// Shown returns the projection. It returns InvalidArgument if two different projections are given.
func (o ReturnOptions) Shown() (document.Object, error) {
	shown, isOne := oneOf(o.Projection, o.Fields)
	if !isOne {
		return shown, boterr.Invalid("fields", "is another name for projection: give only one of them")
	}
	return shown, nil
}

// OneSort returns the order in the parameter sortBy or the option sort. It returns InvalidArgument if they differ.
func OneSort(sortBy, sort document.Object) (document.Object, error) {
	order, isOne := oneOf(sortBy, sort)
	if !isOne {
		return order, boterr.Invalid("sort", "is another name for sortBy: give only one of them")
	}
	return order, nil
}

// InOption renames parameters of the store, in the field of an error of a find-and-modify operation, to the
// options that set them. sortBy is the operation's own parameter.
func (o ReturnOptions) InOption(err error, sortBy document.Object) error {
	err = RenameField(err, "projection", "option."+o.ShownBy())
	err = RenameField(err, "arrayFilters", "option.arrayFilters")
	if sortBy.IsZero() {
		err = RenameField(err, "sortBy", "option.sort")
	}
	return err
}

// oneOf returns the value that is given under either name. It returns false if the values differ.
func oneOf(first, second document.Object) (document.Object, bool) {
	switch {
	case first.IsZero():
		return second, true
	case second.IsZero() || document.Equal(first, second):
		return first, true
	default:
		return document.Object{}, false
	}
}

// Ref refers to a record of the app in a call: by the record itself, by its id, or by neither for the scope's own
// record. Only the _id of a given record is used. The record is loaded again, so a forged or stale record has no
// effect.
//
// An error about the id has the field of the id, such as "channel._id" or "channelId". An error about the loaded
// record has the field of the parameter. See Field.
type Ref struct {
	// Kind is the name of the record in errors, such as "channel".
	Kind string
	// RecordParameter is the parameter for the record. IDParameter is the parameter for its id. One of them is "" if
	// the operation does not have it.
	RecordParameter, IDParameter string
	// Record is the _id of the given record, or nil.
	Record *string
	// ID is the given id, or "".
	ID string
	// Own is the id of the scope's own record, or "". MayBeOwn is true if a call without a record refers to it.
	Own      string
	MayBeOwn bool
}

// IsOwn reports whether the call has no record and so refers to the scope's own.
func (a Ref) IsOwn() bool { return a.Record == nil && a.ID == "" }

// Field returns the name of the parameter that refers to the record. If none does, it returns the name of one that
// can.
func (a Ref) Field() string {
	if a.Record != nil || a.IDParameter == "" {
		return a.RecordParameter
	}
	return a.IDParameter
}

// Resolve returns the id of the record.
//
// InvalidArgument: the call gives no record and the scope has none; the given record has no _id; or the
// record and the id differ.
func (a Ref) Resolve() (string, error) {
	switch {
	case a.Record != nil && *a.Record == "":
		return "", boterr.PrefixField(a.RecordParameter, MissingID(a.Kind))
	case a.Record != nil && a.ID != "" && a.ID != *a.Record:
		return "", boterr.Invalid(a.IDParameter, "is %q, and %s is %q: give only one of them", a.ID, a.RecordParameter, *a.Record)
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

// missing returns the error for a call without a record in a scope without one.
func (a Ref) missing() error {
	switch {
	case a.MayBeOwn:
		return boterr.Invalid(a.Field(), "is missing, and this context has no %s", a.Kind)
	case a.IDParameter != "":
		return boterr.Missing(a.Field(), "the id of %s", withArticle(a.Kind))
	default:
		return boterr.Missing(a.Field(), "%s, or only its _id", withArticle(a.Kind))
	}
}

// Load returns the record that a refers to, loaded with load by its id. Errors of load get the field of the id.
// The error is NotFound if load finds no record, or returns nil.
func Load[R any](a Ref, load func(id string) (*R, error)) (*R, error) {
	id, err := a.Resolve()
	if err != nil {
		return nil, err
	}
	loaded, err := load(id)
	loaded, err = Found(a.Kind, id, loaded, err)
	at := a.Field()
	if a.Record != nil {
		at += "." + FieldID
	}
	return loaded, boterr.WithField(at, err)
}

// Found returns loaded and err, or NotFound if both are nil, as a host's implementation may return them.
func Found[R any](kind, id string, loaded *R, err error) (*R, error) {
	if err == nil && loaded == nil {
		err = NotFound(kind, id)
	}
	return loaded, err
}

// NotFound returns the error for a record that does not exist in the scope.
func NotFound(kind string, id any) error {
	return boterr.New(boterr.NotFound, "", "there is no %s %v here", kind, id)
}

// MissingID returns the error, with the field _id, for a given record without an _id.
func MissingID(kind string) error {
	return boterr.Invalid(FieldID, "is missing: it is needed to find %s", withArticle(kind))
}

// withArticle returns a kind of record with an indefinite article.
func withArticle(kind string) string {
	if strings.HasPrefix(kind, "a") {
		return "an " + kind
	}
	return "a " + kind
}

// RenameField returns err with from, at the beginning of its field, replaced by to. For example, a Collection
// reports "sortBy" for an operation's parameter "options.sort". Errors about other fields are returned
// unchanged.
func RenameField(err error, from, to string) error {
	e, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	rest, found := strings.CutPrefix(e.Field, from)
	if !found || rest != "" && rest[0] != '.' && rest[0] != '[' {
		return err
	}
	renamed := *e
	renamed.Field = strings.TrimPrefix(to+rest, ".")
	return &renamed
}
