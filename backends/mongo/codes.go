package mongo

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store/query"
)

// meanings maps error codes of the server to codes of package boterr. The names are from MongoDB's list of
// error codes; codes without a name have a description. Any other code is Internal, because only known codes
// justify advice to try again, or blaming the caller.
var meanings = map[int]boterr.Code{
	// A retry may succeed.
	6:        boterr.Unavailable, // HostUnreachable
	7:        boterr.Unavailable, // HostNotFound
	24:       boterr.Unavailable, // LockTimeout
	43:       boterr.Unavailable, // CursorNotFound
	46:       boterr.Unavailable, // LockBusy
	50:       boterr.Unavailable, // MaxTimeMSExpired
	64:       boterr.Unavailable, // WriteConcernTimeout
	89:       boterr.Unavailable, // NetworkTimeout
	90:       boterr.Unavailable, // CallbackCanceled
	91:       boterr.Unavailable, // ShutdownInProgress
	94:       boterr.Unavailable, // NotYetInitialized
	107:      boterr.Unavailable, // LockFailed
	109:      boterr.Unavailable, // ConfigurationInProgress
	112:      boterr.Unavailable, // WriteConflict
	117:      boterr.Unavailable, // ConflictingOperationInProgress
	133:      boterr.Unavailable, // FailedToSatisfyReadPreference
	134:      boterr.Unavailable, // ReadConcernMajorityNotAvailableYet
	136:      boterr.Unavailable, // CappedPositionLost
	143:      boterr.Unavailable, // CursorInUse
	145:      boterr.Unavailable, // PooledConnectionsDropped
	149:      boterr.Unavailable, // NoConfigPrimary
	150:      boterr.Unavailable, // StaleEpoch
	175:      boterr.Unavailable, // QueryPlanKilled
	189:      boterr.Unavailable, // PrimarySteppedDown
	202:      boterr.Unavailable, // NetworkInterfaceExceededTimeLimit
	215:      boterr.Unavailable, // DatabaseDropPending
	216:      boterr.Unavailable, // ElectionInProgress
	237:      boterr.Unavailable, // CursorKilled
	239:      boterr.Unavailable, // SnapshotTooOld
	246:      boterr.Unavailable, // SnapshotUnavailable
	249:      boterr.Unavailable, // StaleDbVersion
	250:      boterr.Unavailable, // StaleChunkHistory
	251:      boterr.Unavailable, // NoSuchTransaction
	261:      boterr.Unavailable, // TooManyLogicalSessions
	262:      boterr.Unavailable, // ExceededTimeLimit
	267:      boterr.Unavailable, // PreparedTransactionInProgress
	272:      boterr.Unavailable, // MigrationConflict
	276:      boterr.Unavailable, // IndexBuildAborted
	279:      boterr.Unavailable, // ClientDisconnect
	281:      boterr.Unavailable, // TransactionCoordinatorSteppingDown
	282:      boterr.Unavailable, // TransactionCoordinatorReachedAbortDecision
	285:      boterr.Unavailable, // IndexBuildAlreadyInProgress
	290:      boterr.Unavailable, // TransactionExceededLifetimeLimitSeconds
	303:      boterr.Unavailable, // SplitHorizonChange
	314:      boterr.Unavailable, // ObjectIsBusy
	317:      boterr.Unavailable, // ConnectionPoolExpired
	319:      boterr.Unavailable, // MovePrimaryInProgress
	338:      boterr.Unavailable, // ReshardCollectionInProgress
	342:      boterr.Unavailable, // ReshardingCriticalSectionTimeout
	343:      boterr.Unavailable, // ShardCannotRefreshDueToLocksHeld
	355:      boterr.Unavailable, // InterruptedDueToStorageChange
	363:      boterr.Unavailable, // RetryableTransactionInProgress
	365:      boterr.Unavailable, // TemporarilyUnavailable
	384:      boterr.Unavailable, // ConnectionError
	402:      boterr.Unavailable, // ResourceExhausted
	406:      boterr.Unavailable, // MigrationBlockingOperationCoordinatorCleaningUp
	407:      boterr.Unavailable, // PooledConnectionAcquisitionExceededTimeLimit
	412:      boterr.Unavailable, // UpdatesStillPending
	433:      boterr.Unavailable, // AdmissionQueueOverflow
	449:      boterr.Unavailable, // RateLimitExceeded
	450:      boterr.Unavailable, // PooledConnectionAcquisitionRejected
	453:      boterr.Unavailable, // InterruptedDueToReshardingCriticalSection
	462:      boterr.Unavailable, // IngressRequestRateLimitExceeded
	9001:     boterr.Unavailable, // SocketException
	10058:    boterr.Unavailable, // LegacyNotPrimary
	10107:    boterr.Unavailable, // NotWritablePrimary
	11600:    boterr.Unavailable, // InterruptedAtShutdown
	11601:    boterr.Unavailable, // Interrupted
	11602:    boterr.Unavailable, // InterruptedDueToReplStateChange
	12586:    boterr.Unavailable, // BackgroundOperationInProgressForDatabase
	12587:    boterr.Unavailable, // BackgroundOperationInProgressForNamespace
	13388:    boterr.Unavailable, // StaleConfig
	13435:    boterr.Unavailable, // NotPrimaryNoSecondaryOk
	13436:    boterr.Unavailable, // NotPrimaryOrSecondary
	46841:    boterr.Unavailable, // ClientMarkedKilled
	50915:    boterr.Unavailable, // BackupCursorOpenConflictWithCheckpoint
	56846:    boterr.Unavailable, // ConfigServerUnreachable
	91331:    boterr.Unavailable, // RetriableRemoteCommandFailure
	10045600: boterr.Unavailable, // InterruptedDueToFCVChange
	// The server, or its version, lacks the feature.
	59:    boterr.Unsupported, // CommandNotFound
	115:   boterr.Unsupported, // CommandNotSupported
	168:   boterr.Unsupported, // InvalidPipelineOperator
	224:   boterr.Unsupported, // QueryFeatureNotAllowed
	235:   boterr.Unsupported, // InternalErrorNotSupported
	238:   boterr.Unsupported, // NotImplemented
	263:   boterr.Unsupported, // OperationNotSupportedInTransaction
	322:   boterr.Unsupported, // APIVersionError
	323:   boterr.Unsupported, // APIStrictError
	324:   boterr.Unsupported, // APIDeprecationError
	352:   boterr.Unsupported, // UnsupportedOpQueryCommand
	40324: boterr.Unsupported, // an unknown stage of a pipeline
	40415: boterr.Unsupported, // IDLUnknownField
	// The operator of the server must act.
	11:    boterr.FailedPrecondition, // UserNotFound
	13:    boterr.FailedPrecondition, // Unauthorized
	18:    boterr.FailedPrecondition, // AuthenticationFailed
	20:    boterr.FailedPrecondition, // IllegalOperation
	26:    boterr.FailedPrecondition, // NamespaceNotFound
	61:    boterr.FailedPrecondition, // ShardKeyNotFound
	79:    boterr.FailedPrecondition, // UnknownReplWriteConcern
	85:    boterr.FailedPrecondition, // IndexOptionsConflict
	86:    boterr.FailedPrecondition, // IndexKeySpecsConflict
	100:   boterr.FailedPrecondition, // UnsatisfiableWriteConcern
	101:   boterr.FailedPrecondition, // OutdatedClient
	116:   boterr.FailedPrecondition, // DocTooLargeForCapped
	148:   boterr.FailedPrecondition, // ReadConcernMajorityNotEnabled
	166:   boterr.FailedPrecondition, // CommandNotSupportedOnView
	167:   boterr.FailedPrecondition, // OptionNotSupportedOnView
	371:   boterr.FailedPrecondition, // UserWritesBlocked
	391:   boterr.FailedPrecondition, // ReauthenticationRequired
	10003: boterr.FailedPrecondition, // CannotGrowDocumentInCappedNamespace
	13297: boterr.FailedPrecondition, // DatabaseDifferCase
	// A limit of the server is reached.
	146:   boterr.ResourceExhausted, // ExceededMemoryLimit
	208:   boterr.ResourceExhausted, // TooManyLocks
	257:   boterr.ResourceExhausted, // TransactionTooLarge
	264:   boterr.ResourceExhausted, // TooManyFilesOpen
	292:   boterr.ResourceExhausted, // QueryExceededMemoryLimitNoDiskUseAllowed
	388:   boterr.ResourceExhausted, // TransactionTooLargeForCache
	14031: boterr.ResourceExhausted, // OutOfDiskSpace
	// The filter, the update, the document or the index is invalid.
	2:     boterr.InvalidArgument, // BadValue
	9:     boterr.InvalidArgument, // FailedToParse
	14:    boterr.InvalidArgument, // TypeMismatch
	15:    boterr.InvalidArgument, // Overflow
	16:    boterr.InvalidArgument, // InvalidLength
	21:    boterr.InvalidArgument, // EmptyArrayOperation
	22:    boterr.InvalidArgument, // InvalidBSON
	27:    boterr.InvalidArgument, // IndexNotFound, in a search by distance
	28:    boterr.InvalidArgument, // PathNotViable
	29:    boterr.InvalidArgument, // NonExistentPath
	30:    boterr.InvalidArgument, // InvalidPath
	34:    boterr.InvalidArgument, // CannotBackfillArray
	40:    boterr.InvalidArgument, // ConflictingUpdateOperators
	52:    boterr.InvalidArgument, // DollarPrefixedFieldName
	53:    boterr.InvalidArgument, // InvalidIdField
	54:    boterr.InvalidArgument, // NotSingleValueField
	55:    boterr.InvalidArgument, // InvalidDBRef
	56:    boterr.InvalidArgument, // EmptyFieldName
	57:    boterr.InvalidArgument, // DottedFieldName
	66:    boterr.InvalidArgument, // ImmutableField
	67:    boterr.InvalidArgument, // CannotCreateIndex
	72:    boterr.InvalidArgument, // InvalidOptions
	73:    boterr.InvalidArgument, // InvalidNamespace
	111:   boterr.InvalidArgument, // NotExactValueField
	121:   boterr.InvalidArgument, // DocumentValidationFailure
	159:   boterr.InvalidArgument, // DurationOverflow
	171:   boterr.InvalidArgument, // CannotIndexParallelArrays
	197:   boterr.InvalidArgument, // InvalidIndexSpecificationOption
	201:   boterr.InvalidArgument, // CannotBuildIndexKeys
	241:   boterr.InvalidArgument, // ConversionFailure
	291:   boterr.InvalidArgument, // NoQueryExecutionPlans, for a $near without a suitable index
	357:   boterr.InvalidArgument, // InvalidBSONType
	378:   boterr.InvalidArgument, // NonConformantBSON
	10334: boterr.InvalidArgument, // BSONObjectTooLarge
	13026: boterr.InvalidArgument, // a point for a 2d index that is not a pair
	13027: boterr.InvalidArgument, // a point outside of a 2d index
	13068: boterr.InvalidArgument, // a point for a 2d index with one coordinate
	13654: boterr.InvalidArgument, // a point for a 2d index in an unsupported form
	16755: boterr.InvalidArgument, // a shape that a 2dsphere index refuses
	16804: boterr.InvalidArgument, // the same as 13654
	17280: boterr.InvalidArgument, // KeyTooLong
	17419: boterr.InvalidArgument, // the document is too large after the update
	17420: boterr.InvalidArgument, // the same as 17419
	51091: boterr.InvalidArgument, // an invalid regular expression
	51108: boterr.InvalidArgument, // invalid options of a regular expression
}

// indexNotFound is the server's code if an unsupported kind of index is created.
const indexNotFound = 27

// lowestAssertion is above the codes in MongoDB's list, except for a few old ones. Higher codes have no names.
// Each belongs to one check in the server's source.
const lowestAssertion = 10_000

// transientLabels are the labels of errors after which a retry may succeed. The server or the driver adds them.
var transientLabels = []string{
	"RetryableWriteError", "RetryableError", "SystemOverloadedError", "TransientTransactionError", "NetworkError",
	"NetworkTimeoutError", "ExceededTimeLimitError",
}

// failure converts an error of the driver to an error of a Store. filter is the command's filter, or nil. If ctx ended
// during the request, the result is Canceled, and the server may or may not have written.
func failure(ctx context.Context, filter *query.Filter, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil, hasDeadline(ctx) && mongo.IsTimeout(err):
		return boterr.New(boterr.Canceled, "", "the context ended before the server answered: %w",
			cmp.Or(context.Cause(ctx), err))
	case errors.As(err, new(*boterr.Error)):
		return err
	default:
		return boterr.New(codeOf(filter, err), "", "MongoDB: %w", err)
	}
}

// hasDeadline reports whether ctx has a deadline. Under a deadline, the driver does not start operations that
// it expects to take longer.
func hasDeadline(ctx context.Context) bool {
	_, ok := ctx.Deadline()
	return ok
}

// codeOf returns the code for an error of the driver. filter is the command's filter, or nil.
func codeOf(filter *query.Filter, err error) boterr.Code {
	var server mongo.ServerError
	switch {
	case isDuplicate(err):
		return boterr.AlreadyExists
	case errors.As(err, new(mongo.MarshalError)):
		return boterr.InvalidArgument
	case isUnconfirmed(err), isTransient(err), !errors.As(err, &server):
		return boterr.Unavailable // This includes a server that cannot be found or was lost, and a closed driver.
	}
	return codeOfAnswer(filter, server)
}

// codeOfAnswer returns the code for a command that the server refused. filter is the command's filter, or nil.
func codeOfAnswer(filter *query.Filter, refusal mongo.ServerError) boterr.Code {
	means := meaning(refusal.ErrorCodes())
	switch {
	case means != boterr.Internal && means != boterr.InvalidArgument:
		return means
	case isUnsupportedByServer(refusal.Error()):
		return boterr.Unsupported
	case means == boterr.Internal && isOfExpression(filter, refusal.ErrorCodes()):
		return boterr.InvalidArgument
	default:
		return means
	}
}

// meaning returns the code for the server's error codes. Unavailable comes first, because a retry may succeed.
func meaning(codes []int) boterr.Code {
	means := boterr.Internal
	for _, code := range codes {
		known, ok := meanings[code]
		switch {
		case known == boterr.Unavailable:
			return boterr.Unavailable
		case ok && means == boterr.Internal:
			means = known
		}
	}
	return means
}

// isOfExpression reports whether an expression of the filter failed on a document. The server has hundreds of
// unnamed codes for this, and they differ between versions. Because package query has compiled the expression,
// the cause must be a value in the document.
func isOfExpression(filter *query.Filter, codes []int) bool {
	return mayFail(filter) &&
		slices.ContainsFunc(codes, func(code int) bool { return code > lowestAssertion })
}

// isUnconfirmed reports whether a write succeeded but too few servers confirmed it. Such a write must not be
// repeated.
func isUnconfirmed(err error) bool {
	if one, ok := errors.AsType[mongo.WriteException](err); ok {
		return one.WriteConcernError != nil && len(one.WriteErrors) == 0
	}
	var many mongo.BulkWriteException
	return errors.As(err, &many) && many.WriteConcernError != nil && len(many.WriteErrors) == 0
}

// isDuplicate reports whether a document violates a unique index. For updates, FerretDB 1 returns the error of
// its underlying database.
func isDuplicate(err error) bool {
	return mongo.IsDuplicateKeyError(err) || strings.Contains(err.Error(), "UNIQUE constraint failed")
}

// isTransient reports whether the server or the driver expects that a retry may succeed.
func isTransient(err error) bool {
	var labeled mongo.LabeledError
	return mongo.IsTimeout(err) || errors.As(err, &labeled) && slices.ContainsFunc(transientLabels, labeled.HasErrorLabel)
}

// isUnsupportedByServer reports whether the server does not know an operator or an option, according to the
// error's text. Because package query has compiled the request, the operator exists, but this server lacks it.
func isUnsupportedByServer(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{
		"unknown operator", "unknown top level operator", "unknown modifier", "unknown expression", "not implemented",
		"not supported", "unrecognized expression", "unrecognized pipeline stage", "unknown field", "values are not allowed",
	}, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// isRefused reports whether the server refused to change a document. Package query can then find the reason in
// the document.
func isRefused(filter *query.Filter, err error) bool {
	code := codeOf(filter, err)
	return code == boterr.InvalidArgument || code == boterr.Unsupported
}

// Limits of the waits of an operation that lost a race. Each wait is random, within a time that doubles with
// every loss, so the losers do not collide again.
const (
	minWait = time.Millisecond
	maxWait = 128 * time.Millisecond
)

// backOff waits before the next attempt. lost is the number of lost races, at least 1. If ctx ends first,
// backOff returns Canceled.
func backOff(ctx context.Context, lost int) error {
	within := maxWait
	if lost < 8 {
		within = minWait << lost
	}
	timer := time.NewTimer(rand.N(within)) //nolint:gosec // It only spreads the load.
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return engine.CheckEnded(ctx)
	}
}

// matches reports whether any document matches. It is needed after a sorted change that found nothing. MongoDB
// gives this answer also if another client has changed the first document so that it no longer matches,
// although a second one still does.
func (c *collection) matches(ctx context.Context, filter *query.Filter, where any) (bool, error) {
	first := options.Find().SetProjection(bson.D{{Key: document.IDField, Value: 1}}).SetLimit(-1)
	cursor, err := c.newest().stored.Find(ctx, where, first)
	if err != nil {
		return false, failure(ctx, filter, err)
	}
	found, err := c.readAll(ctx, filter, cursor)
	return len(found) > 0, err
}
