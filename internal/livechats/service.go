package livechats

import (
	"context"

	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
)

// Service is the live chats of one app, for one scope. It is safe for concurrent use.
//
// Its parts stand beside each other: the router says where a request goes, tickets are what
// is sent there, conversations are where agents and members write, and the machine takes
// assignments through their states. All of them work on one core.
type Service struct {
	*core

	router        *router
	tickets       *tickets
	conversations *conversations
	machine       *machine
}

var _ livechat.Operations = (*Service)(nil)

// core is what the parts have in common: the records of the app, and the host's ports.
type core struct {
	env   record.Env
	scope record.Scope
	ports Ports
	texts livechat.Texts
}

func (s *core) assignments() *record.Collection {
	return record.OfApp(s.env, assignmentKind, s.scope.App)
}

func (s *core) groups() *record.Collection { return record.OfApp(s.env, groupKind, s.scope.App) }

func (s *core) admins() *record.Collection { return record.OfApp(s.env, adminKind, s.scope.App) }

// New returns the live chats of the scope's app.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	if ports.IdleTimeout <= 0 {
		ports.IdleTimeout = livechat.IdleTimeout
	}
	if ports.Pause == nil {
		ports.Pause = pause
	}
	texts := livechat.DefaultTexts()
	if ports.Texts != nil {
		texts = *ports.Texts
	}
	all := &struct { // One piece of memory: most contexts have live chats.
		service       Service
		core          core
		router        router
		tickets       tickets
		conversations conversations
		machine       machine
	}{core: core{
		env:   env.WithDefaults(),
		scope: scope,
		ports: ports,
		texts: texts,
	}}
	all.router.core, all.tickets.core, all.conversations.core = &all.core, &all.core, &all.core
	all.machine = machine{core: &all.core, router: &all.router, tickets: &all.tickets, conversations: &all.conversations}
	all.service = Service{
		core: &all.core, router: &all.router, tickets: &all.tickets, conversations: &all.conversations, machine: &all.machine,
	}
	return &all.service
}

// EnsureIndexes makes the indexes that live chats need in a store, unless they are there:
// a member has one open assignment at most, and no two agents of an app have the same
// externalId. The others find what is open, and the newest of what is over, without a look at the rest: what an event
// costs does not grow with the live chats that were. The assignments of an app or a member can be listed in pages, in the
// order of their ids. A host calls it once, before it uses the store. The errors are those of
// store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	ofApp := func(paths ...string) store.Index {
		return store.Ascending(append([]string{record.FieldApp}, paths...)...)
	}
	unique := func(path string) store.Index {
		index := ofApp(path)
		index.Unique = true
		return index
	}
	ended := store.Ascending(fieldEndedAt)
	ended.Sparse = true
	const bravoGroup = fieldGroupInfo + "." + fieldBravoGroupID
	for _, wanted := range []struct {
		kind  *record.Kind
		index store.Index
	}{
		{assignmentKind, unique(fieldSlot)},
		{assignmentKind, ofApp(fieldMember, fieldClosedAt)},
		{assignmentKind, ofApp(fieldGroup, fieldEndedAt)},
		{assignmentKind, ofApp(fieldGroup, record.FieldCreatedAt)},
		{assignmentKind, ofApp(fieldParentAssignment)},
		{assignmentKind, ofApp(fieldEndedAt, fieldAssignedAt, fieldSentAt)},
		{assignmentKind, ofApp(bravoGroup, fieldEndedAt)},
		{assignmentKind, ofApp(bravoGroup, record.FieldCreatedAt)},
		{assignmentKind, ended},
		{assignmentKind, ofApp(record.FieldID)},
		{assignmentKind, ofApp(fieldMember, record.FieldID)},
		{groupKind, ofApp(fieldOutlet, fieldExternalID, fieldActive, record.FieldCreatedAt)},
		{groupKind, ofApp(fieldExternalID, fieldActive, record.FieldCreatedAt)},
		{groupKind, ofApp(fieldOutlet, fieldAdminExternalID, fieldActive, record.FieldCreatedAt)},
		{groupKind, ofApp(fieldInletGroupExternalID, fieldActive, record.FieldCreatedAt)},
		{groupKind, ofApp(fieldMember, fieldActive, record.FieldCreatedAt)},
		{groupKind, ofApp(fieldAssignment, fieldOutlet)},
		{groupKind, store.Ascending(fieldActive, record.FieldUpdatedAt)},
		{adminKind, unique(fieldExternalID)},
	} {
		if err := database.Collection(wanted.kind.Collection).EnsureIndex(ctx, wanted.index); err != nil {
			return err
		}
	}
	return nil
}

// EnsureIndex makes an index of the assignments of each app by a path, unless it is there.
func EnsureIndex(ctx context.Context, database store.Store, path string) error {
	return database.Collection(assignmentKind.Collection).EnsureIndex(ctx, store.Ascending(record.FieldApp, path))
}
