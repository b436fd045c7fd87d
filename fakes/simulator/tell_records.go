package simulator

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// tellRecords tells the agendas, the requests for a person and the data.
func (b *branch) tellRecords(ctx context.Context, w *world) error {
	w.Agendas, w.Assignments, w.Data = []document.Object{}, []document.Object{}, []shownData{}
	var problems []error
	for _, p := range b.people() {
		if !p.isAlone() {
			continue
		}
		for _, due := range p.actor.In(b.platform).Agendas() { //nolint:contextcheck // The platform takes none: nothing in it waits.
			told, err := document.Encode(*due)
			w.Agendas, problems = append(w.Agendas, told), append(problems, err)
		}
	}
	for _, name := range b.platform.DataSources() {
		all := b.platform.Data(name) //nolint:contextcheck // The platform takes none: nothing in it waits.
		w.Data = append(w.Data, shownData{Name: name, Count: len(all), Entries: newest(all)})
	}
	for _, scope := range b.scopes() {
		problems = append(problems, b.tellAssignments(ctx, w, scope))
	}
	return errors.Join(problems...)
}

// tellAssignments tells the requests of an app, the oldest first, each with its state.
func (b *branch) tellAssignments(ctx context.Context, w *world, scope record.Scope) error {
	found, err := b.platform.Runtime().LiveChats(scope.App).FindAssignments(ctx, record.Query{SortBy: document.O("createdAt", 1)})
	if err != nil {
		return err
	}
	for _, one := range newest(found) {
		told, err := document.Encode(*one)
		if err != nil {
			return err
		}
		w.Assignments = append(w.Assignments, told.With("state", string(one.State())))
	}
	return nil
}
