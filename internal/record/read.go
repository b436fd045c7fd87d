package record

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Read reads a record that the store holds. FailedPrecondition: it is of another shape.
func Read[R any](kind *Kind, stored document.Object) (*R, error) {
	r := new(R)
	if err := document.Decode(stored, r); err != nil {
		return nil, Unreadable(kind, stored, err)
	}
	return r, nil
}

// ReadAll reads records that the store holds, each by read.
func ReadAll[R any](found []document.Object, read func(document.Object) (*R, error)) ([]*R, error) {
	records := make([]*R, len(found))
	for i, stored := range found {
		var err error
		if records[i], err = read(stored); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// Unreadable is the error for a stored record that cannot be read.
func Unreadable(kind *Kind, stored document.Object, err error) error {
	return boterr.New(boterr.FailedPrecondition, "", "the stored %s %s cannot be read: %w",
		kind.Name, document.Get(stored, FieldID, "without an _id"), err)
}
