package mongo

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// expectedMeanings are codes of the server's list by what callers have to do about them.
var expectedMeanings = map[boterr.Code][]int{
	boterr.Unavailable: {
		6, 7, 24, 43, 46, 50, 64, 89, 90, 91, 94, 107, 109, 112, 117, 133, 134, 136, 143, 145, 149, 150, 175, 189, 202, 215, 216,
		237, 239, 246, 249, 250, 251, 261, 262, 267, 272, 276, 279, 281, 282, 285, 290, 303, 314, 317, 319, 338, 342, 343, 355,
		363, 365, 384, 402, 406, 407, 412, 433, 449, 450, 453, 462, 9001, 10058, 10107, 11600, 11601, 11602, 12586, 12587,
		13388, 13435, 13436, 46841, 50915, 56846, 91331, 10045600,
	},
	boterr.Unsupported: {59, 115, 168, 224, 235, 238, 263, 322, 323, 324, 352, 40324, 40415},
	boterr.FailedPrecondition: {
		11, 13, 18, 20, 26, 61, 79, 85, 86, 100, 101, 116, 148, 166, 167, 371, 391, 10003, 13297,
	},
	boterr.ResourceExhausted: {146, 208, 257, 264, 292, 388, 14031},
	boterr.InvalidArgument: {
		2, 9, 14, 15, 16, 21, 22, 27, 28, 29, 30, 34, 40, 52, 53, 54, 55, 56, 57, 66, 67, 72, 73, 111, 121, 159, 171, 197, 201, 241,
		291, 357, 378, 10334, 13026, 13027, 13068, 13654, 16755, 16804, 17280, 17419, 17420, 51091, 51108,
	},
	boterr.Internal:      {1, 8, 17, 25, 36, 45, 51, 63, 78, 127, 152, 245, 442, 463, 9751903, 16554},
	boterr.AlreadyExists: {11000, 11001, 12582},
}

func TestErrorCode_EachOfTheServer(t *testing.T) {
	t.Parallel()
	rows := 0
	for means, codes := range expectedMeanings {
		for _, code := range codes {
			if _, ok := meanings[code]; ok {
				rows++
			}
			for _, err := range []error{
				mongo.CommandError{Code: int32(code), Message: "no"},
				mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: code, Message: "no"}}},
				mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: code, Message: "no"}}}},
			} {
				require.Equal(t, means, boterr.CodeOf(failure(t.Context(), err)), "%d in a %T", code, err)
			}
		}
	}
	require.Len(t, meanings, rows, "a code has a meaning that is not expected here")
}

func TestErrorCode_TransientLabel(t *testing.T) {
	t.Parallel()
	for _, label := range []string{
		"RetryableWriteError", "RetryableError", "SystemOverloadedError", "TransientTransactionError", "NetworkError",
		"NetworkTimeoutError", "ExceededTimeLimitError",
	} {
		for _, err := range []error{
			mongo.CommandError{Code: 2, Message: "no", Labels: []string{"NoWritesPerformed", label}},
			mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 2}}, Labels: []string{label}},
			mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: mongo.WriteError{Code: 2}}}, Labels: []string{label}},
		} {
			require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), err)), "%s in a %T", label, err)
		}
	}
	other := mongo.CommandError{Code: 2, Message: "no", Labels: []string{"NoWritesPerformed"}}
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(failure(t.Context(), other)))
}

func TestErrorCode_Network(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		mongo.ErrClientDisconnected, io.ErrUnexpectedEOF, context.DeadlineExceeded, errors.New("server selection failed"),
		mongo.WriteException{WriteConcernError: &mongo.WriteConcernError{Code: 100}},
	} {
		require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), err)), "%v", err)
	}
}

func TestErrorCode_TransientBesideOthers(t *testing.T) {
	t.Parallel()
	err := mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{
		{WriteError: mongo.WriteError{Code: 14}}, {WriteError: mongo.WriteError{Code: 462}},
	}}
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(failure(t.Context(), err)))
}

func TestErrorCode_NamelessAssertion(t *testing.T) {
	t.Parallel()
	refused := mongo.CommandError{Code: 16554, Name: "Location16554", Message: "$add only supports numeric or date types"}
	expression, err := query.CompileFilter(document.O("$expr", document.O("$add", document.A("$a", 1))))
	require.NoError(t, err)
	plain, err := query.CompileFilter(document.O("a", 1))
	require.NoError(t, err)
	require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(filterFailure(t.Context(), expression, refused)))
	require.Equal(t, boterr.Internal, boterr.CodeOf(filterFailure(t.Context(), plain, refused)))
	passing := mongo.CommandError{Code: 91331, Message: "no"}
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(filterFailure(t.Context(), expression, passing)))
}
