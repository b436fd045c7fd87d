package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
)

// SQLSTATEs that the store handles.
const (
	codeUnique        = "23505"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeCanceled      = "57014"
	codeReadOnly      = "25006"
	codeLockTimeout   = "55P03"
	// The server ends the connection with these if the process does not continue its transaction in time.
	codeIdleInTransaction, codeTransactionTimeout = "25P03", "25P04"
	// codeStale is raised by the function _stale.
	codeStale = "BOTCV"
)

// failure adds a code to an error of the driver. Errors that have a code are returned unchanged. ctx is the
// caller's context, without the store's timeout.
func (s *Store) failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, isOurs := boterr.AsError(err); isOurs {
		return err
	}
	if lost, isLost := errors.AsType[unknownError](err); isLost {
		return lost.coded(ctx)
	}
	failed, isServers := errors.AsType[*pgconn.PgError](err)
	switch {
	case ctx.Err() != nil:
		return engine.CheckEnded(ctx)
	case s.closed.Load():
		return boterr.New(boterr.FailedPrecondition, "", "the store is closed; open it again")
	case !isServers && pgconn.Timeout(err), isServers && failed.Code == codeCanceled:
		return boterr.New(boterr.Unavailable, "",
			"PostgreSQL did not answer within %v, and nothing was written; repeat the call: %w", s.timeout, err)
	case !isServers:
		return boterr.New(boterr.Unavailable, "", "PostgreSQL did not answer, and nothing was written; repeat the call: %w", err)
	case failed.Code == codeReadOnly:
		return boterr.New(boterr.Unavailable, "",
			"the server is a standby, which accepts no writes; give the address of the primary, or add target_session_attrs=read-write: %w", err)
	default:
		return boterr.New(codeOf(failed), "", "PostgreSQL refused the call, and nothing was written: %w", err)
	}
}

// stateOf returns the SQLSTATE of an error of the server, or "" for other errors.
func stateOf(err error) string {
	failed, isServers := errors.AsType[*pgconn.PgError](err)
	if !isServers {
		return ""
	}
	return failed.Code
}

// codeOf returns the code for an error of the server, by the class of its SQLSTATE.
func codeOf(failed *pgconn.PgError) boterr.Code {
	if failed.Code == codeIdleInTransaction || failed.Code == codeTransactionTimeout {
		return boterr.Unavailable
	}
	switch failed.Code[:min(2, len(failed.Code))] {
	case "08", "53", "55", "57", "58", "40": // Connections, resources, locks, shutdowns, the operating system, conflicts.
		return boterr.Unavailable
	case "28", "3D", "3F", "42", "XX": // Passwords, databases, schemas, permissions and tables, damaged data.
		return boterr.FailedPrecondition
	default:
		return boterr.Internal
	}
}

// hasLost reports whether an error means that the connection was lost. The server has then rolled back the
// transaction, unless it had received the commit. Other connections may be lost, too, so they are checked
// before their next use.
func (s *Store) hasLost(err error) bool {
	if err == nil || err == errStale || err == errMore { //nolint:errorlint // These are never wrapped.
		return false
	}
	if _, isOurs := boterr.AsError(err); isOurs {
		return false
	}
	failed, isServers := errors.AsType[*pgconn.PgError](err)
	if isServers && failed.SeverityUnlocalized != "FATAL" && failed.SeverityUnlocalized != "PANIC" {
		return false
	}
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		s.lostAt.Store(time.Now().UnixNano()) //nolint:forbidigo // Connections are idle in real time.
	}
	return true
}

// mustPing reports whether an idle connection must be checked before use.
func (s *Store) mustPing(_ context.Context, p pgxpool.ShouldPingParams) bool {
	lost := time.Unix(0, s.lostAt.Load())
	return p.IdleDuration > time.Second || p.IdleDuration >= time.Since(lost) //nolint:forbidigo // Connections are idle in real time.
}

// unknownError is the error of a write that the server may have kept. failure adds its code.
type unknownError struct{ cause error }

func (e unknownError) Error() string { return e.cause.Error() }

// coded returns the error for the caller: Canceled only if its own context has ended, because a server that does not
// answer within the store's timeout is Unavailable.
func (e unknownError) coded(ctx context.Context) error {
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return boterr.New(code, "",
		"the connection to PostgreSQL was lost during the commit, so the write may have been kept; read before you repeat it: %w", e.cause)
}
