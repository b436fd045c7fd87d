package postgres

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// Pool returns the store's pool of connections.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// CodeOf returns the code for a SQLSTATE.
func CodeOf(state string) boterr.Code { return codeOf(&pgconn.PgError{Code: state}) }

// Texts returns the statements of a collection by name. For entries there are two statements per name, one for
// each table.
func (s *Store) Texts(ctx context.Context, collection string) (map[string][]string, error) {
	c, err := s.made(ctx, collection)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	add := func(of any) {
		fields := reflect.ValueOf(of)
		for i := range fields.NumField() {
			if field := fields.Field(i); field.Kind() == reflect.String {
				name := fields.Type().Field(i).Name
				all[name] = append(all[name], field.String())
			}
		}
	}
	add(*c.texts)
	add(c.texts.entries[0])
	add(c.texts.entries[1])
	return all, nil
}

// BeginIndex does the first step of EnsureIndex, like a process that dies after it.
func (s *Store) BeginIndex(ctx context.Context, collection string, index store.Index) error {
	c, err := s.made(ctx, collection)
	if err != nil {
		return err
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	steps := 0
	err = engine.BuildIndex(ctx, index, func(ctx context.Context, isAlone bool, do func(engine.IndexDraft) error) error {
		steps++
		if steps > 1 {
			return errDead
		}
		return (&builder{store: s, collection: c, conn: conn}).change(ctx, isAlone, do)
	})
	if errors.Is(err, errDead) {
		return nil
	}
	return err
}

var errDead = errors.New("the process is dead")

// HoldIndexing makes EnsureIndex of this process wait until release is called, as if it were building an index.
func (s *Store) HoldIndexing() (release func()) {
	s.indexing <- struct{}{}
	return func() { <-s.indexing }
}

// Entries returns the number of entries of a collection.
func (s *Store) Entries(ctx context.Context, collection string) (count int, err error) {
	c, err := s.made(ctx, collection)
	if err != nil {
		return 0, err
	}
	err = s.pool.QueryRow(ctx, "SELECT (SELECT count(*) FROM "+s.schema+"._k"+strconv.Itoa(int(c.number))+") + (SELECT count(*) FROM "+
		s.schema+"._u"+strconv.Itoa(int(c.number))+")").Scan(&count)
	return count, err
}

// Locked locks a document until release is called.
func (s *Store) Locked(ctx context.Context, collection string, position int) (release func() error, err error) {
	c, err := s.made(ctx, collection)
	if err != nil {
		return nil, err
	}
	tx, err := s.pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, c.texts.lock, []int64{int64(position)})
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToMap)
	if err == nil && len(found) != 1 {
		err = pgx.ErrNoRows
	}
	return func() error { return tx.Rollback(context.WithoutCancel(ctx)) }, err
}

// Schema returns the quoted name of the schema.
func (s *Store) Schema() string { return s.schema }

// Channel returns the name of PostgreSQL's channel for notices.
func (s *Store) Channel() string { return s.notices.channel }

// WaitOn waits for a notice of a topic on a connection that listens.
func (s *Store) WaitOn(c *pgx.Conn, topic string, quiet time.Duration, heard func(text string)) error {
	s.notices.mu.Lock()
	s.notices.isListening = true // The store opens no other connection.
	s.notices.mu.Unlock()
	stop := s.Listen(topic, heard)
	defer stop()
	return s.notices.wait(c, quiet)
}

// GroupsOf returns the number of groups for a number of writes that wait for one document.
func GroupsOf(writes int) (count int) {
	g := groups{waiting: map[place][]*grouped{}}
	for range writes {
		g.add(&grouped{})
	}
	for next := g.next(); len(next) > 0; next = g.next() {
		count++
		g.end(next[0].place)
	}
	return count
}
