package query

import "github.com/botctx/go-sdk/document"

// keepByteWork is making keys of what is in a value, and looking for them, for each of its
// bytes in BSON.
const keepByteWork = 8

// Read counts that the call reads all of a value of a document, and makes keys of what is in
// it, to see which values are different.
func (e *Evaluation) Read(value any) error {
	return e.charge(document.SizeOf(value) * keepByteWork)
}

// Keep counts bytes that the call holds until its end, beside documents. It serves stores,
// for what they make of documents.
func (e *Evaluation) Keep(bytes int) error {
	e.budget.keep(bytes)
	return e.budget.failure
}
