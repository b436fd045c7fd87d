package storetest

import (
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

var collectionRules = []Rule{
	{
		Name:  "CollectionsAreApart",
		Text:  "what is written to one collection is in no other, however alike their names are",
		check: collectionsAreApart,
	},
	{
		Name:  "NewCollectionReadsAsEmpty",
		Text:  "a collection that does not exist reads as empty, and exists as soon as it is written to",
		check: newCollectionReadsAsEmpty,
	},
	{
		Name:  "BadCollectionNamesAreRefused",
		Text:  `names are up to 200 bytes of UTF-8 without NUL and do not begin with "system."; others are InvalidArgument`,
		check: badCollectionNamesAreRefused,
	},
	{
		Name:  "LongCollectionNamesAreTaken",
		Text:  "names are up to 200 bytes of UTF-8",
		check: longCollectionNamesAreTaken,
	},
	{
		Name:  "NowIsTheStoresClock",
		Text:  "Now returns the store's clock, which does not go back",
		check: nowIsTheStoresClock,
	},
}

func collectionsAreApart(t *trial) {
	names := []string{
		"storetest.a", "storetest.A", "storetest.a ", "storetest a", "storetest_a", "storetest.ä",
		"storetest.a.b", "storetest.😀", "storetest%2Ea", "storetest/a", "storetest.$a",
	}
	for i, name := range names {
		c := t.with(t.store.Collection(name))
		c.requireHolds()
		c.insert(document.O("_id", 1, "number", i))
	}
	for i, name := range names {
		t.with(t.store.Collection(name)).requireHolds(document.O("_id", 1, "number", i))
	}
	t.requireHolds()
}

func newCollectionReadsAsEmpty(t *trial) {
	t.requireHolds()
	count, err := t.Count(t.ctx(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
	removed, err := t.Delete(t.ctx(), nil, store.DeleteOptions{Multi: true})
	require.NoError(t, err)
	require.Zero(t, removed)

	t.with(t.store.Collection("storetest")).insert(document.O("_id", 1))
	t.requireHolds(document.O("_id", 1))
}

func badCollectionNamesAreRefused(t *trial) {
	for _, name := range []string{"", "system.users", "nul\x00", "\xff\xfe", strings.Repeat("n", 201)} {
		for operation, err := range t.with(t.store.Collection(name)).answers(t.ctx()) {
			t.requireCode(boterr.InvalidArgument, err, "%s in %q", operation, name)
		}
	}
}

func longCollectionNamesAreTaken(t *trial) {
	c := t.with(t.store.Collection("storetest" + strings.Repeat("é", 94)))
	c.insert(document.O("_id", 1))
	c.requireHolds(document.O("_id", 1))
}

func nowIsTheStoresClock(t *trial) {
	var last time.Time
	for range 3 {
		now, err := t.store.Now(t.ctx())
		require.NoError(t, err)
		require.False(t, now.IsZero())
		require.False(t, now.Before(last), "%v after %v", now, last)
		last = now
	}
}
