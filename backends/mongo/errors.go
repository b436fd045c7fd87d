package mongo

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/query"
)

// failure turns an error of the driver into one of a Store. Where ctx ended while the
// server was asked, whether it wrote is not known.
func failure(ctx context.Context, err error) error { return filterFailure(ctx, nil, err) }

// filterFailure is failure for a command with a filter.
func filterFailure(ctx context.Context, filter *query.Filter, err error) error {
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

// hasDeadline reports whether ctx ends at a time that is known. The driver does not begin
// what it expects to take longer.
func hasDeadline(ctx context.Context) bool {
	_, ok := ctx.Deadline()
	return ok
}

// codeOf returns what an error of the driver means, of a command with a filter.
func codeOf(filter *query.Filter, err error) boterr.Code {
	var server mongo.ServerError
	switch {
	case isDuplicate(err):
		return boterr.AlreadyExists
	case errors.As(err, new(mongo.MarshalError)):
		return boterr.InvalidArgument
	case isUnconfirmed(err), isTransient(err), !errors.As(err, &server):
		return boterr.Unavailable // Among them: the driver found no server, lost it, or has been closed.
	}
	return codeOfAnswer(filter, server)
}

// codeOfAnswer returns what a server's refusal of a command with a filter means.
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

// meaning returns what the codes of an error mean. A transient one counts before all others, since
// a retry may succeed.
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

// isOfExpression reports whether codes say that an expression of a filter has failed on a
// document. The server has hundreds of numbers without a name for that, other ones in each
// version. Package document has compiled the expression, so that what fails is a value.
func isOfExpression(filter *query.Filter, codes []int) bool {
	return mayFail(filter) &&
		slices.ContainsFunc(codes, func(code int) bool { return code > lowestAssertion })
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

// isTransient reports whether the server or the driver says that a retry may succeed.
func isTransient(err error) bool {
	var labeled mongo.LabeledError
	return mongo.IsTimeout(err) || errors.As(err, &labeled) && slices.ContainsFunc(transientLabels, labeled.HasErrorLabel)
}

// isUnsupportedByServer reports whether the text of a server's error says that it does not know
// an operator or an option. Package document has compiled what was sent, so that it is
// the server that lacks it.
func isUnsupportedByServer(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{
		"unknown operator", "unknown top level operator", "unknown modifier", "unknown expression", "not implemented",
		"not supported", "unrecognized expression", "unrecognized pipeline stage", "unknown field", "values are not allowed",
	}, func(phrase string) bool { return strings.Contains(text, phrase) })
}

// isRefused reports whether an error says that the server refused a change to a document that a
// filter finds. Package query, asked about the document, can then tell why.
func isRefused(filter *query.Filter, err error) bool {
	code := codeOf(filter, err)
	return code == boterr.InvalidArgument || code == boterr.Unsupported
}
