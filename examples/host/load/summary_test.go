package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// summaryOf compares three accepted messages of a member with answers.
func summaryOf(heard ...answer) summary {
	s := siege{options: options{kills: 1}, chat: &chat{heard: map[string][]answer{"ada": heard}}, accepted: map[string]int{"ada": 3}}
	return s.compare()
}

func TestSummary_SeesWhatMustNotBe(t *testing.T) {
	t.Parallel()
	require.NoError(t, summaryOf(answer{0, "a"}, answer{1, "b"}, answer{2, "c"}).check())
	require.NoError(t, summaryOf(answer{0, "a"}, answer{1, "b"}, answer{1, "b"}, answer{2, "c"}).check(), "amid a kill")
	for problem, heard := range map[string][]answer{
		"not answered":                {{0, "a"}, {2, "c"}},
		"twice under different ids":   {{0, "a"}, {1, "b"}, {1, "d"}, {2, "c"}},
		"out of their order":          {{0, "a"}, {2, "c"}, {1, "b"}},
		"than runs that a kill can":   append(many(answer{0, "a"}, workersOfAHost+2), answer{1, "b"}, answer{2, "c"}),
		"members were answered out o": {{1, "b"}, {0, "a"}, {2, "c"}},
	} {
		require.ErrorContains(t, summaryOf(heard...).check(), problem)
	}
	require.ErrorContains(t, (&siege{chat: &chat{}}).compare().check(), "nothing was accepted")
}

// many repeats an answer.
func many(one answer, times int) []answer {
	all := make([]answer, times)
	for i := range all {
		all[i] = one
	}
	return all
}

func TestWish_NumberComesBack(t *testing.T) {
	t.Parallel()
	for number := 0; number < mostWishes; number += 997 {
		got, err := numberOf("I hold " + wishFor(number) + ". Shall I book it, yes or no?")
		require.NoError(t, err)
		require.Equal(t, number, got)
	}
	_, err := numberOf("Another time, then.")
	require.Error(t, err)
}
