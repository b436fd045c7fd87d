package livechat

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// set sets fields of the record of an id, and returns it as it is then. NotFound at _id:
// there is none, which kind names. Other errors name the field.
func set(
	ctx context.Context, records *record.Collection, kind record.Kind, id string, fields document.Object,
) (document.FindAndModifyResult, error) {
	found, err := records.Where(record.FieldID, id).FindAndModify(ctx, record.Patch{Patch: fields}, true)
	if err != nil {
		return document.FindAndModifyResult{}, record.RenameField(err, "patch", "")
	}
	if !found.Matched {
		return document.FindAndModifyResult{}, boterr.New(boterr.NotFound, record.FieldID, "there is no %s %s here", kind.Name, id)
	}
	return found, nil
}

// modified is how many records an update of one changed.
func modified(found document.FindAndModifyResult) int64 {
	if found.Modified {
		return 1
	}
	return 0
}

// checkMetaPath refuses a path in meta that would be an operator.
func checkMetaPath(path string) error {
	for name := range strings.SplitSeq(path, ".") {
		if isOperator(name) {
			return boterr.Invalid(fieldMeta+"."+path, "a name cannot begin with $: give the field and its value")
		}
	}
	return nil
}
