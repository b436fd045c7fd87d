package recording

import (
	"encoding/json"
	"errors"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// Call is a call of an operation that was recorded.
type Call struct {
	// Line is its line in the file it was read from, N its number, from 1 on.
	Line, N int
	// CalledAt is when it began.
	CalledAt document.Timestamp
	// Scope is for whom it was made.
	Scope Scope
	Op    botctx.Op
	// Params and Result are values of documents. Result is nil for null, and where there is none.
	Params, Result any
	// Err is the error, nil where it succeeded. A send that reached some has a Result, too.
	Err *boterr.Error
}

// Scope is for whom a call was made.
type Scope struct {
	App     string `json:"app,omitzero"`
	Channel string `json:"channel,omitzero"`
	Member  string `json:"member,omitzero"`
	Group   string `json:"group,omitzero"`
}

func scopeOf(scope record.Scope) Scope {
	return Scope{App: scope.App, Channel: scope.Channel, Member: scope.Member, Group: scope.GroupExternalID}
}

// Record returns the scope as records have it.
func (s Scope) Record() record.Scope {
	return record.Scope{App: s.App, Channel: s.Channel, Member: s.Member, GroupExternalID: s.Group}
}

// head is the first line of a recording.
const head = `{"recording":1}`

// The fields of a line.
const (
	fieldRecording = "recording"
	fieldN         = "n"
	fieldAt        = "at"
	fieldScope     = "scope"
	fieldOp        = "op"
	fieldParams    = "params"
	fieldResult    = "result"
	fieldError     = "error"
)

// object returns the call as a line has it.
func (c Call) object() document.Object {
	scope, err := document.Encode(c.Scope)
	if err != nil {
		scope = document.O()
	}
	line := document.O(fieldN, c.N, fieldAt, int64(c.CalledAt), fieldScope, scope, fieldOp, string(c.Op), fieldParams, c.Params)
	if c.Err == nil || c.Result != nil {
		line = line.With(fieldResult, c.Result)
	}
	if c.Err != nil {
		line = line.With(fieldError, errorObject(c.Err))
	}
	return line
}

func errorObject(err *boterr.Error) any {
	text, failed := json.Marshal(err)
	if failed == nil {
		var value any
		if value, failed = document.ParseJSON(text); failed == nil {
			return value
		}
	}
	return document.O("code", string(err.Code))
}

// result returns what the call returned, as a door does.
func (c Call) result() (json.RawMessage, error) {
	var text json.RawMessage
	if c.Err == nil || c.Result != nil {
		encoded, err := document.EncodeJSON(c.Result)
		if err != nil {
			return nil, err
		}
		text = encoded
	}
	if c.Err == nil {
		return text, nil
	}
	own := *c.Err
	if own.Err == nil {
		own.Err = errors.New("this is what was recorded")
	}
	return text, &own
}
