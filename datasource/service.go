package datasource

import (
	"net/url"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// Service implements Operations over a store. It is safe for concurrent use.
type Service struct {
	env record.Env
	app string
}

var _ Operations = (*Service)(nil)

// New returns the operations on the data sources of a scope's app.
func New(env record.Env, scope record.Scope) *Service {
	return &Service{env: env.WithDefaults(), app: scope.App}
}

// maxCollectionName is the longest name of a collection in bytes that every store
// takes.
const maxCollectionName = 200

// either returns the data source that one of two parameters names.
func (s *Service) collection(collectionName, dataSourceID string) (*record.Collection, error) {
	switch {
	case collectionName != "" && dataSourceID != "" && collectionName != dataSourceID:
		return nil, boterr.Invalid("collectionName", "is not what dataSourceId is: give one of both")
	case collectionName != "":
		return s.open("collectionName", collectionName)
	default:
		return s.open("dataSourceId", dataSourceID)
	}
}

// open returns the collection of a data source, which field names.
func (s *Service) open(field, id string) (*record.Collection, error) {
	name, err := collectionOf(s.app, field, id)
	if err != nil {
		return nil, err
	}
	return record.OpenNamed(s.env, entryKind, name), nil
}

// entryKind is that of entries: each data source has a collection of its own.
var entryKind = &record.Kind{
	Name:   "entry",
	Stamps: []string{record.FieldCreatedAt, record.FieldUpdatedAt},
	Fixed:  []string{record.FieldCreatedAt},
}

// collectionOf returns the name of the collection of a data source, which field names.
func collectionOf(app, field, id string) (string, error) {
	if id == "" {
		return "", boterr.Invalid(field, "is missing: name the data source")
	}
	// Both parts are escaped, so that no pair of app and data source has the name of
	// another pair.
	name := "data/" + url.QueryEscape(app) + "/" + url.QueryEscape(id)
	if len(name) > maxCollectionName {
		return "", boterr.Invalid(field, "is too long: with the app's id it has %d bytes, at most %d are allowed",
			len(name), maxCollectionName)
	}
	return name, nil
}
