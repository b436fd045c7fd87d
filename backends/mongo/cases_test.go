package mongo_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/storetest"
)

// casesVariable is the folder with the files of cases. They lie beside the project and
// are no part of it.
const casesVariable = "BOTCTX_CASES"

func casesOf(t *testing.T, name string) []storetest.Case {
	t.Helper()
	folder := os.Getenv(casesVariable)
	if folder == "" {
		folder = "../../../shared/cases"
	}
	file, err := os.Open(folder + "/" + name)
	if os.IsNotExist(err) {
		t.Skipf("the file of cases %s is not here; %s names its folder", name, casesVariable)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	cases, err := storetest.ReadCases(file)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mongo_cases.jsonl", "server_cases.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCases(t, name)
		})
	}
}

// caseWorkers is the number of cases that run at once.
const caseWorkers = 8

// runCases runs a file of cases, each in a collection of its own.
func runCases(t *testing.T, name string) {
	t.Helper()
	cases, store := casesOf(t, name), newStore(t)
	failures := make([]error, len(cases))
	waiting := make(chan int)
	var group sync.WaitGroup
	for range caseWorkers {
		group.Go(func() {
			for i := range waiting {
				outcome, err := cases[i].Run(t.Context(), store.Collection("case "+cases[i].ID))
				failures[i] = cases[i].Check(outcome, err)
			}
		})
	}
	for i := range cases {
		waiting <- i
	}
	close(waiting)
	group.Wait()
	judge(t, cases, failures)
}

// judge compares the cases that do not hold with those that are left out.
func judge(t *testing.T, cases []storetest.Case, failures []error) {
	t.Helper()
	out := leftOut(t)
	differing := 0
	for i, err := range failures {
		_, isOut := out[cases[i].ID]
		switch {
		case err == nil && isOut:
			t.Errorf("%s holds, and need not be left out", cases[i].ID)
		case err == nil:
		case isOut:
			differing++
		default:
			t.Errorf("%s: %v\n%s", cases[i].ID, err, cases[i].String())
		}
	}
	t.Logf("%d cases: %d are left out by name", len(cases), differing)
}

// leftOut returns the cases that do not hold: those of a language that package document
// does not have.
func leftOut(t *testing.T) map[string]struct{} {
	t.Helper()
	text, err := os.ReadFile("testdata/cases_of_no_store.txt")
	require.NoError(t, err)
	out := map[string]struct{}{}
	for line := range strings.Lines(string(text)) {
		id, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if id != "" && id != "#" {
			out[id] = struct{}{}
		}
	}
	return out
}
