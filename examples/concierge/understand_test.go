package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnderstand(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]said{
		"book number 2 for four people at 7:30 pm": {number: 2, people: 4, time: "19:30"},
		"Book 12 for 10":                   {number: 12, people: 10},
		"for 7 pm":                         {time: "19:00"},
		"12am":                             {time: "00:00"},
		"12 pm, two of us":                 {time: "12:00", people: 2},
		"at 25:00":                         {},
		"at 9:05":                          {time: "09:05"},
		"3":                                {number: 3, only: true},
		" seven. ":                         {number: 7, only: true},
		"book that one":                    {},
		"museums within 1.5 km":            {within: 1500},
		"within 300 metres":                {within: 300},
		"I am at 52.2, -0.12":              {latitude: 52.2, longitude: -0.12, located: true},
		"hello, my name is Ada Byron, hi!": {name: "Ada Byron"},
		"":                                 {},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got := understand(text)
			want.words = wordsOf(text)
			require.Equal(t, want, got)
		})
	}
}

func TestUnderstand_ValuesAndNames(t *testing.T) {
	t.Parallel()
	text := understand("Cheap museums, at King's Parade or a place near copper kettle")
	require.True(t, text.hasValue("museum"))
	require.True(t, text.hasValue("cheap"))
	require.True(t, text.hasName("kings parade"))
	require.True(t, text.hasName("The Copper Kettle"))
	require.False(t, text.hasName("The Place"), "one word without its article is no name")
	require.False(t, text.hasValue("muse"))
	require.False(t, text.hasValue(""))
	require.False(t, text.hasName("?"))
}
