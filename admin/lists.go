package admin

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// How many records a list has: where nothing is said, and at most.
const (
	usualLimit = 50
	mostLimit  = 200
)

// list is what a request for records asks for.
type list struct {
	app, id     string
	skip, limit int
}

// asked reads what a request asks for. InvalidArgument: a number is none, or too large. NotFound: the app is
// none of those that may be looked at.
func (v *view) asked(r *http.Request) (list, error) {
	wanted := list{app: r.FormValue("app"), id: r.FormValue("id"), limit: usualLimit}
	if wanted.app == "" {
		wanted.app = v.apps[0]
	}
	if err := v.mayLookAt(wanted.app); err != nil {
		return wanted, err
	}
	for name, number := range map[string]*int{"skip": &wanted.skip, "limit": &wanted.limit} {
		text := r.FormValue(name)
		if text == "" {
			continue
		}
		given, err := strconv.Atoi(text)
		if err != nil || given < 0 {
			return wanted, boterr.Invalid(name, "is %q: give a number from 0 on", text)
		}
		*number = given
	}
	if wanted.limit == 0 || wanted.limit > mostLimit {
		return wanted, boterr.Invalid("limit", "is %d: give one from 1 to %d", wanted.limit, mostLimit)
	}
	return wanted, nil
}

// mayLookAt returns NotFound for an app that is none of those that may be looked at.
func (v *view) mayLookAt(app string) error {
	if slices.Contains(v.apps, app) {
		return nil
	}
	return boterr.New(boterr.NotFound, "app", "%q is none of the apps that are shown", app)
}

// query is what the store is asked for: one record more than is shown, and those of an id that stands in one
// of some fields. Ids grow with time, and each store has an index of them.
func (l list) query(idFields ...string) record.Query {
	asked := record.Query{SortBy: document.O(record.FieldID, -1), Skip: int64(l.skip), Limit: int64(l.limit) + 1}
	if l.id == "" {
		return asked
	}
	among := document.A()
	for _, field := range idFields {
		among = among.Append(document.O(field, l.id))
	}
	asked.Filter = document.O("$or", among)
	return asked
}

// scope is that of the app.
func (l list) scope() record.Scope { return record.Scope{App: l.app} }

// told is a list of records.
type told struct {
	Records []document.Object `json:"records"`
	HasMore bool              `json:"hasMore"`
}

// tell returns records without the one that tells that there are more, and without credentials.
func tell[R any](wanted list, found []R, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	shown := told{Records: []document.Object{}, HasMore: len(found) > wanted.limit}
	for _, one := range found[:min(len(found), wanted.limit)] {
		kept, err := document.Encode(one)
		if err != nil {
			return nil, err
		}
		shown.Records = append(shown.Records, redacted(kept))
	}
	return shown, nil
}

func (v *view) members(r *http.Request) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	env := v.runtime.Env()
	members := member.New(env, wanted.scope(), channel.New(env, wanted.scope()))
	found, err := members.Find(r.Context(), wanted.query(record.FieldID, "externalId"))
	return tell(wanted, values(found), err)
}

func (v *view) agendas(r *http.Request) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	found, err := agenda.New(v.runtime.Env(), wanted.scope(), agenda.Ports{}).Find(r.Context(), wanted.query(record.FieldID, "member"))
	return tell(wanted, values(found), err)
}

// assignment is a request for a person with what its record says of it.
type assignment struct {
	livechat.AssignmentRecord

	State livechat.State `json:"state"`
}

func (v *view) assignments(r *http.Request) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	found, err := v.runtime.LiveChats(wanted.app).FindAssignments(r.Context(), wanted.query(record.FieldID, "member"))
	shown := make([]assignment, len(found))
	for i, one := range found {
		shown[i] = assignment{*one, one.State()}
	}
	return tell(wanted, shown, err)
}

// values returns what pointers point to.
func values[R any](found []*R) []R {
	all := make([]R, len(found))
	for i, one := range found {
		all[i] = *one
	}
	return all
}
