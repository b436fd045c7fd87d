package chatlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// TypingTime is the time after which typing ends unless SetTyping is called again.
const TypingTime = 6 * time.Second

// State is the part of a conversation that is not stored in entries.
type State struct {
	// Version differs after each change of the state.
	Version int64
	// Marks maps the names of marks to the numbers of entries.
	Marks map[string]int64
	// Typing are the typists who are typing now, sorted by Key.
	Typing []Typist
}

// Typist is a person or a bot who is typing.
type Typist struct {
	// Key identifies the typist within the conversation. From and Name have the same meaning as in an Entry.
	Key, From, Name string
	// Until is the time at which the typing ends if it is not renewed.
	Until document.Timestamp
}

// The fields of a state's document. The _id is the conversation's key, and fieldAt is the time of the last change.
const (
	fieldVersion = "n"
	fieldMarks   = "marks"
	fieldTyping  = "typing"
	fieldUntil   = "until"
)

// State returns the state of a conversation, without typing that has ended. InvalidArgument: the conversation is
// incomplete. Other errors come from the store.
func (l *Log) State(ctx context.Context, in Conversation) (State, error) {
	if err := in.check(); err != nil {
		return State{}, err
	}
	found, exists, err := l.states.Get(ctx, in.key())
	if err != nil || !exists {
		return State{}, err
	}
	state := State{Version: document.Get(found, fieldVersion, int64(0)), Marks: map[string]int64{}}
	for name := range document.Get(found, fieldMarks, document.Object{}).All() {
		state.Marks[name] = document.Get(found, fieldMarks+"."+name, int64(0))
	}
	now := document.TimestampOf(l.config.Env.Now())
	for _, typing := range document.Get(found, fieldTyping, document.Object{}).All() {
		o, _ := typing.(document.Object)
		t := Typist{
			Key: document.Get(o, fieldKey, ""), From: document.Get(o, fieldFrom, ""), Name: document.Get(o, fieldName, ""),
			Until: document.Timestamp(document.Get(o, fieldUntil, int64(0))),
		}
		if t.Until > now {
			state.Typing = append(state.Typing, t)
		}
	}
	slices.SortFunc(state.Typing, func(a, b Typist) int { return strings.Compare(a.Key, b.Key) })
	return state, nil
}

// SetMark sets a mark of a conversation to seq, unless the mark is already greater. InvalidArgument: the name does not
// consist of the letters a to z, or the conversation is incomplete. Other errors come from the store.
func (l *Log) SetMark(ctx context.Context, in Conversation, name string, seq int64) error {
	if err := in.check(); err != nil {
		return err
	}
	if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") != "" {
		return boterr.Invalid("name", "is %.100q: it must consist of the letters a to z", name)
	}
	path := fieldMarks + "." + name
	key := in.key()
	filter := mustFilter(document.IDField, key, path, document.O("$not", document.O("$gte", seq)))
	return l.setState(ctx, key, filter, "$set", document.O(path, seq, fieldAt, l.now()), "$inc", document.O(fieldVersion, 1))
}

// SetTyping adds a typist to the state for TypingTime, and replaces a typist with the same Key. Until is ignored.
// InvalidArgument: the conversation or the typist is incomplete or too large. Other errors come from the store.
func (l *Log) SetTyping(ctx context.Context, in Conversation, by Typist) error {
	if err := in.check(); err != nil {
		return err
	}
	if err := (Entry{Key: by.Key, From: by.From, Name: by.Name}).check(); err != nil {
		return err
	}
	key := in.key()
	typing := document.O(fieldKey, by.Key, fieldFrom, by.From, fieldName, by.Name,
		fieldUntil, int64(l.now()+document.Timestamp(TypingTime.Milliseconds())))
	return l.setState(ctx, key, mustFilter(document.IDField, key),
		"$set", document.O(typingPath(by.Key), typing, fieldAt, l.now()), "$inc", document.O(fieldVersion, 1))
}

// StopTyping removes the typist with a key from the state. The errors are the errors of SetTyping.
func (l *Log) StopTyping(ctx context.Context, in Conversation, typist string) error {
	if err := in.check(); err != nil {
		return err
	}
	key := in.key()
	filter := mustFilter(document.IDField, key, typingPath(typist), document.O("$exists", true))
	update := must(query.CompileUpdate(document.O("$unset", document.O(typingPath(typist), ""), "$inc", document.O(fieldVersion, 1))))
	_, err := l.states.Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{})
	if err == nil {
		l.subs.notify(key)
	}
	return err
}

// typingPath returns the path of a typist in the state's document. It uses a hash, because a key may contain any
// characters.
func typingPath(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fieldTyping + "." + hex.EncodeToString(sum[:8])
}

// setState updates the state that a filter matches, and creates the state first if there is none. The filter contains
// the state's _id.
func (l *Log) setState(ctx context.Context, key string, filter *query.Filter, update ...any) error {
	if err := l.prepare(ctx); err != nil {
		return err
	}
	change := query.Change{Update: must(query.CompileUpdate(document.O(update...)))}
	done, err := l.states.Update(ctx, filter, change, store.UpdateOptions{})
	if err == nil && done.Matched == 0 {
		// There is no state yet, or the filter excludes it. The first version is a time, so that it differs from the
		// versions of a state that was erased.
		now := int64(l.now())
		err = l.states.Insert(ctx, document.O(document.IDField, key, fieldVersion, now, fieldAt, now))
		if err == nil || boterr.CodeOf(err) == boterr.AlreadyExists {
			done, err = l.states.Update(ctx, filter, change, store.UpdateOptions{})
		}
	}
	if err == nil && done.Matched > 0 {
		l.subs.notify(key)
	}
	return err
}

func (l *Log) now() document.Timestamp { return document.TimestampOf(l.config.Env.Now()) }
