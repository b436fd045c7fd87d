package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// conn is a connection to the file with its prepared statements. Only one goroutine may use it at a time.
type conn struct {
	sql        *sql.Conn
	statements map[string]*sql.Stmt
	decoder    *engine.Decoder
}

// maxStatements is the largest number of prepared statements of a connection.
const maxStatements = 512

func newConn(ctx context.Context, db *sql.DB) (*conn, error) {
	c, err := db.Conn(ctx)
	if err != nil {
		return nil, failure(err)
	}
	return &conn{sql: c, statements: map[string]*sql.Stmt{}, decoder: engine.NewDecoder()}, nil
}

func (c *conn) close() error {
	c.forget()
	return c.sql.Close()
}

// discard closes the connection instead of returning it to the pool.
func (c *conn) discard() {
	_ = c.sql.Raw(func(any) error { return driver.ErrBadConn })
}

// forget closes all statements. An open statement would keep the log from being emptied.
func (c *conn) forget() {
	for _, statement := range c.statements {
		_ = statement.Close()
	}
	clear(c.statements)
}

func (c *conn) prepare(text string) (*sql.Stmt, error) {
	if known, ok := c.statements[text]; ok {
		return known, nil
	}
	if len(c.statements) >= maxStatements {
		c.forget()
	}
	statement, err := c.sql.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, failure(err)
	}
	c.statements[text] = statement
	return statement, nil
}

// exec executes a statement, and returns the number of rows that it changed.
func (c *conn) exec(text string, arguments ...any) (int64, error) {
	statement, err := c.prepare(text)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(context.Background(), arguments...)
	if err != nil {
		return 0, failure(err)
	}
	count, err := result.RowsAffected()
	return count, failure(err)
}

// query calls row for each row, until row returns false.
func (c *conn) query(
	ctx context.Context, row func(rows *sql.Rows) (bool, error), text string, arguments ...any,
) error {
	err := c.rows(ctx, row, text, arguments)
	if err == nil {
		return nil
	}
	if ended := engine.CheckEnded(ctx); ended != nil {
		return ended // The driver has several errors for rows that a context closed.
	}
	return failure(err)
}

func (c *conn) rows(ctx context.Context, row func(rows *sql.Rows) (bool, error), text string, arguments []any) error {
	statement, err := c.prepare(text)
	if err != nil {
		return err
	}
	rows, err := statement.QueryContext(ctx, arguments...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Rows.Err returns the same error.
	for rows.Next() {
		if goOn, err := row(rows); err != nil || !goOn {
			return err
		}
	}
	return rows.Err()
}

// scan reads the columns of a row. If a column does not have the expected type, the file is damaged, because
// each statement returns columns of fixed types.
func scan(rows *sql.Rows, to ...any) error {
	if err := rows.Scan(to...); err != nil {
		return damaged("reading a row: %w", err)
	}
	return nil
}

// number returns the single number in a statement's result.
func (c *conn) number(ctx context.Context, text string, arguments ...any) (n int64, err error) {
	err = c.query(ctx, func(rows *sql.Rows) (bool, error) { return false, scan(rows, &n) }, text, arguments...)
	return n, err
}

// sumSize is the size of the checksum before a stored document, in bytes.
const sumSize = 4

// castagnoli is the polynomial that processors support with an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal encodes a document for the file.
func seal(position uint64, o document.Object) []byte {
	text := engine.AppendDocument(make([]byte, sumSize, 256), o)
	binary.LittleEndian.PutUint32(text, sum(position, text[sumSize:]))
	return text
}

// sealBytes returns text after its checksum, which includes the position.
func sealBytes(position uint64, text []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, sum(position, text)), text...)
}

func sum(position uint64, text []byte) uint32 {
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], position)
	return crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, text)
}

var errSum = errors.New("the checksum is wrong")

// openBytes verifies the checksum of sealBytes and removes it.
func openBytes(position uint64, sealed []byte) ([]byte, error) {
	if len(sealed) < sumSize || binary.LittleEndian.Uint32(sealed) != sum(position, sealed[sumSize:]) {
		return nil, errSum
	}
	return sealed[sumSize:], nil
}

// open decodes a document from the file.
func (c *conn) open(position uint64, sealed []byte) (document.Object, error) {
	text, err := openBytes(position, sealed)
	if err != nil {
		return document.Object{}, damaged("decoding the document at position %d: %w", position, err)
	}
	o, err := c.decoder.Document(text)
	if err != nil {
		return o, damaged("decoding the document at position %d: %w", position, err)
	}
	return o, nil
}

// damaged returns the error for invalid content of the file.
func damaged(format string, arguments ...any) error {
	err := boterr.New(boterr.FailedPrecondition, "", format, arguments...)
	return boterr.New(boterr.FailedPrecondition, "", "the file is damaged; replace it by a backup: %w", err)
}

// failure adds a code to an error of SQLite. It returns other errors unchanged.
func failure(err error) error {
	switch kindOf(err) {
	case sqlite3.SQLITE_OK:
		return err
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged("%w", err)
	case sqlite3.SQLITE_INTERRUPT:
		return boterr.New(boterr.Canceled, "", "the context ended: %w", err)
	case sqlite3.SQLITE_FULL:
		return boterr.New(boterr.Unavailable, "", "the disk is full, and nothing was written; free space on it: %w", err)
	default:
		return boterr.New(boterr.Unavailable, "", "the file could not be read or written: %w", err)
	}
}

// kindOf returns SQLite's primary error code. For errors that are not from SQLite, it returns SQLITE_OK.
func kindOf(err error) int {
	const kind = 0xff // The higher bits make the code more specific.
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return sqlite3.SQLITE_OK
	}
	return failed.Code() & kind
}

// readers manages the connections for reads.
type readers struct {
	connect func(ctx context.Context) (*conn, error)
	// slots has a token for each connection in use. Its capacity limits their number.
	slots chan struct{}
	// closing is closed when no more reads may start.
	closing <-chan struct{}

	mu   sync.Mutex
	idle []*conn
}

// maxReaders is the largest number of concurrent reads. Others wait.
const maxReaders = 32

// take returns a connection, and a function that releases it.
func (r *readers) take(ctx context.Context) (c *conn, release func(), err error) {
	select {
	case <-r.closing:
		return nil, nil, errClosed
	default:
	}
	select {
	case r.slots <- struct{}{}:
	default:
		select {
		case r.slots <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, engine.CheckEnded(ctx)
		case <-r.closing:
			return nil, nil, errClosed
		}
	}
	if c, err = r.connection(ctx); err != nil {
		<-r.slots
		return nil, nil, err
	}
	return c, func() { r.give(c) }, nil
}

func (r *readers) connection(ctx context.Context) (*conn, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.idle) - 1; last >= 0 {
		c := r.idle[last]
		r.idle = r.idle[:last]
		return c, nil
	}
	return r.connect(ctx)
}

func (r *readers) give(c *conn) {
	r.mu.Lock()
	r.idle = append(r.idle, c)
	r.mu.Unlock()
	<-r.slots
}

// pause calls a function while no connection reads. It does nothing if the current reads take longer than wait.
func (r *readers) pause(wait time.Duration, call func()) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	taken := 0
	defer func() {
		for range taken {
			<-r.slots
		}
	}()
	for taken < cap(r.slots) {
		select {
		case r.slots <- struct{}{}:
			taken++
		case <-timer.C:
			return
		}
	}
	call()
}

// close waits for all reads and closes the connections.
func (r *readers) close() error {
	for range cap(r.slots) {
		r.slots <- struct{}{}
	}
	var failed error
	for _, c := range r.idle {
		if err := c.close(); err != nil {
			failed = err
		}
	}
	return failed
}

var errClosed = boterr.New(boterr.FailedPrecondition, "", "the store is closed; open it again")
