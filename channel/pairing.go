package channel

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// Pairing is an app's setting which outlet channels serve the live chats of an inlet
// channel.
type Pairing struct {
	// App is the app that the channels belong to.
	App string `json:"app"`
	// Inlet is the id of the channel whose members ask for live chat.
	Inlet string `json:"inlet"`
	// Outlets are the ids of the channels where agents answer, in the order in which
	// they are asked.
	Outlets []string `json:"outlets"`
}

// pairingKind is how pairings are kept: one record for each inlet.
var pairingKind = &record.Kind{
	Name:       "pairing",
	Collection: "pairings",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt},
}

// pairingID returns the key of an inlet's pairing.
func (s *Service) pairingID(inlet string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(inlet)
}

// Pair sets which outlets an inlet is paired with, in order, in place of those before;
// none unpairs it. It is for hosts.
//
// InvalidArgument: an outlet comes twice or is the inlet. NotFound: the app has no
// such channel. Nothing is stored then.
func (s *Service) Pair(ctx context.Context, inlet string, outlets ...string) error {
	if _, err := s.channels.Get(ctx, inlet); err != nil {
		return boterr.In("inlet", err)
	}
	for i, outlet := range outlets {
		if err := s.checkOutlet(ctx, inlet, outlets[:i], outlet); err != nil {
			return boterr.In("outlets["+strconv.Itoa(i)+"]", err)
		}
	}
	_, err := s.pairings().FindAndModify(ctx, record.Patch{
		Filter: document.O(record.FieldID, s.pairingID(inlet)),
		Patch:  document.O("inlet", inlet, "outlets", append([]string{}, outlets...)),
		Upsert: true,
	}, true)
	return err
}

// checkOutlet refuses what cannot be an outlet beside those before it.
func (s *Service) checkOutlet(ctx context.Context, inlet string, before []string, outlet string) error {
	switch {
	case outlet == inlet:
		return boterr.Invalid("", "a channel cannot be its own outlet")
	case slices.Contains(before, outlet):
		return boterr.Invalid("", "the channel %s comes twice", outlet)
	}
	_, err := s.channels.Get(ctx, outlet)
	return err
}

// Pairing returns which outlets an inlet is paired with: none, where nothing was
// set. It is for hosts.
func (s *Service) Pairing(ctx context.Context, inlet string) (*Pairing, error) {
	found, err := s.pairings().Find(ctx, record.Query{Filter: document.O(record.FieldID, s.pairingID(inlet)), Limit: 1})
	if err != nil {
		return nil, err
	}
	pairing := &Pairing{App: s.scope.App, Inlet: inlet, Outlets: []string{}}
	if len(found) > 0 {
		pairing.Outlets = document.Get(found[0], "outlets", pairing.Outlets)
	}
	return pairing, nil
}
