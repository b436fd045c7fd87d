package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/redact"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The default and the largest number of records on a page.
const (
	usualLimit = 50
	mostLimit  = 200
)

// list holds the parameters of a request for records.
type list struct {
	app, id string
	// after and before are cursors: the page starts after one or ends before the other. At most one is set.
	after, before string
	limit         int
}

// asked decodes the parameters of a list. InvalidArgument: a number or a cursor is invalid, or both cursors are
// set. NotFound: the app is not in Config.Apps.
func (v *view) asked(r *http.Request) (list, error) {
	wanted := list{
		app: r.FormValue("app"), id: r.FormValue("id"), after: r.FormValue("after"), before: r.FormValue("before"), limit: usualLimit,
	}
	if wanted.app == "" {
		wanted.app = v.apps[0]
	}
	if err := v.mayLookAt(wanted.app); err != nil {
		return wanted, err
	}
	if text := r.FormValue("limit"); text != "" {
		given, err := strconv.Atoi(text)
		if err != nil || given < 1 || given > mostLimit {
			return wanted, boterr.Invalid("limit", "is %.100q; give a number from 1 to %d", text, mostLimit)
		}
		wanted.limit = given
	}
	return wanted, wanted.check(r.FormValue("skip"))
}

// maxPlace limits the bytes of a cursor. Ids are much shorter.
const maxPlace = 1000

// check refuses invalid cursors.
func (l list) check(skip string) error {
	switch {
	case skip != "":
		return boterr.Invalid("skip", "is not supported; give last of the previous page as after")
	case l.after != "" && l.before != "":
		return boterr.Invalid("before", "cannot be combined with after; give only one of them")
	}
	for name, place := range map[string]string{"after": l.after, "before": l.before} {
		if len(place) > maxPlace || !utf8.ValidString(place) || strings.ContainsFunc(place, unicode.IsControl) {
			return boterr.Invalid(name,
				"%.100q is not a position in this list; give the field \"first\" or \"last\" of a page that you received", place)
		}
	}
	return nil
}

// mayLookAt returns NotFound for an app that is not in Config.Apps.
func (v *view) mayLookAt(app string) error {
	if slices.Contains(v.apps, app) {
		return nil
	}
	return boterr.New(boterr.NotFound, "app", "%q is not an app on this page; see about for their names", app)
}

// query selects the page's records that match filter, and one more. There is an index by app and id. Ids grow with time,
// except the ids of agendas that runs create.
func (l list) query(filter document.Object) record.Query {
	asked := record.Query{Filter: filter, SortBy: document.O(record.FieldID, -1), Limit: int64(l.limit) + 1}
	switch {
	case l.after != "":
		asked.Filter = filter.With(record.FieldID, document.O("$lt", l.after))
	case l.before != "":
		asked.Filter = filter.With(record.FieldID, document.O("$gt", l.before))
		asked.SortBy = document.O(record.FieldID, 1)
	}
	return asked
}

// holds reports whether the id lies within the page's cursors.
func (l list) holds(id string) bool {
	return (l.after == "" || id < l.after) && (l.before == "" || id > l.before)
}

type told struct {
	Records []document.Object `json:"records"`
	// HasMore is true if more records follow the page, or, for a request with before, precede it.
	HasMore bool `json:"hasMore"`
	// First and Last are the cursors of the first and the last record, "" on an empty page.
	First string `json:"first,omitempty"`
	Last  string `json:"last,omitempty"`
}

// tell builds a page, with credentials redacted. If found has one record more than the page, HasMore is true.
// For a request with before, found starts with the record nearest to it.
func tell[R any](wanted list, found []R, placeOf func(R) string) (any, error) {
	shown := told{Records: []document.Object{}, HasMore: len(found) > wanted.limit}
	found = found[:min(len(found), wanted.limit)]
	if wanted.before != "" {
		slices.Reverse(found)
	}
	for _, one := range found {
		kept, err := document.Encode(one)
		if err != nil {
			return nil, err
		}
		shown.Records = append(shown.Records, redact.Object(kept))
	}
	if len(found) > 0 {
		shown.First, shown.Last = placeOf(found[0]), placeOf(found[len(found)-1])
	}
	return shown, nil
}

// lister returns the records of an app that match a query. It logs the records that cannot be read.
type lister[R any] func(ctx context.Context, scope record.Scope, query record.Query) ([]*R, error)

// listed answers a request for records. If an id is given, it keeps only records with that id or with that id in the given
// field. These are two searches because no index serves both.
func listed[R any](v *view, r *http.Request, field string, all lister[R], idOf func(*R) string) (any, error) {
	wanted, err := v.asked(r)
	if err != nil {
		return nil, err
	}
	scope, filter := record.Scope{App: wanted.app}, document.O()
	if wanted.id != "" {
		filter = document.O(field, wanted.id)
	}
	found, err := all(r.Context(), scope, wanted.query(filter))
	if err == nil && wanted.id != "" && wanted.holds(wanted.id) {
		var own []*R
		own, err = all(r.Context(), scope, record.Query{Filter: document.O(record.FieldID, wanted.id), Limit: 1})
		found = append(slices.DeleteFunc(found, func(one *R) bool { return idOf(one) == wanted.id }), own...)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b *R) int { return strings.Compare(idOf(b), idOf(a)) })
	if wanted.before != "" { // tell expects the record nearest to before first.
		slices.Reverse(found)
	}
	return tell(wanted, found, idOf)
}

func (v *view) members(r *http.Request) (any, error) {
	all := func(ctx context.Context, scope record.Scope, q record.Query) ([]*member.Member, error) {
		env := v.runtime.Env()
		return members.New(env, scope, channels.New(env, scope)).List(ctx, q, v.unreadable.Warn)
	}
	return listed(v, r, "externalId", all, func(one *member.Member) string { return one.ID })
}

func (v *view) agendas(r *http.Request) (any, error) {
	all := func(ctx context.Context, scope record.Scope, q record.Query) ([]*agenda.Record, error) {
		return agendas.New(v.runtime.Env(), scope, agendas.Ports{}).List(ctx, q, v.unreadable.Warn)
	}
	return listed(v, r, "member", all, func(one *agenda.Record) string { return one.ID })
}

// assignment is a request for a person with its state.
type assignment struct {
	livechat.AssignmentRecord

	State livechat.State `json:"state"`
}

func (v *view) assignments(r *http.Request) (any, error) {
	all := func(ctx context.Context, scope record.Scope, q record.Query) ([]*assignment, error) {
		found, err := livechats.New(v.runtime.Env(), scope, livechats.Ports{}).ListAssignments(ctx, q, v.unreadable.Warn)
		shown := make([]*assignment, len(found))
		for i, one := range found {
			shown[i] = &assignment{*one, one.State()}
		}
		return shown, err
	}
	return listed(v, r, "member", all, func(one *assignment) string { return one.ID })
}
