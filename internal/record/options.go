package record

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// driverOptions returns the options of a database's driver that change no outcome: how long
// it may take, what it waits for, and how it finds its way.
func driverOptions() []string {
	return []string{
		"maxTimeMS", "writeConcern", "w", "wtimeout", "j", "comment", "hint", "readConcern", "readPreference",
		"bypassDocumentValidation", "retryWrites", "timeoutMS", "checkKeys", "serializeFunctions", "ignoreUndefined",
	}
}

// CheckOptions refuses the options of a parameter that an operation does not have, unless
// they change no outcome. InvalidArgument names the first of them.
func CheckOptions(field string, unknown document.Object) error {
	if err := unknown.Err(); err != nil {
		return boterr.PrefixField(field, err)
	}
	for _, name := range unknown.Keys() {
		if !slices.Contains(driverOptions(), name) {
			return boterr.Invalid(field+"."+name, "is no option that is supported here")
		}
	}
	return nil
}

// ReturnOptions say what a find-and-modify operation returns, in each of the spellings that
// drivers have for it.
type ReturnOptions struct {
	New            bool
	ReturnDocument string
	ReturnOriginal *bool
	Projection     document.Object
	Fields         document.Object
}

// ReturnsNew reports whether the record comes back as it is after the change. Spellings that
// contradict each other are InvalidArgument.
func (o ReturnOptions) ReturnsNew() (bool, error) {
	isNew := o.New
	switch o.ReturnDocument {
	case "":
	case "after":
		isNew = true
	case "before":
		if isNew {
			return false, boterr.Invalid("returnDocument", `is "before", and new is true: give one of both`)
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

// ShownBy returns the name of the option that gives the projection.
func (o ReturnOptions) ShownBy() string {
	if o.Projection.IsZero() {
		return "fields"
	}
	return "projection"
}

// Shown returns the projection. Two that differ are InvalidArgument.
func (o ReturnOptions) Shown() (document.Object, error) {
	shown, isOne := oneOf(o.Projection, o.Fields)
	if !isOne {
		return shown, boterr.Invalid("fields", "is what projection is: give one of both")
	}
	return shown, nil
}

// OneSort returns the order that a parameter sortBy or an option sort gives. Two that differ
// are InvalidArgument.
func OneSort(sortBy, sort document.Object) (document.Object, error) {
	order, isOne := oneOf(sortBy, sort)
	if !isOne {
		return order, boterr.Invalid("sort", "is what sortBy is: give one of both")
	}
	return order, nil
}

// InOption says of an error of a find-and-modify operation that it is about an option, where it
// is: sortBy is what the parameter of that name gives.
func (o ReturnOptions) InOption(err error, sortBy document.Object) error {
	err = RenameField(err, "projection", "option."+o.ShownBy())
	err = RenameField(err, "arrayFilters", "option.arrayFilters")
	if sortBy.IsZero() {
		err = RenameField(err, "sortBy", "option.sort")
	}
	return err
}

// oneOf returns what is given by one of two names, or by both alike. It reports whether that is one
// thing.
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
