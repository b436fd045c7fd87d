package mongo

import "github.com/botctx/go-sdk/boterr"

// meanings are the codes of a server's errors, with what they mean here. The names are those of
// MongoDB's list of error codes; what it has no name for is described. A code that is not here is
// Internal: only where it is known does the error say that a retry may succeed, or that the caller
// is at fault.
var meanings = map[int]boterr.Code{
	// What may go well another time.
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
	// What the server, or its version, lacks.
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
	// What whoever runs the server has to put right.
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
	// What the server has too little of.
	146:   boterr.ResourceExhausted, // ExceededMemoryLimit
	208:   boterr.ResourceExhausted, // TooManyLocks
	257:   boterr.ResourceExhausted, // TransactionTooLarge
	264:   boterr.ResourceExhausted, // TooManyFilesOpen
	292:   boterr.ResourceExhausted, // QueryExceededMemoryLimitNoDiskUseAllowed
	388:   boterr.ResourceExhausted, // TransactionTooLargeForCache
	14031: boterr.ResourceExhausted, // OutOfDiskSpace
	// What is wrong with a filter, an update, a document, an index.
	2:     boterr.InvalidArgument, // BadValue
	9:     boterr.InvalidArgument, // FailedToParse
	14:    boterr.InvalidArgument, // TypeMismatch
	15:    boterr.InvalidArgument, // Overflow
	16:    boterr.InvalidArgument, // InvalidLength
	21:    boterr.InvalidArgument, // EmptyArrayOperation
	22:    boterr.InvalidArgument, // InvalidBSON
	27:    boterr.InvalidArgument, // IndexNotFound, of a search for what is near
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
	291:   boterr.InvalidArgument, // NoQueryExecutionPlans, of a $near that no index serves
	357:   boterr.InvalidArgument, // InvalidBSONType
	378:   boterr.InvalidArgument, // NonConformantBSON
	10334: boterr.InvalidArgument, // BSONObjectTooLarge
	13026: boterr.InvalidArgument, // a place of a 2d index that is no pair
	13027: boterr.InvalidArgument, // a place beyond the bounds of a 2d index
	13068: boterr.InvalidArgument, // a place of a 2d index with one coordinate
	13654: boterr.InvalidArgument, // a place of a 2d index in a form that it does not take
	16755: boterr.InvalidArgument, // a place that a 2dsphere index does not take
	16804: boterr.InvalidArgument, // as 13654
	17280: boterr.InvalidArgument, // KeyTooLong
	17419: boterr.InvalidArgument, // a document that an update makes too large
	17420: boterr.InvalidArgument, // as 17419
	51091: boterr.InvalidArgument, // an invalid pattern
	51108: boterr.InvalidArgument, // invalid options of a pattern
}

// indexNotFound is what a server says of an index of a kind that it does not have, when it is
// asked to make one.
const indexNotFound = 27

// lowestAssertion is above all codes of MongoDB's list but a few that are older than the list. A
// higher code, without a name, is the number of a place in the server's source at which something
// is refused.
const lowestAssertion = 10_000

// transientLabels are the labels with which a server or the driver marks an error after which a
// retry may succeed.
var transientLabels = []string{
	"RetryableWriteError", "RetryableError", "SystemOverloadedError", "TransientTransactionError", "NetworkError",
	"NetworkTimeoutError", "ExceededTimeLimitError",
}
