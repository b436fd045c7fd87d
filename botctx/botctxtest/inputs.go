package botctxtest

import "github.com/botctx/go-sdk/document"

// named is a value that must be refused.
type named struct {
	name  string
	value document.Object
}

// badFilters are no filters.
var badFilters = []named{
	{"a filter with an unknown operator", document.O("n", document.O("$nearly", 1))},
	{"a filter with an unknown operator at the top", document.O("$nearly", document.A(document.O()))},
	{"a filter that runs code", document.O("$where", "true")},
	{"a filter with $in of no list", document.O("n", document.O("$in", 1))},
	{"a filter with $or of no list", document.O("$or", document.O("n", 1))},
	{"a filter of what is no value", document.O("n", make(chan int))},
}

// badSorts are no sorts.
var badSorts = []named{
	{"a sort by 2", document.O("n", 2)},
	{"a sort by 0", document.O("n", 0)},
	{"a sort by a word", document.O("n", "up")},
	{"a sort by true", document.O("n", true)},
	{"a sort by nothing", document.O("n", nil)},
}

// badModifiers are no patches of an entry {text: "x"} or a member, with modifiers.
var badModifiers = []named{
	{"an unknown modifier", document.O("$nearly", document.O("x", 1))},
	{"modifiers beside fields", document.O("$set", document.O("x", 1), "y", 1)},
	{"modifiers in conflict", document.O("$set", document.O("x", 1), "$inc", document.O("x", 1))},
	{"a path and a path in it", document.Set("x", document.O(), "x.y", 1)},
	{"a modifier of no fields", document.O("$set", 1)},
	{"a path with an empty part", document.Set("x..y", 1)},
	{"another _id by a modifier", document.Set("_id", "other")},
	{"another createdAt by a modifier", document.Set("createdAt", 1)},
	{"no createdAt by a modifier", document.Unset("createdAt")},
	{"a counted createdAt", document.Inc("createdAt", 1)},
	{"a renamed createdAt", document.O("$rename", document.O("createdAt", "x"))},
	{"a modifier of what is no value", document.Set("x", make(chan int))},
}

// badFields are no patches of fields to set.
var badFields = []named{
	{"another _id", document.O("_id", "other")},
	{"another createdAt", document.O("createdAt", 1)},
	{"fields in conflict", document.O("x", document.O(), "x.y", 1)},
	{"a field with a dollar", document.O("$x", 1)},
	{"a field of what is no value", document.O("x", make(chan int))},
}

// badReplacements are no replacements.
var badReplacements = []named{
	{"a replacement with another _id", document.O("_id", "other", "x", 1)},
	{"a replacement with another createdAt", document.O("createdAt", 1, "x", 1)},
}

// moves are modifiers that would move a member to another app or channel, or change
// what it is.
func moves(app, channel string) []named {
	return []named{
		{"another app", document.Set("app", app)},
		{"another channel", document.Set("channel", channel)},
		{"an app in the app", document.Set("app.id", app)},
		{"no app", document.Unset("app")},
		{"no channel", document.Unset("channel")},
		{"an app that is renamed", document.O("$rename", document.O("app", "was"))},
		{"another field as the app", document.O("$rename", document.O("firstName", "app"))},
		{"another field as createdAt", document.O("$rename", document.O("firstName", "createdAt"))},
		{"a list of apps", document.Push("app", app)},
		{"the smaller app", document.O("$min", document.O("app", ""))},
		{"the greater app", document.O("$max", document.O("app", "~"))},
		{"a time as the app", document.O("$currentDate", document.O("app", true))},
		{"a replacement in another app", document.O("firstName", "Eve", "app", app)},
		{"a replacement in another channel", document.O("firstName", "Eve", "channel", channel)},
	}
}

// scopeless are filters that ask for records of another app, or of all apps, in every
// way that the language has.
func scopeless(app string) []document.Object {
	return []document.Object{
		document.O(),
		document.O("app", app),
		document.O("app", document.O("$ne", "")),
		document.O("app", document.O("$in", document.A(app))),
		document.O("app", document.O("$exists", true)),
		document.O("app", document.O("$regex", ".*")),
		document.O("app", document.O("$not", document.O("$eq", ""))),
		document.O("$or", document.A(document.O("app", app), document.O("app", document.O("$ne", app)))),
		document.O("$nor", document.A(document.O("app", ""))),
		document.O("$and", document.A(document.O("$or", document.A(document.O(), document.O("app", app))))),
	}
}
