package language_test

import (
	"slices"
	"strings"
)

// feature is a language feature that scripts use.
type feature struct {
	name          string
	folders, tags []string
}

func (f feature) has(c case262) bool {
	return slices.ContainsFunc(f.folders, func(folder string) bool { return strings.HasPrefix(c.path, folder+"/") }) ||
		slices.ContainsFunc(f.tags, func(tag string) bool { return slices.Contains(c.features, tag) })
}

// isInUse reports whether a file of the suite may test a feature in use: a file below language, with some
// exceptions, or in a folder of a feature. The tests of features with tags are in these folders, too.
func isInUse(path string) bool {
	for _, folder := range []string{"language/global-code/", "language/eval-code/", "language/module-code/", "language/import/", "language/export/"} {
		if strings.HasPrefix(path, folder) {
			return false
		}
	}
	if strings.HasPrefix(path, "language/") {
		return true
	}
	return slices.ContainsFunc(features, func(f feature) bool {
		return slices.ContainsFunc(f.folders, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
	})
}

// features are the language features of the years 2015 to 2026 that scripts use.
var features = []feature{ //nolint:gochecknoglobals // It does not change.
	{name: "`var`, `let`, `const`", folders: []string{"language/statements/variable", "language/statements/let", "language/statements/const"}},
	{name: "functions and closures", folders: []string{
		"language/expressions/function", "language/statements/function", "language/arguments-object", "language/function-code",
	}},
	{name: "arrow functions", folders: []string{"language/expressions/arrow-function"}},
	{name: "default and rest parameters", tags: []string{"default-parameters", "rest-parameters"}, folders: []string{"language/rest-parameters"}},
	{name: "template literals", folders: []string{"language/expressions/template-literal", "language/expressions/tagged-template"}},
	{name: "destructuring", tags: []string{"destructuring-binding", "destructuring-assignment"}, folders: []string{"language/destructuring"}},
	{name: "spread and rest of objects", tags: []string{"object-spread", "object-rest"}},
	{name: "object literals, accessors, computed keys", folders: []string{"language/expressions/object", "language/computed-property-names"}},
	{name: "`for` and `for … of`", folders: []string{"language/statements/for", "language/statements/for-of", "language/statements/for-in"}},
	{name: "`try`, `throw`, `switch`, `while`, labels", folders: []string{
		"language/statements/try", "language/statements/throw", "language/statements/switch", "language/statements/while",
		"language/statements/do-while", "language/statements/labeled", "language/statements/continue", "language/statements/break",
	}},
	{name: "`async` and `await`", folders: []string{
		"language/expressions/await", "language/expressions/async-function", "language/expressions/async-arrow-function",
		"language/statements/async-function",
	}},
	{name: "`for await`, async generators", folders: []string{
		"language/statements/for-await-of", "language/expressions/async-generator", "language/statements/async-generator",
	}},
	{name: "generators", folders: []string{"language/expressions/generators", "language/statements/generators", "language/expressions/yield"}},
	{name: "classes", folders: []string{"language/statements/class", "language/expressions/class"}},
	{name: "public fields of classes", tags: []string{"class-fields-public", "class-static-fields-public"}},
	{name: "private members of classes", tags: []string{
		"class-fields-private", "class-methods-private", "class-static-fields-private", "class-static-methods-private", "class-fields-private-in",
	}},
	{name: "static blocks of classes", tags: []string{"class-static-block"}},
	{name: "optional chaining `?.`", tags: []string{"optional-chaining"}},
	{name: "`??`", tags: []string{"coalesce-expression"}},
	{name: "`??=`, `||=`, `&&=`", tags: []string{"logical-assignment-operators"}},
	{name: "`**`", folders: []string{"language/expressions/exponentiation"}},
	{name: "`catch` without a name", tags: []string{"optional-catch-binding"}},
	{name: "numbers as `1_000`", tags: []string{"numeric-separator-literal"}},
	{name: "BigInt", folders: []string{"built-ins/BigInt"}, tags: []string{"BigInt"}},
	{name: "regular expressions", folders: []string{"built-ins/RegExp", "language/literals/regexp"}},
	{name: "their named groups", tags: []string{"regexp-named-groups"}},
	{name: "their look-behind", tags: []string{"regexp-lookbehind"}},
	{name: "their flag `s`", tags: []string{"regexp-dotall"}},
	{name: "their flag `d`", tags: []string{"regexp-match-indices"}},
	{name: "their `\\p{…}`", tags: []string{"regexp-unicode-property-escapes"}},
	{name: "their flag `v`", tags: []string{"regexp-v-flag"}},
	{name: "Array", folders: []string{"built-ins/Array"}},
	{name: "`toSorted`, `with` and their kind", tags: []string{"change-array-by-copy"}},
	{name: "`findLast`, `findLastIndex`", tags: []string{"array-find-from-last"}},
	{name: "`groupBy`", tags: []string{"array-grouping"}, folders: []string{"built-ins/Object/groupBy", "built-ins/Map/groupBy"}},
	{name: "`Array.fromAsync`", tags: []string{"Array.fromAsync"}},
	{name: "Object", folders: []string{"built-ins/Object"}},
	{name: "String", folders: []string{"built-ins/String"}},
	{name: "Number", folders: []string{"built-ins/Number"}},
	{name: "Math", folders: []string{"built-ins/Math"}},
	{name: "Date", folders: []string{"built-ins/Date"}},
	{name: "JSON", folders: []string{"built-ins/JSON"}},
	{name: "Map, Set, WeakMap, WeakSet", folders: []string{"built-ins/Map", "built-ins/Set", "built-ins/WeakMap", "built-ins/WeakSet"}},
	{name: "`union` and other methods of sets", tags: []string{"set-methods"}},
	{name: "Symbol", folders: []string{"built-ins/Symbol"}},
	{name: "Promise", folders: []string{"built-ins/Promise"}},
	{name: "`Promise.withResolvers`, `Promise.try`", tags: []string{"promise-with-resolvers", "promise-try"}},
	{name: "helpers of iterators", folders: []string{"built-ins/Iterator"}},
	{name: "Proxy and Reflect", folders: []string{"built-ins/Proxy", "built-ins/Reflect"}},
	{name: "Error and its `cause`", folders: []string{"built-ins/Error", "built-ins/NativeErrors", "built-ins/AggregateError"}},
}
