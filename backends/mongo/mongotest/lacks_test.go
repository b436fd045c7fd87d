package mongotest_test

import (
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/store/storetest"
)

// lacks are what the stand-in has not, so that the store answers Unsupported.
var lacks = []storetest.Capability{
	storetest.GeoIndexes,
	storetest.GeoFilters,
	storetest.Expressions,
	storetest.NestedArrays,
	storetest.Infinity,
}

// defects are rules that the stand-in breaks without saying so, and why. A test holds
// that it does: what a newer one keeps is removed from here.
var defects = map[string]string{
	"DocumentsThatAreTooDeepAreRefused": "it takes an update that makes a document deeper than the server does",
	"ArraysFindPatterns":                "it compares the patterns of $all as values",
	"OddStringsAreKept":                 "it refuses some names of fields as malformed JSON",
	"SortTakesOneElementForTwoPaths":    "its sort takes each path of an array by itself",
	"SortRefusesArraysSideBySide":       "its sort takes arrays side by side",
	"UniqueIndexCountsMissingAsNull":    "its unique index lets many documents have no key",
	"SparseIndexLeavesOutWhatIsMissing": "its unique index over several keys ends where one is missing",
	"UniqueIndexCountsElements":         "its unique index takes an array as one key",
	"UniqueIndexOfSeveralKeys":          "its unique index over several keys ends where one is missing",
}

// operationLacks are what the operations on the stand-in have not, so that they answer
// Unsupported: it knows no $elemMatch over fields.
var operationLacks = []botctxtest.Capability{botctxtest.OutletLookups}

// operationDefects are the same for the rules of the operations.
var operationDefects = map[string]string{
	"ADueAgendaRunsItsNode":                "it refuses names of fields that begin with $",
	"NewAgendaKeepsMetaToTheLetter":        "it refuses names of fields that begin with $",
	"CreateAssignmentMetaIsEmptyByDefault": "it refuses names of fields that begin with $",
}
