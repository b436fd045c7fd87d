package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScripts_AnswerAlike holds both engines to the same answers: a benchmark of scripts that do not do the same
// compares nothing.
func TestScripts_AnswerAlike(t *testing.T) {
	t.Parallel()
	stage, err := newScriptStage()
	require.NoError(t, err)
	for _, row := range scriptRows {
		t.Run(row.title, func(t *testing.T) {
			t.Parallel()
			if row.needsPackages && !stage.hasPackages {
				t.Skip("moment and lodash are not there: run npm ci --ignore-scripts in script/testdata/npm")
			}
			answers, err := stage.answers(t.Context(), row.source)
			require.NoError(t, err)
			require.Equal(t, answers[1], answers[0])
		})
	}
}
