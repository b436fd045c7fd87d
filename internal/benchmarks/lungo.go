package main

import (
	"context"
	"time"

	"github.com/256dpi/lungo"
	"github.com/256dpi/lungo/bsonkit"
	"github.com/256dpi/lungo/mongokit"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/mongo"
	"go.mongodb.org/mongo-driver/mongo/options"
)

// peer is lungo on its memory store, used through the interface that it has in
// common with MongoDB's driver: filters and updates are bson documents, and what
// is found is decoded into bson documents, as with the driver.
type peer struct {
	engine *lungo.Engine
	places lungo.ICollection
	ids    []string
}

var _ engine[bson.D] = (*peer)(nil)

// peerIndexes are the indexes in lungo's terms; it has none for locations.
var peerIndexes = map[indexName]bson.D{
	onName:      {{Key: "name", Value: 1}},
	onArea:      {{Key: "area", Value: 1}},
	onPrice:     {{Key: "price", Value: 1}},
	onAreaPrice: {{Key: "area", Value: 1}, {Key: "price", Value: 1}},
}

func newLungo(ctx context.Context, count int) (engine[bson.D], error) {
	p := &peer{ids: make([]string, count)}
	for i := range p.ids {
		p.ids[i] = idAt(i)
	}
	err := p.open(ctx, lungo.NewMemoryStore())
	return p, err
}

// open opens lungo on a store. It keeps the log of changes, which it copies with
// each of them, as short as lungo lets it be.
func (p *peer) open(ctx context.Context, store lungo.Store) error {
	client, opened, err := lungo.Open(ctx, lungo.Options{
		Store: store, MinOplogSize: 1, MaxOplogSize: 1, MinOplogAge: time.Nanosecond,
	})
	if err == nil {
		p.engine, p.places = opened, client.Database(namespace[0]).Collection(namespace[1])
	}
	return err
}

// namespace names lungo's database and collection.
var namespace = lungo.Handle{"benchmarks", "places"}

// load opens lungo anew on a store that has the documents, since inserting n
// documents into it takes time in n squared.
func (p *peer) load(ctx context.Context, documents []bson.D, index indexName) error {
	p.engine.Close()
	filled := mongokit.NewCollection(true)
	for _, document := range documents {
		converted, err := bsonkit.Transform(document)
		if err != nil {
			return err
		}
		if _, err := filled.Insert(converted); err != nil {
			return err
		}
	}
	store := lungo.NewMemoryStore()
	catalog := lungo.NewCatalog()
	catalog.Namespaces[namespace] = filled
	if err := store.Store(catalog); err != nil {
		return err
	}
	err := p.open(ctx, store)
	if keys, ok := peerIndexes[index]; ok && err == nil {
		_, err = p.places.Indexes().CreateOne(ctx, mongo.IndexModel{Keys: keys})
	}
	return err
}

func (p *peer) documentOf(from place) bson.D {
	tags := make(bson.A, 0, len(from.Tags))
	for _, tag := range from.Tags {
		tags = append(tags, tag)
	}
	return bson.D{
		{Key: "_id", Value: from.ID},
		{Key: "name", Value: from.Name},
		{Key: "area", Value: from.Area},
		{Key: "stars", Value: from.Stars},
		{Key: "price", Value: from.Price},
		{Key: "visits", Value: from.Visits},
		{Key: "tags", Value: tags},
		{Key: "location", Value: bson.D{
			{Key: "type", Value: "Point"},
			{Key: "coordinates", Value: bson.A{from.Location.Longitude, from.Location.Latitude}},
		}},
	}
}

func (p *peer) placeOf(document bson.D) (place, error) {
	text, err := bson.Marshal(document)
	if err != nil {
		return place{}, err
	}
	var written writtenPlace
	err = bson.Unmarshal(text, &written)
	return written.place(), err
}

func (p *peer) insert(ctx context.Context, documents []bson.D) error {
	list := make([]any, 0, len(documents))
	for _, document := range documents {
		list = append(list, document)
	}
	_, err := p.places.InsertMany(ctx, list)
	return err
}

func (p *peer) byID(ctx context.Context, i int) (found bson.D, err error) {
	err = p.places.FindOne(ctx, bson.D{{Key: "_id", Value: p.ids[i]}}).Decode(&found)
	return found, err
}

func (p *peer) find(ctx context.Context, q question) (found []bson.D, err error) {
	cursor, err := p.places.Find(ctx, peerQuery(q))
	if err != nil {
		return nil, err
	}
	err = cursor.All(ctx, &found)
	return found, err
}

func (p *peer) count(ctx context.Context, q question) (int64, error) {
	return p.places.CountDocuments(ctx, peerQuery(q))
}

func (p *peer) areas(ctx context.Context) ([]string, error) {
	found, err := p.places.Distinct(ctx, "area", bson.D{})
	return texts(found), err
}

// peerVisit is the update that counts a visit.
func peerVisit() bson.D {
	return bson.D{{Key: "$inc", Value: bson.D{{Key: "visits", Value: int64(1)}}}}
}

func (p *peer) visit(ctx context.Context, i int) (found bson.D, err error) {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After)
	err = p.places.FindOneAndUpdate(ctx, bson.D{{Key: "_id", Value: p.ids[i]}}, peerVisit(), after).Decode(&found)
	return found, err
}

func (p *peer) visitCheapest(ctx context.Context, q question) (found bson.D, err error) {
	after := options.FindOneAndUpdate().SetReturnDocument(options.After).SetSort(bson.D{{Key: "price", Value: 1}})
	err = p.places.FindOneAndUpdate(ctx, peerQuery(q), peerVisit(), after).Decode(&found)
	return found, err
}

func (p *peer) nearest(context.Context) ([]bson.D, error) { return nil, errLacking }

func (p *peer) close() { p.engine.Close() }

// peerQuery returns a query in lungo's terms.
func peerQuery(q question) bson.D {
	switch q {
	case nameIs:
		return bson.D{{Key: "name", Value: nameAt(askedName)}}
	case areaIs:
		return bson.D{{Key: "area", Value: askedArea}}
	case tagIs:
		return bson.D{{Key: "tags", Value: askedTag}}
	case priceBetween:
		return bson.D{{Key: "price", Value: bson.D{{Key: "$gte", Value: leastPrice}, {Key: "$lt", Value: mostPrice}}}}
	case areaAndPrice:
		return bson.D{{Key: "area", Value: askedArea}, {Key: "price", Value: bson.D{{Key: "$lt", Value: mostPrice}}}}
	default:
		return bson.D{}
	}
}
