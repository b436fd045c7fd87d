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

// codesOf has the server's error codes by their meaning for the caller. Any other code is Internal, because only
// known codes justify advice to try again, or blaming the caller. MongoDB's error_codes.yml names the codes. Codes
// above lowestAssertion that it does not name are about an unknown stage of a pipeline (40324), a place that a 2d or
// 2dsphere index refuses (13026 to 16804), a document that is too large after the update (17419, 17420), and a
// pattern (51091, 51108).
var codesOf = map[boterr.Code][]int{
	// A retry may succeed.
	boterr.Unavailable: {
		6, 7, 24, 43, 46, 50, 64, 89, 90, 91, 94, 107, 109, 112, 117, 133, 134, 136, 143, 145, 149, 150, 175, 189, 202, 215, 216,
		237, 239, 246, 249, 250, 251, 261, 262, 267, 272, 276, 279, 281, 282, 285, 290, 303, 314, 317, 319, 338, 342, 343, 355,
		363, 365, 384, 402, 406, 407, 412, 433, 449, 450, 453, 462, 9001, 10058, 10107, 11600, 11601, 11602, 12586, 12587,
		13388, 13435, 13436, 46841, 50915, 56846, 91331, 10045600,
	},
	// The server, or its version, lacks the feature.
	boterr.Unsupported: {59, 115, 168, 224, 235, 238, 263, 322, 323, 324, 352, 40324, 40415},
	// The operator of the server must act.
	boterr.FailedPrecondition: {
		11, 13, 18, 20, 26, 61, 79, 85, 86, 100, 101, 116, 148, 166, 167, 371, 391, 10003, 13297,
	},
	// A limit of the server is reached.
	boterr.ResourceExhausted: {146, 208, 257, 264, 292, 388, 14031},
	// The filter, the update, the document or the index is invalid.
	boterr.InvalidArgument: {
		2, 9, 14, 15, 16, 21, 22, 27, 28, 29, 30, 34, 40, 52, 53, 54, 55, 56, 57, 66, 67, 72, 73, 111, 121, 159, 171, 197, 201, 241,
		291, 357, 378, 10334, 13026, 13027, 13068, 13654, 16755, 16804, 17280, 17419, 17420, 51091, 51108,
	},
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
	for _, means := range []boterr.Code{
		boterr.Unavailable, boterr.InvalidArgument, boterr.FailedPrecondition, boterr.Unsupported, boterr.ResourceExhausted,
	} {
		if slices.ContainsFunc(codes, func(code int) bool { return slices.Contains(codesOf[means], code) }) {
			return means
		}
	}
	return boterr.Internal
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
	first := options.FindOne().SetProjection(bson.D{{Key: document.IDField, Value: 1}})
	err := c.newest().stored.FindOne(ctx, where, first).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return false, nil
	}
	return err == nil, failure(ctx, filter, err)
}
