package agendas

import (
	"context"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// Ports are what a Service works with.
type Ports struct {
	// Members are those of the scope's app. Required.
	Members members.Getter
	// Zone gives the time zone in which the patterns for a member are read, where they name
	// none themselves. The default is UTC.
	Zone Zone
	// Tree returns the tree of a node for a member, where a call names no tree. The
	// default is the tree that the member is in.
	Tree func(m *member.Member, nodeCompositeID string) string
}

// Service is the agendas of one app. It is safe for concurrent use.
type Service struct {
	env     record.Env
	scope   record.Scope
	ports   Ports
	agendas *record.Collection
}

var _ agenda.Operations = (*Service)(nil)

// New returns the agendas of the scope's app.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	if ports.Tree == nil {
		ports.Tree = func(m *member.Member, _ string) string { return m.BotMeta.Tree() }
	}
	return &Service{
		env:     env.WithDefaults(),
		scope:   scope,
		ports:   ports,
		agendas: record.OfApp(env, kind, scope.App),
	}
}

// EnsureIndexes makes the indexes by which a Service finds the agendas of a member, and by which those of
// an app or a member can be listed in pages in the order of their ids, unless they are there. A host calls it
// once, before it uses the store. The errors are those of store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	for _, index := range []store.Index{
		// Completed agendas stand apart, so that they cost the operations nothing.
		store.Ascending(record.FieldApp, fieldMember, fieldCompleted, fieldTag),
		store.Ascending(record.FieldApp, record.FieldID),
		store.Ascending(record.FieldApp, fieldMember, record.FieldID),
	} {
		if err := database.Collection(kind.Collection).EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	return nil
}

// Find returns the agendas of the app as the store keeps them, or an empty slice. It is
// for hosts: those that have failed, for one, are
//
//	agendas.Find(ctx, record.Query{Filter: document.O("failed", true)})
//
// Filter and SortBy name the JSON fields of Record. InvalidArgument: one of them, or a
// number, is wrong. FailedPrecondition: what is stored is no agenda.
func (s *Service) Find(ctx context.Context, query record.Query) ([]*agenda.Record, error) {
	found, err := s.agendas.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, fromDocument)
}

// ofMember returns the agendas of a member: all, or those with a tag.
func (s *Service) ofMember(memberID, tag string) *record.Collection {
	agendas := s.agendas.Where(fieldMember, memberID)
	if tag != "" {
		return agendas.Where(fieldTag, tag)
	}
	return agendas
}

// openFilter returns the filter of the open agendas that a call with a tag, or without one, is
// about.
func openFilter(tag string) document.Object {
	filter := document.O(fieldCompleted, false)
	if tag == "" {
		filter = filter.With(fieldTag, document.O("$not", document.O("$regex", "^"+agenda.LiveChatTagPrefix)))
	}
	return filter
}

// missingTag is the error for a replace without a tag.
func missingTag() error {
	return boterr.Invalid("tag", "is missing: replace removes the agendas of one tag, so give the tag")
}

// inMeta returns the error of a write whose other parameters are checked: what a store
// refuses then is in meta, too deep or too large.
func inMeta(err error) error {
	if boterr.CodeOf(err) != boterr.InvalidArgument {
		return err
	}
	return boterr.WithField("meta", err)
}
