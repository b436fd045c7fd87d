package mongo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/botctx/go-sdk/boterr"
)

// The codes of a server's errors, by what they mean here. The names are those of
// MongoDB's list of error codes.
var (
	// CommandNotFound, CommandNotSupported, NotImplemented, InvalidPipelineOperator,
	// unrecognised stage.
	unsupportedCodes = []int{59, 115, 168, 238, 40324}
	// IndexNotFound: what a server says of an index of a kind that it does not have, when
	// it is asked to make one.
	indexNotFound = 27
	// HostUnreachable, HostNotFound, NetworkTimeout, MaxTimeMSExpired, ShutdownInProgress,
	// WriteConcernTimeout, LockTimeout, WriteConflict, PrimarySteppedDown,
	// FailedToSatisfyReadPreference, ExceededTimeLimit, SocketException, NotWritablePrimary,
	// the Interrupted... and NotPrimary... of a change of primary,
	// CursorNotFound, QueryPlanKilled, CursorKilled, ReadConcernMajorityNotAvailableYet,
	// NetworkInterfaceExceededTimeLimit, NotYetInitialized, StaleConfig.
	unavailableCodes = []int{
		6, 7, 89, 50, 91, 64, 24, 46, 112, 189, 133, 262, 9001, 10107, 10058, 11600, 11601, 11602, 13435, 13436,
		43, 175, 237, 134, 202, 94, 13388,
	}
	// Unauthorized, AuthenticationFailed, IndexOptionsConflict, IndexKeySpecsConflict,
	// UnknownReplWriteConcern, UnsatisfiableWriteConcern, ReadConcernMajorityNotEnabled.
	preconditionCodes = []int{13, 18, 85, 86, 79, 100, 148}
	// ExceededMemoryLimit, QueryExceededMemoryLimitNoDiskUseAllowed, TooManyFilesOpen,
	// OutOfDiskSpace.
	exhaustedCodes = []int{146, 292, 264, 14031}
	// InternalError, UnknownError.
	internalCodes = []int{1, 8}
)

// failure turns an error of the driver into one of a Store. Where ctx ended while the
// server was asked, whether it wrote is not known.
func failure(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, hasDeadline(ctx) && mongo.IsTimeout(err):
		return boterr.New(boterr.Canceled, "", "the context ended before the server answered: %w",
			cmp.Or(context.Cause(ctx), err))
	case errors.As(err, new(*boterr.Error)):
		return err
	default:
		return boterr.New(codeOf(err), "", "MongoDB: %w", err)
	}
}

// hasDeadline reports whether ctx ends at a time that is known. The driver does not begin
// what it expects to take longer.
func hasDeadline(ctx context.Context) bool {
	_, ok := ctx.Deadline()
	return ok
}

// codeOf returns what an error of the driver means.
func codeOf(err error) boterr.Code {
	var server mongo.ServerError
	switch {
	case isDuplicate(err):
		return boterr.AlreadyExists
	case errors.As(err, new(mongo.MarshalError)):
		return boterr.InvalidArgument
	case isUnconfirmed(err):
		return boterr.Unavailable
	}
	if !errors.As(err, &server) || mongo.IsNetworkError(err) || mongo.IsTimeout(err) || isPassing(server) {
		return boterr.Unavailable // The driver found no server, lost it, or has been closed.
	}
	codes := server.ErrorCodes()
	for _, known := range []struct {
		codes []int
		means boterr.Code
	}{
		{unavailableCodes, boterr.Unavailable},
		{unsupportedCodes, boterr.Unsupported},
		{preconditionCodes, boterr.FailedPrecondition},
		{exhaustedCodes, boterr.ResourceExhausted},
		{internalCodes, boterr.Internal},
	} {
		if slices.ContainsFunc(codes, func(code int) bool { return slices.Contains(known.codes, code) }) {
			return known.means
		}
	}
	if isUnknownThere(server.Error()) {
		return boterr.Unsupported
	}
	return boterr.InvalidArgument
}

// isUnconfirmed reports whether a write was made, but not confirmed by as many servers as
// it should be. It must not be made again.
func isUnconfirmed(err error) bool {
	if one, ok := errors.AsType[mongo.WriteException](err); ok {
		return one.WriteConcernError != nil && len(one.WriteErrors) == 0
	}
	var many mongo.BulkWriteException
	return errors.As(err, &many) && many.WriteConcernError != nil && len(many.WriteErrors) == 0
}

// isDuplicate reports whether a document violates a unique index. FerretDB 1 says so of an
// update in the words of the database behind it.
func isDuplicate(err error) bool {
	return mongo.IsDuplicateKeyError(err) || strings.Contains(err.Error(), "UNIQUE constraint failed")
}

// isPassing reports whether the server says that the same may succeed later.
func isPassing(err mongo.ServerError) bool {
	return err.HasErrorLabel("RetryableWriteError") || err.HasErrorLabel("TransientTransactionError") ||
		err.HasErrorLabel("NetworkError")
}

// isUnknownThere reports whether the text of a server's error says that it does not know
// an operator or an option. Package document has compiled what was sent, so that it is
// the server that lacks it.
func isUnknownThere(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{
		"unknown operator", "unknown top level operator", "unknown modifier", "unknown expression", "not implemented",
		"not supported", "unrecognized expression", "unrecognized pipeline stage", "unknown field", "values are not allowed",
	}, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// isRefused reports whether an error says that the server would not do a change to this
// document, so that package document, asked about it, can tell why.
func isRefused(err error) bool {
	code := codeOf(err)
	return code == boterr.InvalidArgument || code == boterr.Unsupported
}
